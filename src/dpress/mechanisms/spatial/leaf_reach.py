"""Between which counts rectangles lie whose leaves are larger than cells: unbiased counts of whole leaves, with errors.

counts of all report types -> least squares over nested partitions -> leaves within and around a rectangle -> ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.maps.leaves import Leaves
from dpress.core.maps.linear import Array, Numbers
from dpress.inference.interval import whole_counts
from dpress.inference.nested_partitions import NestedPartitions
from dpress.mechanisms.spatial.report_noise import Noisy

KNOWN = 1.0  # the variance of everybody's number, in counts squared: nothing beside a leaf's, and not 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeafReach:
    """A count is no smaller than that of the leaves within a rectangle, and no larger than that of those it touches.

    Whole leaves are counted without supposing who is where in them, by least squares over the partitions of all report
    types; the noise of every type is that of its counts as estimated, as if the types drew their users independently.
    Error: none is stated of the partitions, which follow from some of the same answers.

    Args:
        grid: of side 2^h.
        partitions: of all report types, in the order of the cells.
        noises: of their counts of everybody.
        counts: of the leaves of the last one.
        leaves: these.
    """

    grid: Grid
    partitions: NestedPartitions
    noises: tuple[Noisy, ...]
    counts: Array
    leaves: Leaves

    def ends(self, rectangles: Rectangles, critical: float) -> tuple[Array, Array]:
        """Return what the count of every rectangle is at least and at most, give or take so many standard errors."""
        left, right, bottom, top = _squares(self.grid, self.leaves)
        across = rectangles.left[:, None], rectangles.right[:, None]
        up = rectangles.bottom[:, None], rectangles.top[:, None]
        inside = (left >= across[0]) & (right <= across[1]) & (bottom >= up[0]) & (top <= up[1])
        around = (right > across[0]) & (left < across[1]) & (top > up[0]) & (bottom < up[1])
        low, high = (which.astype(np.float64) for which in (inside, around))
        return low @ self.counts - self._half(low, critical), high @ self.counts + self._half(high, critical)

    def cells(self, critical: float) -> tuple[Array, Array]:
        """Return that of every cell, images of shape (side, side): of one in a larger leaf from 0 to the leaf's."""
        half = self._half(np.eye(self.leaves.size), critical)
        single = self.leaves.levels == self.grid.height
        ends = np.where(single, self.counts - half, 0.0), self.counts + half
        place = self.leaves.values(self.grid.height or 0)
        return self.grid.image(ends[0][place]), self.grid.image(ends[1][place])

    def _half(self, weights: Array, critical: float) -> Array:
        """Return how far the weighted sums of leaves may be off; everybody's number is known."""
        return np.asarray(whole_counts(np.array([self._variance(row) for row in weights]), critical))

    def _variance(self, weights: Array) -> float:
        forms = self.partitions.forms(weights - float(weights.mean()))
        if not np.ptp(weights):
            return 0.0
        return sum(noise.variance(form) for noise, form in zip(self.noises, forms, strict=True))


def nested(parts: Sequence[Leaves], height: int, variances: Sequence[float]) -> NestedPartitions:
    """Return partitions of a quadtree's cells as those of an order."""
    starts = tuple(np.cumsum(sizes) - sizes for sizes in (4 ** (height - leaves.levels) for leaves in parts))
    return NestedPartitions(starts=starts, variances=tuple(variances), known=KNOWN)


def _squares(grid: Grid, leaves: Leaves) -> tuple[Numbers, ...]:
    """Return the ends of every leaf: left, right, bottom and top, in cells."""
    widths = 2 ** ((grid.height or 0) - leaves.levels)
    sizes = widths**2
    starts = np.cumsum(sizes) - sizes
    left, bottom = (np.minimum.reduceat(grid.flat(axis), starts) for axis in np.indices((grid.side, grid.side)))
    return left, left + widths, bottom, bottom + widths
