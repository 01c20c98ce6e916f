"""The counts below every edge of a tree's cells, and the variances of the forms that quantiles are read off.

noisy nodes -> least squares -> prefixes; a tree's exact variances -> those of P_x - q N.
"""

import functools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Ranges
from dpress.mechanisms.linear.hierarchy import Hierarchy

Counted = tuple[Array, Array]
"""An unbiased number of every set, and its variance."""


def prefixes(tree: Hierarchy, nodes: Array, variance: float) -> Array:
    """Return the counts below every edge of the cells by least squares, shape (sets, cells + 1).

    Args:
        tree: over the cells.
        nodes: noisy counts of its nodes, shape (sets, nodes).
        variance: of one of them.
    """
    cells = np.array([tree.map.reconstruct(row, variance) for row in nodes])
    return np.concatenate([np.zeros((len(cells), 1)), cells.cumsum(axis=1)], axis=1)


def form_variances(tree: Hierarchy, variance: float, q: float) -> Array:
    """Return the variance of P_x - q N in one group: (1 - q) V(P_x) + q V(N - P_x) - q (1 - q) V(N), exact.

    It follows from Cov(P, N - P) = (V(N) - V(P) - V(N - P)) / 2.
    """
    below, above = prefix_variances(tree, variance)
    variances: Array = (1 - q) * below + q * above - q * (1 - q) * below[-1]
    return np.clip(variances, 0, None)


def mean_form_variance(tree: Hierarchy, variance: float, quantiles: Sequence[Fraction]) -> float:
    """Return the mean of `form_variances` over all edges and some quantiles, in one pass over the edges."""
    below, above = prefix_variances(tree, variance)
    q = np.array([*map(float, quantiles)])
    return float(np.mean((1 - q) * below.mean() + q * above.mean() - q * (1 - q) * below[-1]))


@functools.lru_cache(maxsize=4)
def prefix_variances(tree: Hierarchy, variance: float) -> Counted:
    """Return the variances of the counts below and above every edge of a group's cells, shape (cells + 1,) each."""
    cells = tree.cells
    places, zero = np.arange(1, cells + 1), np.zeros(1)
    below = tree.range_variances(Ranges(cells, np.ones(cells, dtype=np.int64), places), (variance,))
    above = tree.range_variances(Ranges(cells, places, np.full(cells, cells)), (variance,))
    return np.concatenate([zero, below]), np.concatenate([above, zero])
