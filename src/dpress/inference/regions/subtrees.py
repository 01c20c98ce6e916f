"""Equal subtrees of a tree of regions, counted once: a country has a few thousand different ones.

All nodes of a level have the same measurements, so nodes whose children have the same subtrees have the same variances
from below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine


@dataclass(frozen=True, kw_only=True, eq=False)
class Children:
    """What the different subtrees of a level have for children: one entry for every kind of child of every subtree.

    Args:
        first: where the entries of every subtree begin, shape (subtrees,).
        parent: which subtree, shape (entries,).
        child: which subtree of the next level, shape (entries,).
        count: how many children of this kind, shape (entries,); all kinds of the next level have parents.
    """

    first: Numbers
    parent: Numbers
    child: Numbers
    count: Numbers

    def sums(self, values: Array) -> Array:
        """Return values by entry, shape (..., entries), summed over the children of every subtree."""
        return np.add.reduceat(self.count * values, self.first, axis=-1)

    def back(self, values: Array) -> Array:
        """Return values by entry, shape (..., entries), summed over the parents of every subtree of the next level."""
        order, first = self._by_child
        return np.add.reduceat((self.count * values)[..., order], first, axis=-1)

    @cached_property
    def _by_child(self) -> tuple[Numbers, Numbers]:
        order = np.argsort(self.child, kind="stable")
        return order, np.unique(self.child[order], return_index=True)[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class Subtrees:
    """The different subtrees of every level.

    Args:
        nodes: for every level how many nodes have each of its subtrees, shape (subtrees,).
        children: for every level but the last.
    """

    nodes: tuple[Numbers, ...]
    children: tuple[Children, ...]


def subtrees_of(spine: Spine) -> Subtrees:
    """Return the different subtrees of a spine.

    >>> trees = subtrees_of(Spine(starts=(np.array([0, 3]), np.array([0, 2, 3, 5]))))
    >>> [level.tolist() for level in trees.nodes], trees.children[0].count.tolist()
    ([[1], [1, 2], [5]], [1, 2])
    """
    below, nodes, children = np.zeros(spine.sizes[-1], dtype=np.int64), [np.array([spine.sizes[-1]])], list[Children]()
    for level in reversed(range(spine.depth)):
        below, unlike = _unlike(below, spine.starts[level])
        nodes.insert(0, np.bincount(below))
        children.insert(0, _children(unlike))
    return Subtrees(nodes=tuple(nodes), children=tuple(children))


def _unlike(below: Numbers, starts: Numbers) -> tuple[Numbers, list[Numbers]]:
    """Return for every node which subtree it has, and the children's subtrees of each."""
    counts = np.diff(starts)
    if not below.any():
        sizes, kinds = np.unique(counts, return_inverse=True)
        return kinds, [np.zeros(size, dtype=np.int64) for size in sizes]
    ordered = below[np.lexsort((below, np.repeat(np.arange(len(counts)), counts)))]
    numbers, unlike = dict[bytes, int](), list[Numbers]()
    places = np.empty(len(counts), dtype=np.int64)
    for node, kinds in enumerate(np.split(ordered, starts[1:-1])):
        places[node] = numbers.setdefault(kinds.tobytes(), len(numbers))
        if len(numbers) > len(unlike):
            unlike.append(kinds)
    return places, unlike


def _children(unlike: Sequence[Numbers]) -> Children:
    pairs = [np.unique(kinds, return_counts=True) for kinds in unlike]
    entries = np.array([len(kinds) for kinds, _ in pairs])
    return Children(
        first=np.cumsum(entries) - entries,
        parent=np.repeat(np.arange(len(pairs)), entries),
        child=np.concatenate([kinds for kinds, _ in pairs]),
        count=np.concatenate([counts for _, counts in pairs]),
    )


def regular(sizes: Sequence[int]) -> Subtrees:
    """Return the tree of so many nodes by level in which all nodes of a level have equally many children, or parts."""
    zero = np.zeros(1, dtype=np.int64)
    ratios = [np.array([below / above]) for above, below in pairwise(sizes)]
    return Subtrees(
        nodes=tuple(np.array([size]) for size in sizes),
        children=tuple(Children(first=zero, parent=zero, child=zero, count=ratio) for ratio in ratios),
    )
