"""The mean variance over a tree of regions and its slope by the precisions of its levels, of many spaces at once."""

from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.regions.subtrees import Subtrees


def weighted_variances(trees: Subtrees, precisions: Array, weights: Array) -> tuple[Array, Array]:
    """Return the sum over levels of weight times the sum of its nodes' variances, and its slopes by the precisions.

    The variances are those of `SpaceTree`. In a subtree their weighted sum is rest + gain V of its root, where, going
    up, gain = weight + sum of (e_c / v)^2 gain_c and rest = sum of (gain_c e_c (1 - e_c / v) + rest_c); the slopes go
    the same way back.

    Args:
        trees: the regions.
        precisions: of every space and level, shape (spaces, levels), as in `SpaceTree`, positive at some level.
        weights: of a node's variance, of the same shape. Where one below the last precision is positive, the sum is
            infinite and has no slope.

    Returns:
        Shapes (spaces,) and (spaces, levels).
    """
    levels = precisions.shape[1]
    deepest = levels - 1 - np.argmax(precisions[:, ::-1] > 0, axis=1)
    exact = np.isinf(precisions)
    top = np.where(exact.any(axis=1), levels - 1 - np.argmax(exact[:, ::-1], axis=1), 0)
    totals, slopes = np.full(len(precisions), np.inf), np.zeros(precisions.shape)
    open_ = np.array([weight[last + 1 :].any() for weight, last in zip(weights, deepest, strict=True)])
    for first, last in {*zip(top[~open_].tolist(), deepest[~open_].tolist(), strict=True)}:
        alike = (top == first) & (deepest == last) & ~open_
        totals[alike], slopes[alike] = _alike(trees, precisions[alike], weights[alike], (first, last))
    return totals, slopes


@dataclass(frozen=True, kw_only=True, eq=False)
class Rise:
    """A level on the way up, shapes (spaces, subtrees).

    Args:
        alone: the variance e of a node from its subtree.
        below: the variance v of the sum of its children.
        gain: how the weighted sum of the subtree's variances grows with that of its root.
        rest: what it is where the root's is 0.
    """

    alone: Array
    below: Array
    gain: Array
    rest: Array


def _alike(trees: Subtrees, precisions: Array, weights: Array, ends: tuple[int, int]) -> tuple[Array, Array]:
    """Return variances and slopes of spaces with the same levels: from the root or the last exact one to the deepest.

    The variances of exact nodes and of those above are 0, so each exact node counts as a root.
    """
    top, deepest = ends
    rises = _rises(trees, precisions, weights, ends)
    slopes = np.zeros(precisions.shape)
    exact, root = np.isinf(precisions[:, top : top + 1]), rises[0]
    nodes = np.broadcast_to(trees.nodes[top].astype(np.float64), root.alone.shape)
    by = (np.where(exact, 0.0, root.gain), np.where(exact, 0.0, root.alone), nodes)
    for level in range(top, deepest):
        slopes[:, level] = -(by[0] * rises[level - top].alone ** 2).sum(axis=1)
        by = _back(trees, level, (rises[level - top], rises[level - top + 1]), weights[:, level : level + 1], by)
    slopes[:, deepest] = -(by[0] * rises[-1].alone ** 2).sum(axis=1)
    totals = nodes * (root.rest + np.where(exact, 0.0, root.gain * root.alone))
    return totals.sum(axis=1), slopes


def _rises(trees: Subtrees, precisions: Array, weights: Array, ends: tuple[int, int]) -> list[Rise]:
    top, deepest = ends
    shape = (len(precisions), len(trees.nodes[deepest]))
    last = slice(deepest, deepest + 1)
    alone, gain = np.broadcast_to(1 / precisions[:, last], shape), np.broadcast_to(weights[:, last], shape)
    rises = [Rise(alone=alone, below=np.zeros(shape), gain=gain, rest=np.zeros(shape))]
    for level in range(deepest - 1, top - 1, -1):
        children, lower = trees.children[level], rises[0]
        alone, gain = lower.alone[:, children.child], lower.gain[:, children.child]
        below = children.sums(alone)
        part = alone / below[:, children.parent]
        rise = Rise(
            alone=below / (1 + precisions[:, level : level + 1] * below),
            below=below,
            gain=weights[:, level : level + 1] + children.sums(part**2 * gain),
            rest=children.sums(gain * alone * (1 - part) + lower.rest[:, children.child]),
        )
        rises.insert(0, rise)
    return rises


Slopes = tuple[Array, Array, Array]
"""By alone, gain and rest of a level's subtrees."""


def _back(trees: Subtrees, level: int, rises: tuple[Rise, Rise], weights: Array, by: Slopes) -> Slopes:
    """Return the slopes by the next level's subtrees, given those by the level's."""
    children, (upper, lower) = trees.children[level], rises
    passed = upper.gain - weights
    by_below = by[0] * (upper.alone / upper.below) ** 2 + passed * (by[2] - 2 * by[1] / upper.below)
    alone, gain = lower.alone[:, children.child], lower.gain[:, children.child]
    below, by_gain, by_rest = (values[:, children.parent] for values in (upper.below, by[1], by[2]))
    part = alone / below
    by_alone = by_below[:, children.parent] + gain * (2 * by_gain * part / below + by_rest * (1 - 2 * part))
    return (
        children.back(by_alone),
        children.back(by_gain * part**2 + by_rest * alone * (1 - part)),
        children.back(by_rest),
    )
