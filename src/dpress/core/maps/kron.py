"""Kronecker products: a table of several axes is measured along each of them, by what the matrix does."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import cast

import numpy as np

from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array, Invertible, Numbers, Variance
from dpress.core.maps.sine import Sine


def kron(factors: Sequence[Invertible]) -> Invertible:
    """Return the product of maps, the first axis outermost; sine transforms join in one, which is rounded once."""
    if all(isinstance(factor, Sine) for factor in factors):
        return Sine(tuple(size for factor in cast("Sequence[Sine]", factors) for size in factor.shape))
    return Kron(tuple(factors)) if len(factors) > 1 else factors[0]


@dataclass(frozen=True, slots=True)
class Kron(Invertible):
    """A_1 x ... x A_k on a table of k axes, flattened: every query is a product of one query of each axis.

    Args:
        factors: one map for every axis; none of them rounds, and no two columns of one have a negative product.
    """

    factors: tuple[Invertible, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along every axis."""
        return tuple(factor.cells for factor in self.factors)

    @property
    def cells(self) -> int:
        """The number of columns."""
        return math.prod(self.shape)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return math.prod(factor.rows for factor in self.factors)

    @property
    def step(self) -> float:
        """The product of the factors' units."""
        return math.prod(factor.step for factor in self.factors)

    def apply(self, cells: Numbers) -> Numbers:
        """Return A x, one axis after the other."""
        return self._along(lambda factor, line: factor.apply(line), cells, self.shape)

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        return self._along(lambda factor, line: factor.transpose(line), answers, self._heights)

    def sensitivity(self, order: int, relation: Relation) -> Fraction:
        """Return the product of the factors' sensitivities; twice that where a row moves, which it does not exceed.

        Two columns' squared distance is the sum of their squared norms less twice their product, which is not negative.
        """
        if relation is Relation.REPLACE_ONE and self.cells == 1:
            return Fraction(0)
        single = math.prod(Fraction(factor.sensitivity(order, Relation.ADD_REMOVE)) for factor in self.factors)
        return Fraction(single) if relation is Relation.ADD_REMOVE else Fraction(2 * single)

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return the least-squares estimate of the cells, axis by axis."""
        self._check_equal(variance)
        return self._along(lambda factor, line: factor.reconstruct(line, 1.0), answers, self._heights)

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return variance (A_1^T A_1)^-1 x ... x (A_k^T A_k)^-1 w."""
        self._check_equal(variance)
        return variance * self._along(lambda factor, line: factor.covariance(line, 1.0), weights, self.shape)

    def cell_variances(self, variance: Variance) -> Array:
        """Return the product of the factors' variances of their cells."""
        self._check_equal(variance)
        out = np.ones(1)
        for factor in self.factors:
            out = np.multiply.outer(out, factor.cell_variances(1.0)).ravel()
        return out * variance

    def by_axis(self, shape: Sequence[int]) -> tuple[Invertible, ...]:
        """Return the factors."""
        del shape
        return self.factors

    def product_variance(self, weights: Sequence[Array], variance: Variance) -> float | None:
        """Return the product of the factors' variances, where all noise is equal."""
        if np.ndim(variance):
            return None
        pairs = zip(self.factors, weights, strict=True)
        return float(variance) * math.prod(float(axis @ factor.covariance(axis, 1.0)) for factor, axis in pairs)

    @property
    def _heights(self) -> tuple[int, ...]:
        return tuple(factor.rows for factor in self.factors)

    def _along(
        self, operation: Callable[[Invertible, Numbers], Numbers], flat: Numbers, shape: tuple[int, ...]
    ) -> Numbers:
        """Return a flat table after an operation of its factor on every line along every axis."""
        table = np.asarray(flat).reshape(shape)
        for axis, factor in enumerate(self.factors):
            table = np.apply_along_axis(partial(operation, factor), axis, table)
        return np.asarray(table).ravel()

    def _check_equal(self, variance: Variance) -> None:
        if np.ndim(variance):
            raise NotSupported("a product of strategies is reconstructed from answers of one variance")
