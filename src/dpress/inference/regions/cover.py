"""Weights of leaves as weights of as few nodes as carry them: of every region all of whose leaves weigh the same."""

from collections.abc import Mapping

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine

Cover = Mapping[int, tuple[Numbers, Array]]
"""For every level that has some: the widest nodes whose leaves weigh the same, and their weights, which are not 0."""


def cover(spine: Spine, weights: Array) -> Cover:
    """Return the widest nodes that carry weights of the leaves, shape (leaves,).

    >>> spine = Spine(starts=(np.array([0, 2]), np.array([0, 2, 4])))
    >>> {level: nodes.tolist() for level, (nodes, _) in cover(spine, np.array([1.0, 1.0, 0.0, 1.0])).items()}
    {1: [0], 2: [3]}
    """
    levels, alike = [np.asarray(weights, dtype=np.float64)], [np.ones(spine.sizes[-1], dtype=bool)]
    for level in reversed(range(spine.depth)):
        below, first = levels[0], spine.starts[level][:-1]
        same = np.minimum.reduceat(below, first) == np.maximum.reduceat(below, first)
        levels.insert(0, below[first])
        alike.insert(0, same & np.logical_and.reduceat(alike[0], first))
    nodes = {}
    for level, (values, same) in enumerate(zip(levels, alike, strict=True)):
        widest = same & (values != 0)
        if level:
            widest &= ~alike[level - 1][spine.parents(level)]
        if (places := np.flatnonzero(widest)).size:
            nodes[level] = (places, values[places])
    return nodes
