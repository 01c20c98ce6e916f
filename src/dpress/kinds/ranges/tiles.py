"""What devices tell of whole tiles only: those of grids, or the intervals of a tree that grew where people are."""

from collections.abc import Mapping, Sequence

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places
from dpress.mechanisms.protocol.collection import method_of
from dpress.mechanisms.ranges.ahead_tree import AheadTree
from dpress.mechanisms.ranges.hdg import Hdg

Tiled = Hdg | AheadTree
BOUNDS = 3  # of a count of two attributes that cuts tiles: by those of both, and by those of either


def tiled(mechanism: object) -> Tiled | None:
    """Return who estimates from tiles, None of a mechanism whose reports are about the cells themselves."""
    estimator = method_of(mechanism)
    return estimator if isinstance(estimator, Tiled) else None


def starts_of(own: Tiled, axes: Sequence[int]) -> list[Places]:
    """Return the first cell of every tile along the attributes of a table, and after them the number of cells."""
    if isinstance(own, AheadTree):
        return [np.array([*own.starts, *own.shape])]
    return [own.axes[axis].starts if len(axes) == 1 else own.axes[axis].coarse_starts for axis in axes]


def box_of(own: Tiled, ends: Mapping[int, tuple[int, int]]) -> list[Array]:
    """Return the weights of a box, the first cell and the one after the last given along some attributes."""
    weights = [np.ones(size) for size in own.shape]
    for axis, (first, end) in ends.items():
        weights[axis][:first] = weights[axis][end:] = 0
    return weights


def aligned(own: Tiled, weights: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Return the largest box of whole tiles that a query holds, and the smallest that holds it.

    The count of the query lies between theirs wherever people are in their tiles. Tiles are an attribute's own where
    one attribute is asked about, else those of pairs' grids.

    Args:
        own: whose tiles.
        weights: of the query, 0 or 1, along every attribute.
    """
    asked = [axis for axis, one in enumerate(weights) if not np.all(one == 1)]
    inner, outer = [*weights], [*weights]
    for axis, starts in zip(asked, starts_of(own, asked), strict=False):
        widths = np.diff(starts)
        inner[axis] = np.repeat(np.minimum.reduceat(weights[axis], starts[:-1]), widths)
        outer[axis] = np.repeat(np.maximum.reduceat(weights[axis], starts[:-1]), widths)
    return inner, outer


def cuts(own: Tiled, weights: Sequence[Array]) -> bool:
    """Return whether a query takes a part of some tile, so that how people lie there matters."""
    inner, outer = aligned(own, weights)
    return any(not np.array_equal(one, other) for one, other in zip(inner, outer, strict=True))
