"""Least squares: every cell, any query and its exact variance from the answers of a map that determines the cells."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.haar import Haar
from dpress.core.linear import Array, Identity, Variance
from dpress.core.measurement import Measurement
from dpress.core.tree import Tree


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """Answers from the best linear unbiased estimate of the cells.

    Error: w Cov w^T, Cov = (A^T V^-1 A)^-1 where the map has full rank, in counts squared.
    Paper: Li et al. 2010 (the matrix mechanism's reconstruction).

    Args:
        map: what was measured.
        shape: the axes of the table whose cells these are, flattened; prod(shape) = map.cells.
    """

    map: Identity | Tree | Haar
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if math.prod(self.shape) != self.map.cells:
            raise ValueError(f"a table of shape {self.shape} has no {self.map.cells} cells")

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The only table: all axes."""
        return (tuple(range(len(self.shape))),)

    def estimate(self, measurement: Measurement) -> tuple[Array, ...]:
        """Return the estimate of every cell, flat."""
        return (self.map.reconstruct(measurement.answers, measurement.variance),)

    def cell_variances(self, variance: Variance) -> tuple[Array, ...]:
        """Return the variance of every cell, flat; O(n log n)."""
        if isinstance(self.map, Identity):
            return (np.broadcast_to(np.asarray(variance, dtype=np.float64), (self.map.cells,)),)
        return (_haar(self.map, variance) if isinstance(self.map, Haar) else _tree(self.map, variance),)

    def answer(self, measurement: Measurement, weights: Sequence[Array]) -> float:
        """Return the sum of the estimated cells times the query's weights."""
        return float(flat(weights) @ self.estimate(measurement)[0])

    def query_variance(self, variance: Variance, weights: Sequence[Array]) -> float:
        """Return w Cov w^T; for equal noise on every cell the product of the squared norms of the axes' weights."""
        if isinstance(self.map, Identity) and np.ndim(variance) == 0:
            return float(variance) * math.prod(float(axis @ axis) for axis in weights)
        query = flat(weights)
        return float(query @ self.map.covariance(query, variance))


def flat(weights: Sequence[Array]) -> Array:
    """Return a product query as one weight for every cell of the flattened table."""
    query = np.ones(1)
    for axis in weights:
        query = np.multiply.outer(query, axis).ravel()
    return query


def _haar(matrix: Haar, variance: Variance) -> Array:
    """Sum the variance of a cell's h + 1 rows, each divided by the squared support: A^-1 has entries +-1 / support."""
    spread = np.broadcast_to(variance, (matrix.rows,)) / matrix.support**2
    total = spread[:1]
    for level in range(matrix.height):
        total = np.repeat(total + spread[1 << level : 2 << level], 2)
    return total[: matrix.cells]


def _tree(matrix: Tree, variance: Variance) -> Array:
    """Subtract what every inner node above a cell explains: kappa_u a_u(cell)^2 (see `error.tree_average`)."""
    *above, size = matrix.split(np.broadcast_to(np.asarray(variance, dtype=np.float64), (matrix.rows,)))
    reach, total, width = size.copy(), size.copy(), 1
    for level in reversed(above):
        width *= matrix.branching
        sums = matrix.children(size).sum(axis=1)
        total -= reach**2 * np.repeat(1 / (level + sums), width)[: matrix.cells]
        keep = 1 / (1 + sums / level)
        reach, size = reach * np.repeat(keep, width)[: matrix.cells], sums * keep
    return total
