"""Counts of the cells below a quadtree of uneven depth, whose nodes were measured unequally well, none below 0.

noisy nodes -> every node's best estimate from its own subtree (upward) -> from the root, every family the nearest
counts >= 0 that add up to their parent (downward) -> a node without measured children spread evenly over them.
"""

from collections.abc import Sequence

import numpy as np

from dpress.core.maps.linear import Array

CHILDREN = 4


def nonnegative(answers: Sequence[Array], precisions: Sequence[Array], total: float) -> list[Array]:
    """Return the counts of all nodes, level by level from the root.

    Args:
        answers: of every level from the root, shapes (1,), (4,), (16,) ...; the root's is not used.
        precisions: one over the variance of each; 0 where there is no answer. Of four children all or none have an
            answer, their own or one below them.
        total: the root's count, which is known.
    """
    found, known = _upward(answers, precisions)
    levels = [np.array([max(total, 0.0)])]
    for own, sure in zip(found[1:], known[1:], strict=True):
        parents, families = levels[-1], sure.reshape(-1, CHILDREN)
        counts = np.repeat(parents / CHILDREN, CHILDREN).reshape(-1, CHILDREN)
        asked = np.all(families > 0, axis=1)
        counts[asked] = on_weighted_simplex(own.reshape(-1, CHILDREN)[asked], families[asked], parents[asked])
        levels.append(counts.ravel())
    return levels


def on_weighted_simplex(rows: Array, precisions: Array, totals: Array) -> Array:
    """Return for every row the point that is >= 0, adds up to the row's total and has the least weighted squares.

    Formula: max(y_i - lambda / w_i, 0) minimises sum w_i (x_i - y_i)^2. An entry is kept where w_i y_i > lambda, so
    that sorting by w y and trying every number of kept entries finds it, as for equal weights.

    >>> on_weighted_simplex(np.array([[3.0, 1.0, 0.0, 0.0]]), np.array([[1.0, 3.0, 1.0, 1.0]]), np.array([2.0]))
    array([[1.5, 0.5, 0. , 0. ]])
    """
    order = np.argsort(-rows * precisions, axis=1)
    values, weights = (np.take_along_axis(own, order, axis=1) for own in (rows, precisions))
    shifts = (np.cumsum(values, axis=1) - totals[:, None]) / np.cumsum(1 / weights, axis=1)
    kept = np.sum(values * weights > shifts, axis=1)
    shift = np.take_along_axis(shifts, np.maximum(kept - 1, 0)[:, None], axis=1)
    out = np.maximum(rows - shift / precisions, 0.0)
    out[totals <= 0] = 0.0
    return np.asarray(out)


def _upward(answers: Sequence[Array], precisions: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Return every node's inverse-variance mean of its own answer and its children's sum, with its precision."""
    found, known = [answers[-1]], [precisions[-1]]
    for own, sure in zip(answers[-2::-1], precisions[-2::-1], strict=True):
        families = known[0].reshape(-1, CHILDREN)
        asked = np.all(families > 0, axis=1)
        spread = (1 / np.where(asked[:, None], families, 1.0)).sum(axis=1)
        below = np.where(asked, 1 / spread, 0.0)
        both = sure + below
        sums = found[0].reshape(-1, CHILDREN).sum(axis=1)
        found.insert(0, (sure * own + below * sums) / np.where(both > 0, both, 1.0))
        known.insert(0, both)
    return found, known
