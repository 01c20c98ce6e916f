"""A tree of regions whose leaves all lie at one depth: nation, states, counties, tracts.

Nodes are numbered from 0 within their level, in one order: the children of a node are neighbours in the next level.
A region that has none of some level stands in it for itself, alone.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.maps.linear import Array, Numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Spine:
    """The tree, by the places of every node's children.

    Args:
        starts: for every level but the last, coarse to fine, shape (nodes + 1,): the children of node u in the next
            level are starts[u] to starts[u + 1] - 1. Level 0 is one node, everything.

    Raises:
        ValueError: the levels do not fit each other, or a node has no children.

    >>> spine = Spine(starts=(np.array([0, 2]), np.array([0, 2, 3])))
    >>> spine.sizes, spine.parents(2).tolist(), spine.up(np.array([1, 2, 4]))[1].tolist()
    ((1, 2, 3), [0, 0, 1], [3, 4])
    """

    starts: tuple[Numbers, ...]

    def __post_init__(self) -> None:
        nodes = 1
        for level, starts in enumerate(self.starts):
            if len(starts) != nodes + 1 or starts[0] != 0 or (np.diff(starts) < 1).any():
                raise ValueError(f"level {level}: expected {nodes + 1} increasing places from 0, got others")
            nodes = int(starts[-1])

    @property
    def depth(self) -> int:
        """The number of levels below the first."""
        return len(self.starts)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of nodes of every level, coarse to fine."""
        return (1, *(int(starts[-1]) for starts in self.starts))

    def parents(self, level: int) -> Numbers:
        """Return the node of the level above of every node of a level (1 to `depth`), shape (nodes,)."""
        starts = self.starts[level - 1]
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    def sums(self, values: Array, level: int) -> Array:
        """Return the sums over the children of every node of a level.

        Args:
            values: of the nodes of the next level, shape (nodes, ...).
            level: of the result, 0 to `depth` - 1.
        """
        return np.add.reduceat(values, self.starts[level][:-1], axis=0)

    def up(self, leaves: Array) -> list[Array]:
        """Return the sums of the leaves' values, shape (leaves, ...), at every level, coarse to fine."""
        levels = [leaves]
        for level in reversed(range(self.depth)):
            levels.insert(0, self.sums(levels[0], level))
        return levels
