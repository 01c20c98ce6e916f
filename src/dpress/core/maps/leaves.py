"""The leaves of a quadtree of uneven depth: a partition of the cells of a grid, finer in some places than in others.

A leaf is named by its path from the root, one digit from 0 to 3 a level: the first digits of the Morton code of every
cell in it, to base 4. Leaves stand in the order of their cells.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
DIGITS = frozenset("0123")
MOST_LEVELS = 26  # of a tree whose cells are counted in doubles


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Nodes that hold every cell exactly once, in the order of their cells.

    Args:
        levels: of each leaf, 0 for the root, shape (m,).
        places: of each leaf among the nodes of its level, from 0, shape (m,).
    """

    levels: Places
    places: Places

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self.levels)

    @property
    def rows(self) -> Places:
        """The leaves' numbers among all nodes of a full tree, level by level from the root."""
        return np.asarray(nodes_above(self.levels) + self.places)

    @property
    def names(self) -> tuple[str, ...]:
        """The leaves' paths.

        >>> root().split(np.array([True])).names
        ('0', '1', '2', '3')
        """
        pairs = zip(self.levels.tolist(), self.places.tolist(), strict=True)
        return tuple("".join(str(place >> 2 * step & 3) for step in reversed(range(level))) for level, place in pairs)

    def split(self, which: Mask) -> "Leaves":
        """Return the leaves with four in the place of each that is marked."""
        times = np.where(which, 4, 1)
        child = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        places = np.repeat(np.where(which, 4 * self.places, self.places), times)
        return Leaves(np.repeat(self.levels + which, times), places + child)

    def values(self, height: int) -> npt.NDArray[np.int32]:
        """Return for every cell of a grid of side 2^height the number of its leaf, from 0."""
        return np.repeat(np.arange(self.size, dtype=np.int32), 4 ** (height - self.levels))


def nodes_above(level: Places) -> Places:
    """Return how many nodes a full quadtree has above a level."""
    return np.asarray((4**level - 1) // 3)


def root() -> Leaves:
    """Return the root alone."""
    return Leaves(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))


@functools.lru_cache(maxsize=64)
def named(names: Sequence[str], height: int) -> Leaves:
    """Return the leaves of these names.

    Args:
        names: their paths, hashable.
        height: that none of them exceeds.

    Raises:
        ValueError: they hold a cell twice or not at all, are out of order, or a name is no path.

    >>> named(("0", "10", "11", "12", "13", "2", "3"), 2).levels.tolist()
    [1, 2, 2, 2, 2, 1, 1]
    """
    if height > MOST_LEVELS:
        raise ValueError(f"expected at most {MOST_LEVELS} levels, got {height}")
    texts = all(isinstance(path, str) and 0 < len(path) <= height for path in names)
    if not names or not texts or any(set(path) - DIGITS for path in names):
        raise ValueError(f"expected paths of 1 to {height} digits from 0 to 3")
    levels = np.array([len(path) for path in names], dtype=np.int64)
    places = np.array([int(path, 4) for path in names], dtype=np.int64)
    cells = 4 ** (height - levels)
    if not np.array_equal(places * cells, np.cumsum(cells) - cells) or cells.sum() != 4**height:
        raise ValueError("expected paths that lead to every cell exactly once, in the order of the cells")
    return Leaves(levels, places)
