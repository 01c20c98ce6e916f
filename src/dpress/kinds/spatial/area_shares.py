"""How much of every cell of a map an area holds: along lines through the cells exactly, across them by their mean.

rings -> where they cross each line -> stretches inside, by even and odd -> shares of cells.
"""

from collections.abc import Sequence

import numpy as np

from dpress.core.maps.grid import Places
from dpress.core.maps.linear import Array

LINES = 4096  # of a map, about
FEWEST = 4  # lines through a cell


def area_shares(rings: Sequence[Array], side: int) -> Array:
    """Return the share of the area of every cell that lies within rings, an image of shape (side, side).

    A point is within where an odd number of rings is around it. The area is measured on 4096 lines across the map or
    some more, a power of two through every cell: along a line exactly.
    Error: of a cell that straight borders cut on the order of 1 / lines^2 of its area.

    Args:
        rings: closed lines in cells of the map, each of shape (points, 2); what lies beyond the map is cut off.
        side: cells along each side.

    >>> area_shares([np.array([[0.5, 0.0], [2.0, 0.0], [2.0, 1.0], [0.5, 1.0]])], 2).tolist()
    [[0.5, 0.0], [1.0, 0.0]]
    """
    lines = max(FEWEST, 1 << ((LINES - 1) // side).bit_length())
    starts = np.concatenate(list(rings))
    ends = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
    line, across = _crossings(starts, ends, side * lines, lines)
    order = np.lexsort((across, line))
    line, across = line[order], np.clip(across[order], 0.0, side)
    sign = np.where(np.arange(line.size) % 2, -1.0, 1.0)  # a line is crossed an even number of times
    cell = np.floor(across).astype(np.int64)
    place, size = cell * side + line // lines, (side + 2) * side
    changes = np.bincount(place, sign * (cell + 1 - across), size)
    changes += np.bincount(place + side, sign * (across - cell), size)
    return np.asarray(np.clip(changes.reshape(side + 2, side).cumsum(axis=0)[:side] / lines, 0.0, 1.0))


def _crossings(starts: Array, ends: Array, count: int, lines: int) -> tuple[Places, Array]:
    """Return the lines that the edges of rings cross, and where; a line runs through (k + 1/2) / lines."""
    low, high = np.minimum(starts[:, 1], ends[:, 1]), np.maximum(starts[:, 1], ends[:, 1])
    first, last = (np.clip(np.ceil(end * lines - 0.5), 0, count).astype(np.int64) for end in (low, high))
    edge = np.repeat(np.arange(len(starts)), last - first)
    line = first[edge] + np.arange(edge.size) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
    (x, y), (u, v) = starts[edge].T, ends[edge].T
    return line, x + ((line + 0.5) / lines - y) / (v - y) * (u - x)
