"""What a page shows of tiles: counts by whole ones, since how people lie within a tile is not known.

views of cells -> sums over tiles, each with its own variance -> views of tiles.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places, Ranges
from dpress.inference.interval import half_width
from dpress.kinds.ranges.tiles import Tiled, box_of
from dpress.query.published_tables import CONFIDENCE
from dpress.reporting.views import Axis, RangeVariances, View

Variance = Callable[[list[Array]], float]
"""From the weights of a query, along every attribute, to the variance of its answer in counts squared."""


def tile_views(views: Sequence[View], tables: Sequence[Sequence[int]], tiles: Tiled, variance: Variance) -> list[View]:
    """Return views by tiles: of one attribute by its own, of two by those of pairs.

    Args:
        views: of published tables, by cells.
        tables: the attributes of each.
        tiles: whose tiles.
        variance: of a query's answer.
    """
    return [_merged(view, axes, tiles, variance) for view, axes in zip(views, tables, strict=True)]


def tile_variances(names: Sequence[str], tiles: Tiled, variance: Variance) -> RangeVariances:
    """Return the variances of ranges of an attribute's tiles, from that of a query's answer."""

    def variances_of(name: str, ranges: Ranges) -> Array:
        axis = names.index(name)
        (starts,) = tiles.tile_starts([axis])
        ends = zip(starts[ranges.left - 1], starts[ranges.right], strict=True)
        return np.array([variance(box_of(tiles, {axis: (int(first), int(end))})) for first, end in ends])

    return variances_of


def _merged(view: View, axes: Sequence[int], tiles: Tiled, variance: Variance) -> View:
    starts = tiles.tile_starts(axes)
    spread = np.empty([edges.size - 1 for edges in starts])
    for place in np.ndindex(spread.shape):
        ends = [(int(edges[tile]), int(edges[tile + 1])) for edges, tile in zip(starts, place, strict=True)]
        spread[place] = variance(box_of(tiles, dict(zip(axes, ends, strict=True))))
    return replace(
        view,
        axes=tuple(_axis(axis, edges) for axis, edges in zip(view.axes, starts, strict=True)),
        count=_sums(view.count, starts),
        half=half_width(spread, CONFIDENCE, view.tail),
        error=np.sqrt(spread),
        adjusted=None if view.adjusted is None else _sums(view.adjusted, starts),
        centre=None if view.centre is None else _sums(view.centre, starts),
        derived=True,
    )


def _sums(counts: Array, starts: Sequence[Places]) -> Array:
    for axis, edges in enumerate(starts):
        counts = np.add.reduceat(counts, edges[:-1], axis=axis)
    return counts


def _axis(axis: Axis, starts: Places) -> Axis:
    """Return the tiles of an attribute, each called by its first and its last cell."""
    ends = [(first, last - 1) for first, last in itertools.pairwise(starts.tolist())]
    labels = (axis.label(a) if a == b else f"{axis.label(a)} to {axis.label(b)}" for a, b in ends)
    ticks = tuple(axis.tick(first) for first, _ in ends)
    return Axis(name=axis.name, labels=tuple(labels), ticks=ticks, ordered=len(ends), title=axis.title)
