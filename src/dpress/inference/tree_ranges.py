"""Exact variance of many ranges under least squares on a tree: one walk from the leaves up, all ranges at once.

A node u whose noise has variance v has a weight s_u = S v / (v + S), S the sum over its children, s = v at a leaf:
the variance of its best estimate from its own subtree. Its mean is r_u = (sum_c s_c r_c) / S, 1 at a cell in the range
and 0 at any other; its spread is e_u = sum_c e_c + sum_c s_c (r_c - r_u)^2. Then e_u + s_u r_u^2 is the variance of the
range's part of u by the subtree alone (Sherman-Morrison: q = sum_c q_c - T^2 / (v + S) with T = sum_c s_c r_c), and at
the root the answer. Every term is positive: nothing cancels.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places, Ranges
from dpress.core.maps.tree import Tree
from dpress.inference.range_error import by_chunks


@dataclass(frozen=True, slots=True)
class _Level:
    """The nodes of one height; weights are counted in whole nodes.

    Args:
        weight: s of a whole node.
        last: the place of the table's last node, from 0.
        short: s of the last node, in whole nodes.
        children: how many of these nodes a whole parent has.
        family: how many of them the last parent has.
    """

    weight: float
    last: int
    short: float
    children: int
    family: int

    def node_weight(self, node: Places) -> Array:
        """Return the weight of nodes."""
        return np.where(node == self.last, self.short, 1.0)

    def later(self, node: Places, parent: Places, place: Places) -> Array:
        """Return the weight of a node's siblings to the right of it."""
        of_last = parent == self.last // self.children
        count = np.where(of_last, self.family - 1, self.children - 1) - place
        return np.where(of_last & (node != self.last), count - 1 + self.short, count)


def tree_variances(tree: Tree, ranges: Ranges, variances: Sequence[float] = ()) -> Array:
    """Return the variance of every range under least squares on a tree, O(log n) a range for any branching.

    With s a node's weight, r the share of it in the range and e the spread of the shares below it (module docstring):
    between children of weights s_c, e grows by sum over pairs s_c s_d (r_c - r_d)^2 / S. At each height a range has at
    most two nodes that it holds in part; their siblings have r = 1 or r = 0. Relative error about 2^-50 height.

    Args:
        tree: what was measured; at most 2^60 cells.
        ranges: of the tree's cells.
        variances: of the noise on every measured level, from the top; left out, 1.

    Raises:
        ValueError: there is not one variance a level.
    """
    if variances and len(variances) != len(tree.levels):
        raise ValueError(f"expected {len(tree.levels)} variances, one for each level, got {len(variances)}")
    by_height = [*reversed(variances or (1.0,) * len(tree.levels)), math.inf][: tree.height + 1]
    *levels, root = _levels(tree, by_height)

    def price(start: Places, stop: Places) -> Array:
        mean, spread = _climb(levels, start, stop - 1)
        return spread + root.weight * root.short * mean**2

    return by_chunks(ranges, price)


def _levels(tree: Tree, by_height: Sequence[float]) -> Iterator[_Level]:
    """Yield the levels from the leaves up, the root's last."""
    whole, last, size = by_height[0], by_height[0], tree.cells
    for variance in [*by_height[1:], math.nan]:
        family = (size - 1) % tree.branching + 1
        yield _Level(whole, size - 1, last / whole, tree.branching, family)
        both = tree.branching * whole, (family - 1) * whole + last
        whole, last = (total / (1 + total / variance) for total in both)
        size = -(-size // tree.branching)


def _climb(levels: Sequence[_Level], first: Places, last: Places) -> tuple[Array, Array]:
    """Return the root's r and e for ranges between two cells, counted from 0.

    Ranges are put in the order of the height at which their ends meet in one node, so that at every height those whose
    ends have met, meet now, and are apart lie side by side.
    """
    heights = _meeting(levels, first, last)
    order = np.argsort(heights.astype(np.int16), kind="stable")  # short integers are sorted by radix
    bounds = np.cumsum(np.bincount(heights, minlength=len(levels) + 1))
    left, right = first[order], last[order]
    state = np.zeros((4, first.size))
    state[::2] = 1.0
    for height, level in enumerate(levels):
        met, meeting = slice(bounds[height]), slice(bounds[height], bounds[height + 1])
        apart = slice(bounds[height + 1], None)
        parents = left // level.children, right // level.children
        _together(level, right[met], parents[1][met], state[:2, met])
        _meet(level, left[meeting], right[meeting], parents[1][meeting], state[:, meeting])
        _left(level, left[apart], parents[0][apart], state[:2, apart])
        _right(level, right[apart], parents[1][apart], state[2:, apart])
        left, right = parents
    out = np.empty((2, first.size))
    out[:, order] = state[:2]
    return out[0], out[1]


def _meeting(levels: Sequence[_Level], first: Places, last: Places) -> Places:
    """Return the height of the lowest node that holds both ends."""
    heights = np.zeros(first.size, np.int64)
    for level in levels:
        heights += first != last
        first, last = first // level.children, last // level.children
    return heights


def _together(level: _Level, node: Places, parent: Places, state: Array) -> None:
    """Go up from the one node that holds the range: all its siblings are outside."""
    if not node.size:
        return
    mean, spread = state
    place = node - parent * level.children
    at_node = level.node_weight(node)
    outside = place + level.later(node, parent, place)
    share = at_node / (at_node + outside)
    spread += level.weight * outside * share * mean**2
    mean *= share


def _meet(level: _Level, left: Places, right: Places, parent: Places, state: Array) -> None:
    """Go up from two nodes to the parent of both: what lies between is inside, the rest outside."""
    if not left.size:
        return
    mean, spread, right_mean, right_spread = state
    at_node = level.node_weight(right)
    inside = (right - left - 1).astype(np.float64)
    start = parent * level.children
    outside = (left - start) + level.later(right, parent, right - start)
    total = inside + outside + 1 + at_node
    pairs = inside * outside + at_node * (mean - right_mean) ** 2
    pairs += inside * ((1 - mean) ** 2 + at_node * (1 - right_mean) ** 2)
    pairs += outside * (mean**2 + at_node * right_mean**2)
    spread += right_spread + level.weight * pairs / total
    mean += inside + at_node * right_mean
    mean /= total


def _left(level: _Level, node: Places, parent: Places, state: Array) -> None:
    """Go up from the node of the first end, not the last of its level: siblings to the right are inside."""
    if not node.size:
        return
    mean, spread = state
    outside = (node - parent * level.children).astype(np.float64)
    inside = (level.children - 1) - outside
    pairs = inside * outside + inside * (1 - mean) ** 2 + outside * mean**2
    spread += pairs * (level.weight / level.children)
    mean += inside
    mean /= level.children


def _right(level: _Level, node: Places, parent: Places, state: Array) -> None:
    """Go up from the node of the last end: siblings to the left are inside."""
    if not node.size:
        return
    mean, spread = state
    place = node - parent * level.children
    inside, at_node = place.astype(np.float64), level.node_weight(node)
    outside = level.later(node, parent, place)
    total = inside + at_node + outside
    pairs = inside * outside + at_node * (inside * (1 - mean) ** 2 + outside * mean**2)
    spread += level.weight * pairs / total
    mean *= at_node
    mean += inside
    mean /= total
