"""How people are supposed to lie where a prediction depends on it: in a bell, an eighth of the cells wide.

shares of cells -> what ranges err by where a tile's people are taken as evenly spread over its cells.
"""

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places, Ranges

WIDTH = 1 / 8  # standard deviation, of all cells


def bell(cells: int) -> Array:
    """Return shares of cells that lie normally about the middle, with a standard deviation of an eighth of the cells.

    Even people would fill no cell more than another: nothing is hidden in a tile, and no tile is left empty. Ages,
    hours, logarithms of populations and most histograms of DPBench lie between them and this; heaps are denser.
    """
    place = (np.arange(cells) + 0.5) / cells - 0.5
    density = np.exp(-0.5 * (place / WIDTH) ** 2)
    return np.asarray(density / density.sum())


def hidden(edges: Places, shares: Array, ranges: Ranges) -> Array:
    """Return what every range errs by where the people of a tile are taken as evenly spread, in shares, shape (m,).

    Args:
        edges: the first cells of the tiles, and after them the number of cells.
        shares: of the cells.
        ranges: of the cells.

    >>> ranges = Ranges(4, np.array([1, 1, 2]), np.array([1, 2, 3]))
    >>> hidden(np.array([0, 2, 4]), np.array([0.4, 0.0, 0.3, 0.3]), ranges).tolist()
    [-0.2, 0.0, 0.2]
    """
    sums = np.append(0.0, shares.cumsum())
    off = np.interp(np.arange(shares.size + 1), edges, sums[edges]) - sums
    return np.asarray(off[ranges.right] - off[ranges.left - 1])
