"""The intervals of single cells of tables that devices reported by tiles: with what the tiles leave open.

counts of whole tiles, with errors -> of every cell what its count is at least and at most -> ends of its interval.
"""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places
from dpress.inference.interval import Tail, critical, several_critical, whole_counts
from dpress.kinds.ranges.tiles import BOUNDS, Tiled, box_of

Form = Callable[[list[Array]], tuple[float, float]]
Counted = tuple[Array, Array]
"""Counts of tiles and their variances, of one shape."""


def of_tiles(tiles: Tiled, axes: Sequence[int], form: Form) -> Counted:
    """Return the counts of all tiles of a table's attributes, as queries for them are answered."""
    starts = tiles.tile_starts(axes)
    counts = np.empty((2, *(edges.size - 1 for edges in starts)))
    for place in np.ndindex(counts.shape[1:]):
        ends = {axis: (edges[at], edges[at + 1]) for axis, edges, at in zip(axes, starts, place, strict=True)}
        counts[(slice(None), *place)] = form(box_of(tiles, ends))
    return counts[0], counts[1]


def ends(
    tiles: Tiled, axes: Sequence[int], counts: Counted, each: Sequence[Counted], users: int, *, level: float, tail: Tail
) -> tuple[Array, Array]:
    """Return the low and the high ends of the intervals of all cells of a table that lie in larger tiles, flat.

    Of cells that are tiles by themselves they are those of their counts.

    Args:
        tiles: whose tiles.
        axes: of the table, one or two.
        counts: of its tiles.
        each: of two attributes, those of the tiles of each.
        users: N.
        level: the confidence.
        tail: of the noise.
    """
    starts = tiles.tile_starts(axes)
    value, variance, sizes = (_painted(part, starts) for part in (*counts, _sizes(starts)))
    z = critical(level, tail) if len(axes) == 1 else several_critical(level, BOUNDS, tail)
    least, most = np.zeros(value.shape), value + whole_counts(variance, z)
    if len(axes) == 2:
        lower, upper = _of_both([tiles.tile_starts([axis])[0] for axis in axes], each, z, users)
        least, most = np.maximum(least, lower), np.minimum(most, upper)
    plain = whole_counts(variance, critical(level, tail))
    low, high = np.where(sizes == 1, value - plain, least), np.where(sizes == 1, value + plain, most)
    return low.ravel(), high.ravel()


def _of_both(starts: Sequence[Places], alone: Sequence[Counted], z: float, users: int) -> Counted:
    """Return what the cells of two attributes count at least and at most by the counts of either alone.

    At least both added up less N, where N are all; a cell that is a part of a tile may hold nobody.
    """
    inner, outer, spread = [], [], []
    for edges, (counts, variances) in zip(starts, alone, strict=True):
        single = np.diff(edges) == 1
        inner.append(_painted(np.where(single, counts, 0.0), [edges]))
        spread.append(_painted(np.where(single, np.sqrt(variances), 0.0), [edges]))
        outer.append(_painted(counts + whole_counts(variances, z), [edges]))
    least = np.add.outer(*inner) - users - whole_counts(np.add.outer(*spread) ** 2, z)
    return np.asarray(least), np.asarray(np.minimum.outer(*outer))


def _sizes(starts: Sequence[Places]) -> Array:
    """Return the number of cells of every tile."""
    return functools.reduce(np.multiply.outer, (np.diff(edges).astype(np.float64) for edges in starts))


def _painted(tiles: Array, starts: Sequence[Places]) -> Array:
    """Return what belongs to tiles by their cells."""
    for axis, edges in enumerate(starts):
        tiles = np.repeat(tiles, np.diff(edges), axis=axis)
    return tiles
