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
    means, sure = _upward(answers, precisions)
    levels = [np.array([max(total, 0.0)])]
    for mean, precision in zip(means[1:], sure[1:], strict=True):
        parents, families = levels[-1], precision.reshape(-1, CHILDREN)
        counts = np.repeat(parents / CHILDREN, CHILDREN).reshape(-1, CHILDREN)
        measured = np.all(families > 0, axis=1)
        children = mean.reshape(-1, CHILDREN)
        counts[measured] = on_weighted_simplex(children[measured], families[measured], parents[measured])
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
    values, weights = (np.take_along_axis(numbers, order, axis=1) for numbers in (rows, precisions))
    shifts = (np.cumsum(values, axis=1) - totals[:, None]) / np.cumsum(1 / weights, axis=1)
    kept = np.sum(values * weights > shifts, axis=1)
    shift = np.take_along_axis(shifts, np.maximum(kept - 1, 0)[:, None], axis=1)
    out = np.maximum(rows - shift / precisions, 0.0)
    out[totals <= 0] = 0.0
    return np.asarray(out)


def _upward(answers: Sequence[Array], precisions: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Return every node's inverse-variance mean of its own answer and its children's sum, with its precision."""
    means, sure = [answers[-1]], [precisions[-1]]
    for answer, precision in zip(answers[-2::-1], precisions[-2::-1], strict=True):
        families = sure[0].reshape(-1, CHILDREN)
        measured = np.all(families > 0, axis=1)
        spread = (1 / np.where(measured[:, None], families, 1.0)).sum(axis=1)
        below = np.where(measured, 1 / spread, 0.0)
        both = precision + below
        sums = means[0].reshape(-1, CHILDREN).sum(axis=1)
        means.insert(0, (precision * answer + below * sums) / np.where(both > 0, both, 1.0))
        sure.insert(0, both)
    return means, sure
