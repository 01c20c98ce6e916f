"""The joint distribution behind reports of `rr_ldp`: unbiased pair tables, and one fit to all reports.

reports -> how many have both of two bits set -> unbiased tables of all pairs; reports -> likelihoods -> joint table.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Claim, PureDP
from dpress.core.errors import NotSupported
from dpress.core.linear import Array
from dpress.core.oracle import Payloads, Tally
from dpress.estimate.bit_evidence import BitEvidence, one_hot
from dpress.estimate.contrast import Contrast, covariance_contrast
from dpress.estimate.early_stop import independent, regularised
from dpress.estimate.joint import Joint, dense
from dpress.estimate.likelihood import Fold, Split, in_memory
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.longitudinal import calibrated

Axes = tuple[int, ...]
LARGEST = 1 << 22  # cells of a joint table
MEMORY = 4 << 30  # bytes of likelihoods


@dataclass(frozen=True, slots=True, kw_only=True)
class BitJoint:
    """Every user answers all attributes in one report of `rr_ldp`.

    Promise: that of the report.
    Error: published are the tables of all pairs, unbiased, by the inverse of the channel,
    (C_ab - p* (c_a + c_b) + N p*^2) / (q* - p*)^2, with their exact variance for the users' values as estimated. The
    adjusted counts are those of the fitted joint, which is biased.
    Paper: joint.

    Args:
        oracle: makes the reports.
        strategy: the document's estimator; None for the likelihood, stopped early (`estimate.early_stop`).
    """

    oracle: RrLdp
    strategy: Any = None

    @property
    def claim(self) -> Claim:
        """The promise of one report."""
        return self.oracle.claim

    @property
    def shape(self) -> Axes:
        """The number of values of every attribute."""
        return self.oracle.sizes

    @property
    def tables(self) -> tuple[Axes, ...]:
        """What is published: a table for every pair of attributes."""
        axes = range(len(self.shape))
        return tuple((i, j) for i in axes for j in axes if i < j)

    def estimate(self, tallies: Sequence[Tally]) -> tuple[list[Array], list[Array]]:
        """Return the unbiased counts of every pair's table, flat, and their variances.

        Raises:
            ValueError: there is no report.
        """
        both, users = self._both(tallies)
        if not users:
            raise ValueError("no report answers the question about all attributes")
        found = [self._pair(both, users, *axes) for axes in self.tables]
        return [counts.ravel() for counts, _ in found], [variances.ravel() for _, variances in found]

    from_tallies: ClassVar[bool] = False

    def fit(self, tallies: Sequence[Tally], payloads: Callable[[], Iterable[Payloads]]) -> Joint:
        """Return the fitted joint distribution.

        Args:
            tallies: of the only question.
            payloads: the reports, batch by batch.

        Raises:
            NotSupported: the joint table, or the reports' likelihoods, do not fit in memory.
        """
        cells = math.prod(self.shape)
        if cells > LARGEST:
            raise NotSupported(
                f"the joint table has {cells:,} cells, more than 2^22; name fewer attributes, or `pairs`"
            )
        fold, split = self._fold(payloads()), Split(self.shape)
        single = [np.diagonal(self._both(tallies)[0])[self._bits(axis)] for axis in range(len(self.shape))]
        users = int(tallies[0][-1])
        evidence = [self._evidence(size) for size in self.shape]
        counted = [np.append(own, users)[None] for own in single]
        if self.strategy is not None:
            table, reason = self.strategy.joint(fold, split, evidence, counted), ""
        else:
            product = independent([one.bit_shares(own) for one, own in zip(evidence, counted, strict=True)])
            fit = regularised(fold, split, product).fit
            table, reason = fit.table, fit.reason
        total = float(table.sum())
        shares = table / total if total > 0 else np.full(cells, 1 / cells)
        return dense(shares.reshape(self.shape), reason=reason)

    def contrasts(self, tallies: Sequence[Tally]) -> tuple[Contrast, ...]:
        """Return for every pair what its table says beyond independence: the covariance of the reports' bits."""
        both, users = self._both(tallies)
        high, low = self._rates
        shares = np.diagonal(both) / users
        scores = (both / users - np.multiply.outer(shares, shares)) / (high - low) ** 2
        found = []
        for pair in self.tables:
            if min(self.shape[axis] for axis in pair) > 1:
                rows, columns = map(self._bits, pair)
                own = scores[rows, rows], scores[columns, columns]
                found.append(covariance_contrast(pair, scores[rows, columns], own, users))
        return tuple(found)

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell of a pair's table, averaged over all of them, equal shares."""
        total = cells = 0.0
        for first, second in self.tables:
            size = self.shape[first] * self.shape[second]
            shares = users / self.shape[first], users / self.shape[second]
            each = self._variance(np.array(users / size), np.array(shares[0]), np.array(shares[1]), users)
            total, cells = total + float(each) * size, cells + size
        return total / cells

    @property
    def _rates(self) -> tuple[float, float]:
        return float(self.oracle.responses.q_star), float(self.oracle.responses.p_star)

    def _evidence(self, size: int) -> BitEvidence:
        high, low = self._rates
        return one_hot(size, q_star=high, p_star=low)

    def _bits(self, axis: int) -> slice:
        start = sum(self.shape[:axis])
        return slice(start, start + self.shape[axis])

    def _both(self, tallies: Sequence[Tally]) -> tuple[npt.NDArray[np.int64], int]:
        side = self.oracle.bits
        return tallies[0][:-1].reshape(side, side), int(tallies[0][-1])

    def _pair(self, both: npt.NDArray[np.int64], users: int, first: int, second: int) -> tuple[Array, Array]:
        high, low = self._rates
        single = np.diagonal(both)
        rows, columns = self._bits(first), self._bits(second)
        one, other = single[rows].astype(np.float64), single[columns].astype(np.float64)
        corrected = both[rows, columns] - low * (one[:, None] + other[None, :]) + users * low**2
        counts = corrected / (high - low) ** 2
        held = [np.clip((own - users * low) / (high - low), 0, users) for own in (one, other)]
        variances = self._variance(np.clip(counts, 0, users), held[0][:, None], held[1][None, :], users)
        return counts, np.asarray(np.broadcast_to(variances, counts.shape))

    def _variance(self, both: Array, first: Array, second: Array, users: int) -> Array:
        """Return the variance of a pair's count: of a product of independent scores, summed over the users."""
        high, low = self._rates
        one, zero = (rate * (1 - rate) / (high - low) ** 2 for rate in (high, low))
        neither = np.maximum(users - first - second + both, 0)
        apart = np.maximum(first - both, 0) + np.maximum(second - both, 0)
        return np.asarray(both * ((1 + one) ** 2 - 1) + apart * (1 + one) * zero + neither * zero**2)

    def _fold(self, payloads: Iterable[Payloads]) -> Fold:
        unique, counts = np.unique(np.concatenate(list(payloads)), axis=0, return_counts=True)
        split = Split(self.shape)
        needed = 4 * sum(split.shape) * len(unique)
        if needed > MEMORY:
            raise NotSupported(
                f"{len(unique):,} different reports need about {needed:,} bytes; name fewer attributes, or `pairs`"
            )
        bits = np.unpackbits(unique, axis=1, count=self.oracle.bits, bitorder="little")
        parts = [self._evidence(size).likelihoods(bits[:, self._bits(axis)]) for axis, size in enumerate(self.shape)]
        return in_memory(split.halves(parts, counts.astype(np.float64)))


def example(loss: object, strategy: Any) -> BitJoint:
    """Return a tiny instance of one of the document's estimators.

    Raises:
        NotSupported: the loss is no epsilon.
    """
    if not isinstance(loss, PureDP):
        raise NotSupported("rr_ldp is calibrated to epsilon")
    responses = calibrated(PureDP(epsilon=loss.epsilon / 2), 1)
    return BitJoint(oracle=RrLdp(sizes=(2, 3), f=responses.f, p=responses.p, q=responses.q), strategy=strategy)
