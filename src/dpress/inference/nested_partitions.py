"""Counts of an order's intervals, measured on partitions of which each refines the one before: least squares.

answers of all partitions, a known total -> upward sums -> downward shifts -> intervals of the finest partition.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NestedPartitions:
    """Partitions of cells in an order, measured independently, and their sum.

    With A_l the sums of the finest partition's intervals over those of partition l, and A_0 that over all, the estimate
    is x = M^-1 sum_l A_l^T y_l / v_l with M = sum_l A_l^T A_l / v_l. A weighted sum w^T x is sum_l g_l^T y_l with
    g_l = A_l M^-1 w / v_l, and varies by w^T M^-1 w where each y_l does by v_l.

    Args:
        starts: the first cell of every interval, of every partition, the coarsest first; each holds all of the one
            before. The first of all is 0.
        variances: of an answer of every partition, > 0.
        known: of the sum.
    """

    starts: tuple[Places, ...]
    variances: tuple[float, ...]
    known: float

    def estimate(self, answers: Sequence[Array], total: float) -> Array:
        """Return the finest partition's counts.

        Args:
            answers: of every partition.
            total: the sum, as it is known.
        """
        added = np.full(self.starts[-1].size, total / self.known)
        scaled = [counts / variance for counts, variance in zip(answers, self.variances, strict=True)]
        return self.covariance(added + self.spread(scaled).sum(axis=0))

    def forms(self, weights: Array) -> list[Array]:
        """Return what the answers of every partition weigh in a weighted sum of the finest counts."""
        spread = self.covariance(weights)
        pairs = zip(self.starts, self.variances, strict=True)
        return [np.add.reduceat(spread, self._at(starts)) / variance for starts, variance in pairs]

    def spread(self, values: Sequence[Array]) -> Array:
        """Return what belongs to every partition's intervals by those of the finest, shape (partitions, intervals)."""
        pairs = zip(self.starts, values, strict=True)
        return np.array([np.repeat(counts, self._parts(starts)) for starts, counts in pairs])

    def covariance(self, weights: Array) -> Array:
        """Return M^-1 w, shape of the finest partition: in one pass up, and one down (Sherman-Morrison)."""
        sums, spread = weights * self.variances[-1], np.full(weights.size, self.variances[-1])
        above = [(np.zeros(1, dtype=np.int64), self.known), *zip(self.starts[:-1], self.variances[:-1], strict=True)]
        stored, finer = list[tuple[Array, Array, float, Places]](), self.starts[-1]
        for starts, variance in reversed(above):
            at = np.searchsorted(finer, starts)
            sums, spread = np.add.reduceat(sums, at), np.add.reduceat(spread, at)
            stored.append((sums, spread, variance, np.diff(at, append=finer.size)))
            kept = variance / (variance + spread)
            sums, spread, finer = sums * kept, spread * kept, starts
        shift = np.zeros(1)
        for counts, wide, variance, parts in reversed(stored):
            shift = np.repeat(shift + (counts - shift * wide) / (variance + wide), parts)
        return np.asarray((weights - shift) * self.variances[-1])

    def cell_variances(self) -> Array:
        """Return the variance of every count of the finest partition: the diagonal of M^-1."""
        spread = np.full(self.starts[-1].size, self.variances[-1])
        stored, finer = list[tuple[Array, Places]](), self.starts[-1]
        for starts, variance in zip(self.starts[-2::-1], self.variances[-2::-1], strict=True):
            at = np.searchsorted(finer, starts)
            stored.append((spread, at))
            below = np.add.reduceat(spread, at)
            spread, finer = below * variance / (variance + below), starts
        stored.append((spread, np.zeros(1, dtype=np.int64)))
        everybody = float(spread.sum())
        variances = np.full(1, everybody * self.known / (everybody + self.known))
        for weights, at in reversed(stored):
            parts = np.diff(at, append=weights.size)
            share = weights / np.repeat(np.add.reduceat(weights, at), parts)
            variances = weights * (1 - share) + share**2 * np.repeat(variances, parts)
        return np.asarray(variances)

    def _at(self, starts: Places) -> Places:
        """Return where a partition's intervals begin among the finest."""
        return np.searchsorted(self.starts[-1], starts)

    def _parts(self, starts: Places) -> Places:
        return np.diff(self._at(starts), append=self.starts[-1].size)
