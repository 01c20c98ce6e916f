"""Least squares: every cell, any query and its exact variance from the answers of a map that determines the cells."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpress.core.maps.linear import Array, Invertible, Variance
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import Ranges
from dpress.inference.box_sums import box_sums

if TYPE_CHECKING:
    from dpress.inference.covariance import Covariance


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """Answers from the best linear unbiased estimate of the cells.

    Error: w Cov w^T, Cov = (A^T V^-1 A)^-1 where the map has full rank, in counts squared.
    Paper: Li et al. 2010 (the matrix mechanism's reconstruction).

    Args:
        map: what was measured.
        shape: the axes of the table whose cells these are, flattened; prod(shape) = map.cells.
    """

    map: Invertible
    shape: tuple[int, ...]
    symmetric: ClassVar[bool] = True

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
        """Return the variance of every cell, flat."""
        return (self.map.cell_variances(variance),)

    def answer(self, measurement: Measurement, weights: Sequence[Array]) -> float:
        """Return the sum of the estimated cells times the query's weights.

        Args:
            measurement: of the map.
            weights: of every axis, shape (its cells,) each.

        Raises:
            ValueError: they are of other shapes.
        """
        if tuple(map(np.size, weights)) != self.shape:
            raise ValueError(
                f"a query is a list of one vector of weights for every axis, of {self.shape} cells, got shape "
                f"{np.shape(weights)}; of the rows of a matrix ask one after the other, as answer(measurement, [row])"
            )
        return float(flat(weights) @ self.estimate(measurement)[0])

    def box_answers(self, measurement: Measurement, ranges: Sequence[Ranges]) -> Array:
        """Return the sums of the estimated cells in many boxes, shape (m,)."""
        return box_sums(self.estimate(measurement)[0].reshape(self.shape), ranges)

    def query_variance(self, variance: Variance, weights: Sequence[Array]) -> float:
        """Return w Cov w^T."""
        if (by_axis := self.map.product_variance(weights, variance)) is not None:
            return by_axis
        query = flat(weights)
        return float(query @ self.map.covariance(query, variance))

    def form_covariance(self, variance: Variance, axes: tuple[int, ...]) -> "Covariance":
        """Return the exact covariance of sums of a table's cells."""
        return partial(self._form_covariance, variance, axes)

    def _form_covariance(self, variance: Variance, axes: tuple[int, ...], forms: Array) -> Array:
        others = tuple(axis for axis in range(len(self.shape)) if axis not in axes)
        kept = [1 if axis in others else size for axis, size in enumerate(self.shape)]
        rows = (np.broadcast_to(form.reshape(kept), self.shape).ravel() for form in forms)
        moved = [self.map.covariance(row, variance).reshape(self.shape).sum(axis=others).ravel() for row in rows]
        return np.asarray(forms.reshape(len(forms), -1) @ np.array(moved).T)


def flat(weights: Sequence[Array]) -> Array:
    """Return a product query as one weight for every cell of the flattened table."""
    query = np.ones(1)
    for axis in weights:
        query = np.multiply.outer(query, axis).ravel()
    return query
