"""Likelihoods of candidate values under noisy bits: strings -> a likelihood for every candidate, unbiased bit counts.

It serves one-hot strings (the design is the identity) and Bloom filters in cohorts alike.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.inference.joint.likelihood import Single, row_maxima

Strings = npt.NDArray[np.uint8]  # one bit an entry, shape (reports, m)
Cohorts = npt.NDArray[np.integer]  # shape (reports,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BitEvidence:
    """One attribute's part of a report: m bits, each 1 with probability q* where the candidate sets it, else p*.

    Args:
        design: which bits every candidate sets, in every cohort, shape (cohorts, m, n).
        q_star: P(report 1 | true 1).
        p_star: P(report 1 | true 0), strictly between 0 and q*.
    """

    design: npt.NDArray[np.bool_]
    q_star: float
    p_star: float

    def __post_init__(self) -> None:
        if self.design.ndim != 3 or not 0 < self.p_star < self.q_star < 1:
            raise ValueError("bit evidence needs a design of shape (cohorts, bits, candidates) and 0 < p* < q* < 1")

    @property
    def size(self) -> int:
        """The number of candidates, n."""
        return int(self.design.shape[2])

    @property
    def bits(self) -> int:
        """The number of bits of a string, m."""
        return int(self.design.shape[1])

    @property
    def rows(self) -> npt.NDArray[np.bool_]:
        """The design of all cohorts, one below the other, shape (cohorts m, n)."""
        return self.design.reshape(-1, self.size)

    def likelihoods(self, strings: Strings, cohorts: Cohorts | None = None) -> Single:
        """Return for every report the likelihood of every candidate, up to a factor: the largest is 1.

        P(bits | v) = prod q*^bit (1 - q*)^(1 - bit) over the bits that v sets, with p* over the others; divided by that
        of no bits at all, only the bits that v sets are left, each a factor q* / p* where the bit is 1 and
        (1 - q*) / (1 - p*) where it is 0. For one-hot strings every candidate has one bit: the factor is R^bit up to a
        constant, R = q* (1 - p*) / (p* (1 - q*)).

        Args:
            strings: the bits, shape (reports, m).
            cohorts: of every report; left out, there is one.
        """
        ones, zeros = np.log(self.q_star / self.p_star), np.log((1 - self.q_star) / (1 - self.p_star))
        logs = np.empty((len(strings), self.size), dtype=np.float32)
        for rows, design in self._by_cohort(len(strings), cohorts):
            sets = design.astype(np.float32)
            logs[rows] = strings[rows].astype(np.float32) @ sets * np.float32(ones - zeros) + sets.sum(axis=0) * zeros
        return np.asarray(np.exp(logs - row_maxima(logs)))

    def tally(self, strings: Strings, cohorts: Cohorts | None = None) -> npt.NDArray[np.int64]:
        """Return for every cohort how many reports have each bit set, and their number last, shape (C, m + 1)."""
        out = np.zeros((len(self.design), self.bits + 1), dtype=np.int64)
        for place, (rows, _) in enumerate(self._by_cohort(len(strings), cohorts)):
            out[place, :-1] = strings[rows].sum(axis=0, dtype=np.int64)
            out[place, -1] = len(strings[rows])
        return out

    def bit_shares(self, tally: npt.NDArray[np.int64]) -> Array:
        """Return the unbiased share of users whose true bit is 1, (tally / n_c - p*) / (q* - p*), shape (C m,)."""
        users = np.maximum(tally[:, -1:], 1)
        return np.asarray((tally[:, :-1] / users - self.p_star) / (self.q_star - self.p_star)).ravel()

    def _by_cohort(
        self, reports: int, cohorts: Cohorts | None
    ) -> list[tuple[slice | npt.NDArray[np.int64], npt.NDArray[np.bool_]]]:
        if cohorts is None:
            if len(self.design) > 1:
                raise ValueError(f"the design has {len(self.design)} cohorts; say which one every report is of")
            return [(slice(0, reports), self.design[0])]
        return [(np.flatnonzero(cohorts == place), design) for place, design in enumerate(self.design)]


def one_hot(size: int, *, q_star: float, p_star: float) -> BitEvidence:
    """Return the evidence of a one-hot string over `size` values.

    >>> one_hot(3, q_star=0.75, p_star=0.5).likelihoods(np.array([[1, 0, 0]], dtype=np.uint8)).round(3)
    array([[1.   , 0.333, 0.333]], dtype=float32)
    """
    return BitEvidence(design=np.eye(size, dtype=np.bool_)[None], q_star=q_star, p_star=p_star)
