"""What answers from the grids of `hdg` err, from the variance of a tile of every grid."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.maps.linear import Array
from dpress.mechanisms.ranges.axis_tiles import AxisTiles, TileWeights

Axes = tuple[int, ...]


def sets_of(attributes: int) -> tuple[Axes, ...]:
    """Return what grids are about: every attribute, then every pair."""
    return (*itertools.combinations(range(attributes), 1), *itertools.combinations(range(attributes), 2))


@functools.lru_cache(maxsize=16)
def places(attributes: int) -> Mapping[Axes, int]:
    """Return the place of every grid in `sets_of`."""
    return {axes: place for place, axes in enumerate(sets_of(attributes))}


@dataclass(frozen=True, kw_only=True)
class GridError:
    """The errors of linear answers, every grid's tiles having one variance.

    Args:
        axes: the tiles of every attribute.
        variances: of a tile of every grid of `sets_of`, in counts squared.
    """

    axes: tuple[AxisTiles, ...]
    variances: tuple[float, ...]

    @cached_property
    def _sums(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """For every attribute the grids that hold it, with the variance of their sums over a coarse tile."""
        grids: list[list[tuple[int, float]]] = [[] for _ in self.axes]
        for place, axes in enumerate(sets_of(len(self.axes))):
            for axis in axes:
                others = [self.axes[other].coarse for other in axes if other != axis]
                each = others[0] if others else self.axes[axis].each
                grids[axis].append((place, self.variances[place] * each))
        return tuple(map(tuple, grids))

    def trusts(self, axis: int) -> list[tuple[int, float]]:
        """Return the grids that hold an attribute, with their weight in the mean of its coarse tiles."""
        return [(place, self.coarse(axis) / spread) for place, spread in self._sums[axis]]

    def coarse(self, axis: int) -> float:
        """Return the variance of that mean: one by the sum of the grids' precisions."""
        return self._coarse[axis]

    @cached_property
    def _coarse(self) -> tuple[float, ...]:
        return tuple(1 / sum(1 / spread for _, spread in sums) for sums in self._sums)

    def of(self, axes: Axes, queries: Sequence[TileWeights]) -> Array:
        """Return the variance of the answers to queries about one or two attributes, were all shares even.

        Formula: for every attribute L |(e - m) a + m c|^2 + v m^2 sum (g - c)^2, L of `coarse`, v of its own grid's
        tile, e and m the other attribute's `even` and `mean` (1 without one); and w |a|^2 |a'|^2, w of the pair's tile.

        Args:
            axes: of the queries.
            queries: what they weigh along each of them, of shapes that go together.
        """
        total: Array = np.zeros(())
        for place, (axis, query) in enumerate(zip(axes, queries, strict=True)):
            other = queries[1 - place] if len(axes) == 2 else None
            even, mean = (other.even, other.mean) if other is not None else (np.ones(1), np.ones(1))
            differ = (even - mean) ** 2 * query.coarse + mean**2 * query.fine + 2 * (even - mean) * mean * query.both
            total = total + self.coarse(axis) * differ + self.variances[axis] * mean**2 * query.inner
        if len(axes) == 2:
            total = total + self.variances[places(len(self.axes))[axes]] * queries[0].coarse * queries[1].coarse
        return np.asarray(total)
