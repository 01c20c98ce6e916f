"""Counts of a quadtree's cells from noisy counts of its nodes: least squares, or non-negative, family by family.

noisy levels -> every node's best estimate from its own subtree (upward) -> children made to add up to their parent
(downward), by the mean or by the nearest point of the simplex.
"""

from collections.abc import Sequence

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.tree import Tree

CHILDREN = 4


def consistent(tree: Tree, answers: Array, variances: Sequence[float], *, nonnegative: bool) -> Array:
    """Return the counts of all cells.

    Args:
        tree: of branching 4, its root included.
        answers: of all levels, the root's first.
        variances: one for every level; infinite where it was not measured, 0 where it is known.
        nonnegative: without it that is weighted least squares, unbiased (Hay, Rastogi, Miklau and Suciu 2010). With it,
            each family is the point nearest to its estimates among those >= 0 that add up to the parent: biased, and
            much nearer to the truth where many cells are empty, as noise cannot pile up where nobody is.

    >>> tree = Tree(4, 4)
    >>> consistent(tree, np.array([5.0, 2, 1, 1, 2]), [1.0, 1.0], nonnegative=False).round(2).tolist()
    [1.8, 0.8, 0.8, 1.8]
    """
    (root, _), *below = tree.combined(answers, variances)
    parents = np.maximum(root, 0.0) if nonnegative else root
    for children, _ in below:
        families = children.reshape(-1, CHILDREN)
        if nonnegative:
            parents = on_simplex(families, parents).ravel()
        else:
            parents = (families + (parents - families.sum(axis=1))[:, None] / CHILDREN).ravel()
    return parents


def on_simplex(rows: Array, totals: Array) -> Array:
    """Return for every row the nearest point that is >= 0 and adds up to the row's total.

    Source: Held, Wolfe and Crowder 1974: sort, and take the same number off the largest entries.

    >>> on_simplex(np.array([[3.0, 1.0, -2.0, 0.0]]), np.array([2.0])).tolist()
    [[2.0, 0.0, 0.0, 0.0]]
    """
    out, held = np.zeros_like(rows), np.flatnonzero(totals > 0)  # few rows of a fine map hold anybody
    kept_rows = rows[held]
    ordered = -np.sort(-kept_rows, axis=1)
    places = np.arange(1, rows.shape[1] + 1)
    excess = (np.cumsum(ordered, axis=1) - totals[held, None]) / places
    kept = (ordered > excess).sum(axis=1)
    shift = np.take_along_axis(excess, np.maximum(kept - 1, 0)[:, None], axis=1)
    out[held] = np.maximum(kept_rows - shift, 0.0)
    return out
