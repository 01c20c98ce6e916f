"""The grain that a map's noise supports: squares are cut in four where a part is significantly above 0.

density -> which squares of every level are significantly above 0 -> tiles, each with its count and interval.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.maps.grid import Places, Rectangles
from dpress.core.maps.linear import Array
from dpress.core.maps.partition import Partition
from dpress.inference.interval import Tail, critical, several_critical, whole_counts
from dpress.inference.maps.density import Density, ends, unbiased

CONFIDENCE = 0.95
"""That no square is significantly above 0 in which nobody is; and that of every tile's interval, each by itself."""
BATCH = 1 << 16  # squares at once

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tiles:
    """A map in squares of different sizes, which cover it without overlap.

    Args:
        partition: the squares, in cells of the map; of a side that is no power of two they are nearly square.
        significant: whether a square is significantly above 0, shape (tiles,).
        count: the estimated counts.
        error: their standard errors.
        low: the lower ends of the intervals of 95 %, each by itself.
        high: the upper ones.
    """

    partition: Partition
    significant: Flags
    count: Array
    error: Array
    low: Array
    high: Array

    @property
    def finest(self) -> int:
        """How many of the smallest tiles lie along a side."""
        return int(-(-self.partition.grid.side // (self.partition.right - self.partition.left).min()))

    def spread(self, values: Array) -> Array:
        """Return what a cell has of each tile's value, an image of shape (side, side): people lie evenly in a tile."""
        return self.partition.painted(values / self.partition.areas)


def supported_tiles(density: Density, tail: Tail, most: int) -> Tiles:
    """Return a map at the grain that its noise supports.

    A square is cut in four, again and again from the whole map, where a square within it is significantly above 0:
    the lower end of its interval is. Level l has 4^l squares; each interval has a confidence of
    1 - 0.05 / ((h + 1) 4^l), h the last level, so that all squares together are found above 0 in error with a
    chance of at most 5 % (Bonferroni), as far as the intervals hold. Which tiles are shown follows from the noisy
    counts alone. The intervals of tiles are of 95 %, each by itself, and do not allow for that choice.

    Error: that of the map's own sums over the tiles, exact where `Density.variances` is.

    Args:
        density: the map.
        tail: the kind of noise.
        most: tiles; levels are left out, the last first, until there are no more. At least 4.
    """
    height = (density.grid.side - 1).bit_length()
    significant = [_significant(density, level, height, tail) for level in range(height + 1)]
    depth = next(level for level in range(height, -1, -1) if _size(_cuts(significant[: level + 1])) <= most)
    partition, flags = _leaves(density, significant[: depth + 1])
    boxes = _rectangles(partition)
    low, high = ends(density, boxes, critical(CONFIDENCE, tail))
    spread = np.sqrt(density.variances(boxes))
    return Tiles(partition=partition, significant=flags, count=density.values(boxes), error=spread, low=low, high=high)


def _significant(density: Density, level: int, height: int, tail: Tail) -> Flags:
    """Return which of the squares of a level are significantly above 0, an image of shape (2^level, 2^level)."""
    parts, limit = 1 << level, several_critical(CONFIDENCE, (height + 1) << (2 * level), tail)
    if parts == density.grid.side:
        return np.asarray(_least_of_cells(density, limit) > 0)
    edges = _edges(density, level)
    across, up = (places.ravel() for places in np.indices((parts, parts)))
    significant, squares = np.zeros(parts**2, dtype=np.bool_), _between(edges, across, up)
    full = np.flatnonzero(unbiased(density).values(squares) >= 1)  # an interval reaches a whole count to either side
    for start in range(0, len(full), BATCH):
        some = full[start : start + BATCH]
        significant[some] = ends(density, _between(edges, across[some], up[some]), limit)[0] > 0
    return significant.reshape(parts, parts)


def _least_of_cells(density: Density, limit: float) -> Array:
    """Return the lower end of every cell's interval, an image."""
    if density.reach is not None:
        return density.reach.cells(limit)[0]
    return np.asarray(unbiased(density).counts - whole_counts(density.cell_variances(), limit))


def _between(edges: Array, across: Places, up: Places) -> Rectangles:
    return Rectangles(edges[across], edges[across + 1], edges[up], edges[up + 1])


def _edges(density: Density, level: int) -> Array:
    """Return the ends of a level's squares along a side, in cells; every second one is one of the level above."""
    return np.rint(np.linspace(0, density.grid.side, (1 << level) + 1))


def _cuts(significant: list[Flags]) -> list[Flags]:
    """Return for every level but the last which squares hold a smaller one that is significantly above 0."""
    below, cuts = significant[-1], list[Flags]()
    for level in reversed(significant[:-1]):
        side = len(level)
        cuts.append(np.asarray(below.reshape(side, 2, side, 2).any(axis=(1, 3))))
        below = level | cuts[-1]
    return cuts[::-1]


def _size(cuts: list[Flags]) -> int:
    return 1 + 3 * sum(int(cut.sum()) for cut in cuts)


def _leaves(density: Density, significant: list[Flags]) -> tuple[Partition, Flags]:
    """Return the squares that are not cut, those of a level row by row, and which of them are significantly above 0."""
    cuts = [*_cuts(significant), np.zeros_like(significant[-1])]
    there, parts, flags = np.ones((1, 1), dtype=np.bool_), [], []
    for level, (cut, tells) in enumerate(zip(cuts, significant, strict=True)):
        edges = _edges(density, level).astype(np.int64)
        across, up = np.nonzero(there & ~cut)
        ends_of = np.stack([edges[across], edges[across + 1], edges[up], edges[up + 1]])
        some = (ends_of[1] > ends_of[0]) & (ends_of[3] > ends_of[2])  # of a side that is no power of two
        parts.append(ends_of[:, some])
        flags.append(tells[across, up][some])
        there = (there & cut).repeat(2, axis=0).repeat(2, axis=1)
    return Partition(density.grid, *np.concatenate(parts, axis=1)), np.concatenate(flags)


def _rectangles(partition: Partition) -> Rectangles:
    sides = partition.left, partition.right, partition.bottom, partition.top
    return Rectangles(*(end.astype(np.float64) for end in sides))
