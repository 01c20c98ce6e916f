"""What devices tell of whole tiles only: those of grids, or the intervals of a tree that grew where people are."""

from collections.abc import Mapping, Sequence

import numpy as np

from dpress.core.maps.linear import Array
from dpress.mechanisms.protocol.collection import method_of
from dpress.mechanisms.ranges.ahead_tree import AheadTree
from dpress.mechanisms.ranges.hdg import Hdg

Tiled = Hdg | AheadTree
BOUNDS = 3  # of a count of two attributes that cuts tiles: by those of both, and by those of either


def tiled(mechanism: object) -> Tiled | None:
    """Return who estimates from tiles, None of a mechanism whose reports are about the cells themselves."""
    estimator = method_of(mechanism)
    return estimator if isinstance(estimator, Tiled) else None


def box_of(tiles: Tiled, ends: Mapping[int, tuple[int, int]]) -> list[Array]:
    """Return the weights of a box, the first cell and the one after the last given along some attributes."""
    weights = [np.ones(size) for size in tiles.shape]
    for axis, (first, end) in ends.items():
        weights[axis][:first] = weights[axis][end:] = 0
    return weights


def aligned(tiles: Tiled, weights: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Return the largest box of whole tiles that a query holds, and the smallest that holds it.

    The count of the query lies between theirs wherever people are in their tiles. Tiles are an attribute's own where
    one attribute is asked about, else those of pairs' grids.

    Args:
        tiles: whose tiles.
        weights: of the query, 0 or 1, along every attribute.
    """
    axes = [axis for axis, along in enumerate(weights) if not np.all(along == 1)]
    inner, outer = [*weights], [*weights]
    for axis, starts in zip(axes, tiles.tile_starts(axes), strict=False):
        widths = np.diff(starts)
        inner[axis] = np.repeat(np.minimum.reduceat(weights[axis], starts[:-1]), widths)
        outer[axis] = np.repeat(np.maximum.reduceat(weights[axis], starts[:-1]), widths)
    return inner, outer


def cuts(tiles: Tiled, weights: Sequence[Array]) -> bool:
    """Return whether a query takes a part of some tile, so that how people lie there matters."""
    inner, outer = aligned(tiles, weights)
    return any(not np.array_equal(within, around) for within, around in zip(inner, outer, strict=True))
