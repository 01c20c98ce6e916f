"""How many hold each string, from all rounds that asked about it after it was found.

counts of strings by round -> inverse-variance mean of the shares -> counts, variances, what noise alone reaches.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.core.reports.oracle import Oracle
from dpress.mechanisms.protocol.report_type import likely_shares, per_user

FALSE_ALARM = 0.05  # the chance that any string is released which nobody holds


@dataclass(frozen=True, slots=True, kw_only=True)
class StringCounts:
    """What one round says of whole strings; public.

    Args:
        strings: that it asked about.
        counts: how many of those who answered are estimated to hold each.
        users: how many answered.
        by: the oracle that they answered by.
    """

    strings: tuple[str, ...]
    counts: tuple[int, ...]
    users: int
    by: Oracle

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.strings) or self.users < 0:
            raise ValueError(f"expected a count for each of {len(self.strings)} strings, and users >= 0")


@dataclass(frozen=True, slots=True, eq=False)
class FoundStrings:
    """Counts of strings among all users.

    Args:
        strings: in the order of their bytes, shape (m,).
        counts: estimated, shape (m,).
        variances: of the counts, in counts squared, shape (m,).
        alone: the standard deviations of the counts of strings that nobody holds, shape (m,).
        parts: the weight of every round's share of those who answered it, shape (rounds, m).
        likely: the shares of all users, those of `report_type.likely_shares`, shape (m,).
        rounds: that the counts are from.
        users: of all rounds.
    """

    strings: tuple[str, ...]
    counts: Array
    variances: Array
    alone: Array
    parts: Array
    likely: Array
    rounds: tuple[StringCounts, ...]
    users: int

    def sum_variance(self, weights: Array) -> float:
        """Return the variance of a weighted sum of counts, in counts squared.

        Formula: sum w_i^2 v_i, v the variances, and twice the covariances: with a_r = w times round r's parts, N^2 (sum
            over r of C_r(a_r) / n_r^2 - N / (N - 1) (sum over r of S(a_r) / n_r - S(w) / N)), C_r those of the oracle
            for n_r users (`Oracle.covariances`), S(a) = (sum a f)^2 - sum a^2 f^2, f the shares: of drawing who answers
            which round. Users who hold none of the strings are taken to hold no candidate of a round, or all others
            alike: whichever varies more.
        """
        used = np.flatnonzero(weights)
        drawing = -self._pairs(weights) / self.users
        noise = 0.0
        for counts, part in zip(self.rounds, self.parts, strict=True):
            scaled = weights * part
            if counts.users and scaled.any():
                drawing += self._pairs(scaled) / counts.users
                noise += self._covariances(counts, scaled) / counts.users**2
        several = noise - drawing * self.users / max(self.users - 1, 1)
        return max(0.0, float(weights[used] ** 2 @ self.variances[used]) + self.users**2 * several)

    def _pairs(self, weights: Array) -> float:
        scaled = weights * self.likely
        return float(scaled.sum() ** 2 - scaled @ scaled)

    def _covariances(self, counts: StringCounts, weights: Array) -> float:
        """Return those of one round's counts, whose candidates are prefixes, then its strings, then all others."""
        rows = [bisect_left(self.strings, string.encode(), key=str.encode) for string in counts.strings]
        places = slice(counts.by.size - 1 - len(rows), counts.by.size - 1)
        wanted, held = np.zeros((2, counts.by.size))
        wanted[places] = weights[rows]
        rest, variances = counts.users * max(0.0, 1 - float(self.likely[rows].sum())), []
        for others in (slice(-1, None), slice(None)):
            held[others] = rest / len(held[others])
            held[places] = counts.users * self.likely[rows]
            covariances = counts.by.covariances(held, counts.users)
            variances.append(0.0 if covariances is None else covariances(wanted))
        return max(variances)

    @property
    def threshold(self) -> float:
        """How many of its standard deviations a count must have: `alarm` over all strings that are tested."""
        return alarm(len(self.strings))

    @property
    def released(self) -> npt.NDArray[np.bool_]:
        """Which strings are released, shape (m,)."""
        return self.counts > self.threshold * self.alone


def alarm(tested: int) -> float:
    """Return the standard deviations that noise exceeds with the chance 5 % anywhere among so many tests (Bonferroni).

    >>> round(alarm(100), 2)
    3.29
    """
    return NormalDist().inv_cdf(1 - FALSE_ALARM / max(tested, 1))


def pooled(rounds: Sequence[StringCounts], users: int) -> FoundStrings:
    """Return the counts of the strings that the last of some rounds asked about.

    Formula: with c_r of n_r users in round r, v_r(f) the oracle's variance for one user where a share f holds the
    string, and w_r in proportion to n_r / v_r(0), the count is N sum w_r c_r / n_r, N all users. Its variance is
    N^2 (sum w_r^2 v_r(f) / n_r + f (1 - f) N / (N - 1) (sum w_r^2 / n_r - 1 / N)): the oracles' noise, and that of
    drawing who answers which round, without replacement.

    Args:
        rounds: those that were answered; each asks about all strings that an earlier one did.
        users: of all rounds, also those that asked about no string.
    """
    strings = rounds[-1].strings
    share, weight, drawn, noise, held = np.zeros((5, len(strings)))
    parts = np.zeros((len(rounds), len(strings)))
    place = {string: number for number, string in enumerate(strings)}
    for part, counts in zip(parts, rounds, strict=True):
        if not counts.users:
            continue
        rows = [place[string] for string in counts.strings]
        zero, full = per_user(counts.by, 0.0), per_user(counts.by, 1.0)
        precision = 1 / zero
        weight[rows] += counts.users * precision
        share[rows] += precision * np.array(counts.counts, dtype=np.float64)
        part[rows] = counts.users * precision
        noise[rows] += counts.users * precision**2 * zero
        held[rows] += counts.users * precision**2 * (full - zero)
        drawn[rows] += counts.users * precision**2
    weight = np.where(weight > 0, weight, math.inf)
    share = share / weight
    likely = likely_shares(share * users, users)
    spread = np.maximum(0, drawn / weight**2 - 1 / users) * users / max(users - 1, 1) * likely * (1 - likely)
    alone = np.where(np.isinf(weight), math.inf, users * np.sqrt(noise) / weight)
    every = users**2 * ((noise + likely * held) / weight**2 + spread)
    variances = np.where(np.isinf(alone), math.inf, every)
    return FoundStrings(strings, share * users, variances, alone, parts / weight, likely, tuple(rounds), users)
