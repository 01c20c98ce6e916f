"""The direct method of the GT-R document, its error and where GT-R's is smaller: Theorem 6 and the crossover.

Direct: every user perturbs all cells of the map, and a query adds up the noisy counts of its cells. Its error grows
with the area, GT-R's with the number of the quadtree's nodes that make up the query.
"""

import math

import numpy as np

from dpress.core.basics import check
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.maps.linear import Array

BOUND = 32.0  # of Theorem 6, in units of n e^epsilon / (e^epsilon - 1)^2 a node
DIRECT = 4.0  # the same a cell


def direct(cells: float, users: int, epsilon: float) -> float:
    """Return the variance of a query by the direct method with OUE, in counts squared.

    Error: 4 A n e^epsilon / (e^epsilon - 1)^2, A the cells of the query; those who are in it add 1 each at most.
    Paper: Zhang, Fu, Meng, the error of the direct method.

    Args:
        cells: that the query covers, A.
        users: who report, n.
        epsilon: of a report.

    >>> round(direct(64, 1000, 1.0))
    235692
    """
    return DIRECT * cells * _unit(users, epsilon)


def direct_laplace(cells: float, users: int, epsilon: float) -> float:
    """Return that of the direct method with Laplace noise, of scale 2 / epsilon, on every user's every cell.

    Two positions differ in two cells by 1 each, so that the sensitivity is 2.

    Error: 8 A n / epsilon^2.
    Paper: Zhang, Fu, Meng, the error of the direct method; with A = (b - a) (d - c).

    Args:
        cells: that the query covers, A.
        users: who report, n.
        epsilon: of a report.

    >>> direct_laplace(64, 1000, 1.0)
    512000.0
    """
    _check(users, epsilon)
    return 8.0 * cells * users / epsilon**2


def largest(nodes: float, users: int, epsilon: float) -> float:
    """Return what the document gives for GT-R's largest error: 32 eta n e^epsilon / (e^epsilon - 1)^2.

    It is l eta times the variance of a count, 4 n e^epsilon / (e^epsilon - 1)^2, with l = 8 levels, every one of them
    answered by n / l users. On a grid of another height the factor is another one. eta is no constant: the rectangles
    of a grid of side s need up to about 4 s nodes (`nodes_used`).

    Paper: Zhang, Fu, Meng, Theorem 6.

    Args:
        nodes: that answer the query, eta.
        users: who report, n.
        epsilon: of a report.
    """
    return BOUND * nodes * _unit(users, epsilon)


def crossover(nodes: float) -> float:
    """Return the number of cells from which GT-R errs less than the direct method, by Theorem 6: 8 eta.

    Args:
        nodes: that answer the query, eta.

    >>> crossover(4)
    32.0
    """
    return BOUND / DIRECT * nodes


def nodes_used(grid: Grid, rectangles: Rectangles) -> Array:
    """Return how many nodes of the quadtree answer each rectangle from the top (TDT), shape (m,): eta.

    The largest nodes within, and the cells that it cuts.

    Args:
        grid: of side 2^h.
        rectangles: their ends in cells of the grid.

    Raises:
        ValueError: the grid has no quadtree.

    >>> ends = [np.array([end]) for end in (0.0, 4.0, 0.0, 3.0)]
    >>> nodes_used(Grid(4), Rectangles(*ends)).tolist()
    [6.0]
    """
    if grid.height is None:
        raise ValueError(f"side must be a power of two, got side={grid.side}")
    total = above = np.zeros(len(rectangles.left))
    for level in range(grid.height):
        whole = _whole(rectangles, grid.side >> level)
        total, above = total + whole - 4 * above, whole
    return np.asarray(total + _touched(rectangles) - 4 * above)


def _whole(rectangles: Rectangles, width: int) -> Array:
    """Return how many nodes of a width lie within."""
    ends = (rectangles.left, rectangles.right), (rectangles.bottom, rectangles.top)
    across, up = (np.maximum(np.floor(high / width) - np.ceil(low / width), 0) for low, high in ends)
    return np.asarray(across * up)


def _touched(rectangles: Rectangles) -> Array:
    """Return how many cells lie within or are cut."""
    ends = (rectangles.left, rectangles.right), (rectangles.bottom, rectangles.top)
    across, up = (np.ceil(high) - np.floor(low) for low, high in ends)
    return np.asarray(across * up)


def _unit(users: int, epsilon: float) -> float:
    """Return n e^epsilon / (e^epsilon - 1)^2."""
    _check(users, epsilon)
    return users * math.exp(epsilon) / math.expm1(epsilon) ** 2


def _check(users: int, epsilon: float) -> None:
    check.count("users", users)
    if not epsilon > 0:
        raise ValueError(f"epsilon must be > 0, got epsilon={epsilon}")
