"""How far a rectangle's count from OUE reports can be from the truth: the GT-R document's Theorem 5 (Bernstein)."""

import math
from collections.abc import Sequence

import numpy as np

from dpress.core.maps.grid import Rectangles
from dpress.core.maps.linear import Array
from dpress.inference.maps.density import TreeNoise


def rectangle_bernstein(
    noise: TreeNoise, users: Sequence[int], epsilon: float, rectangles: Rectangles, *, beta: float
) -> Array:
    """Return for every rectangle the t with P(|estimate - truth| >= t) <= beta, shape (m,).

    Least squares makes a rectangle's estimate the sum of g_v c'(v) over all nodes. With g = V^-1 A (A^T V^-1 A)^-1 w, w
    the rectangle's share of every cell, the report of a user of level l adds (n / n_l) sum_v g_v z_v, which lies within
    (n / n_l) c sum_v |g_v| of its mean and has a variance of at most (n / n_l)^2 (s sum_v g_v^2 + max_v g_v^2): a bit
    lies within c = 2 (e^epsilon + 1) / (e^epsilon - 1) of its mean and has the variance s = 4 e^epsilon /
    (e^epsilon - 1)^2, 1 more where it is the user's; and a user is in one node of the level.

    Error: for people who keep to their level, as in the document: who was drawn for it adds to the error. What a cut
    cell hides is left out, and the weights are those of `noise`.
    Paper: Zhang, Fu, Meng, Theorem 5; here for all nodes of the tree at once.

    Args:
        noise: of the tree, or of a flat grid.
        users: n_l of every level, the root's first; 0 where none was asked.
        epsilon: of one report.
        rectangles: their ends in cells of the grid.
        beta: between 0 and 1.
    """
    _check(epsilon, beta)
    everybody, (largest, spread) = sum(users), _report(epsilon)
    furthest: Array = np.zeros(len(rectangles.left))
    variance: Array = np.zeros(len(rectangles.left))
    for level_users, weights in zip(users, tree_weights(noise, rectangles), strict=True):
        if level_users:
            size = np.abs(weights)
            furthest = np.asarray(np.maximum(furthest, everybody / level_users * largest * size.sum(axis=1)))
            variance += everybody**2 / level_users * (spread * (weights**2).sum(axis=1) + size.max(axis=1) ** 2)
    return _solved(furthest, variance, beta)


def tree_weights(noise: TreeNoise, rectangles: Rectangles) -> list[Array]:
    """Return how much every node counts in each rectangle's estimate by least squares, level by level.

    Shape (m, nodes), rows of nodes across and then up. A^T V^-1 A is the information of all levels below on the
    differences between the children of one parent (`TreeNoise`), by which w is divided.

    Args:
        noise: of the tree.
        rectangles: their ends in cells of the grid.
    """
    side, height = noise.grid.side, len(noise.levels) - 1
    shares = _shares(rectangles.left, rectangles.right, side)[:, :, None]
    shares = shares * _shares(rectangles.bottom, rectangles.top, side)[:, None, :]
    solved: Array = np.zeros_like(shares)
    before: Array = np.zeros_like(shares)
    for level in range(height + 1):
        width = 1 << (height - level)
        averaged = np.asarray(np.kron(_blocks(shares, width) / width**2, np.ones((1, width, width))))
        solved += (averaged - before) / sum(4.0 ** (height - k) / noise.levels[k] for k in range(level, height + 1))
        before = averaged
    each = (_blocks(solved, 1 << (height - level)) / users for level, users in enumerate(noise.levels))
    return [weights.reshape(len(weights), -1) for weights in each]


def _blocks(images: Array, width: int) -> Array:
    """Return the sums over squares of this width, shape (m, side / width, side / width)."""
    side = images.shape[1] // width
    return np.asarray(images.reshape(-1, side, width, side, width).sum(axis=(2, 4)))


def _shares(low: Array, high: Array, side: int) -> Array:
    """Return the share of every strip of cells between two ends, shape (m, side)."""
    edges = np.arange(side)
    return np.asarray(np.clip(np.minimum(high[:, None], edges + 1) - np.maximum(low[:, None], edges), 0, 1))


def _report(epsilon: float) -> tuple[float, float]:
    """Return how far a bit's part of an estimate lies from its mean at most, and its variance where it is 0.

    That of the own bit is larger by 1: ((e^epsilon + 1) / (e^epsilon - 1))^2.
    """
    odds = math.exp(epsilon)
    return 2 * (odds + 1) / (odds - 1), 4 * odds / (odds - 1) ** 2


def _solved(furthest: Array, variance: Array, beta: float) -> Array:
    """Return t where Bernstein's inequality gives beta."""
    log = math.log(2 / beta)
    first = furthest * log / 3
    return np.asarray(first + np.sqrt(first**2 + 2 * variance * log))


def _check(epsilon: float, beta: float) -> None:
    if not (epsilon > 0 and 0 < beta < 1):
        raise ValueError(f"epsilon must be > 0 and beta between 0 and 1, got epsilon={epsilon}, beta={beta}")
