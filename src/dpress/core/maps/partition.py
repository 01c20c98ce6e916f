"""A grid cut into rectangles of whole cells, by what its counts do: every cell is in exactly one of them.

Blocks: the grid in m x m parts, as even as whole cells allow. Tiles: every block in parts of its own.
"""

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.maps.grid import Grid, running_totals
from dpress.core.maps.linear import Array, Identity, LinearMap, Numbers

Ends = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Partition(LinearMap):
    """The sum of the cells in every one of several rectangles that cover the grid without overlap.

    Args:
        grid: the cells.
        left: across, in cells, shape (rows,).
        right: across, beyond left.
        bottom: up.
        top: up, beyond bottom.

    >>> even(Grid(4), 2).apply(np.arange(16)).tolist()
    [6, 22, 38, 54]
    """

    grid: Grid
    left: Ends
    right: Ends
    bottom: Ends
    top: Ends

    @property
    def cells(self) -> int:
        """The number of cells of the grid."""
        return self.grid.cells

    @property
    def rows(self) -> int:
        """The number of rectangles."""
        return len(self.left)

    @property
    def areas(self) -> Ends:
        """The number of cells in each."""
        return np.asarray((self.right - self.left) * (self.top - self.bottom))

    def sizes(self, parts: Ends) -> Ends:
        """Return into how many tiles `split` cuts every rectangle: at most one a cell along either axis."""
        wide, high = (np.minimum(parts, size) for size in (self.right - self.left, self.top - self.bottom))
        return np.asarray(wide * high)

    def split(self, parts: Ends) -> "Partition":
        """Return every rectangle in parts x parts tiles, one after the other: a width W is cut at floor(i W / parts).

        Args:
            parts: along either axis, at least 1, shape (rows,).
        """
        width, height = self.right - self.left, self.top - self.bottom
        wide, high = np.minimum(parts, width), np.minimum(parts, height)
        row = np.repeat(np.arange(self.rows), wide * high)
        place = np.arange(len(row)) - np.repeat(np.cumsum(wide * high) - wide * high, wide * high)
        across, up = place // high[row], place % high[row]
        left, right = (self.left[row] + (i * width[row]) // wide[row] for i in (across, across + 1))
        bottom, top = (self.bottom[row] + (i * height[row]) // high[row] for i in (up, up + 1))
        return Partition(self.grid, left, right, bottom, top)

    def apply(self, cells: Numbers) -> Numbers:
        """Return the sum of the cells in every rectangle, exact for integers."""
        return self.between(running_totals(self.grid.image(cells)))

    def between(self, totals: Numbers) -> Numbers:
        """Return the same of an image's running totals, shape (side + 1, side + 1)."""
        high = totals[self.right, self.top] - totals[self.left, self.top]
        return np.asarray(high - totals[self.right, self.bottom] + totals[self.left, self.bottom])

    def transpose(self, answers: Array) -> Array:
        """Return for every cell the answer that it counts in."""
        return np.asarray(self.grid.flat(self.painted(answers)))

    def painted(self, answers: Array) -> Array:
        """Return the same as an image of shape (side, side)."""
        return np.asarray(answers[self._labels()])

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return 1, or 2 where a row moves from one rectangle to another."""
        return Identity(self.rows).sensitivity(order, relation)

    def _labels(self) -> Ends:
        """Return for every cell its rectangle: corners whose running totals along both axes are the number."""
        side, numbers = self.grid.side, np.arange(self.rows)
        corners = np.zeros((side + 1, side + 1), dtype=np.int64)
        np.add.at(corners, (self.left, self.bottom), numbers)
        np.add.at(corners, (self.right, self.top), numbers)
        np.subtract.at(corners, (self.left, self.top), numbers)
        np.subtract.at(corners, (self.right, self.bottom), numbers)
        return np.asarray(corners.cumsum(axis=0).cumsum(axis=1)[:-1, :-1])


@functools.lru_cache(maxsize=16)
def even(grid: Grid, parts: int) -> Partition:
    """Return the grid in parts x parts blocks, cut at floor(i side / parts); a cut is at a whole cell."""
    whole = Partition(grid, *(np.array([end]) for end in (0, grid.side, 0, grid.side)))
    return whole.split(np.array([parts]))
