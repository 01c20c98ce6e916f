"""Marginal tables as sums of independent noisy residuals: consistent by themselves, no system to solve."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpress.core.maps.linear import Array, Marginal, Variance
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.residuals import Residual, Residuals
from dpress.inference.consistency import (
    Axes,
    Table,
    cell_variance,
    component_variances,
    form_covariance,
    marginal,
    query,
    query_variance,
)

if TYPE_CHECKING:
    from dpress.inference.covariance import Covariance


@dataclass(frozen=True, slots=True)
class ResidualTables:
    """Tables and queries from noisy residuals.

    A residual's answers are the projection times k = k_1 ... k_a plus noise of variance v. Centred along every axis and
    divided by k they are the component of `inference.consistency`, with v / k^2 for the variance of a cell: the best
    linear estimate, as no other residual tells of it.
    Error: `inference.consistency.query_variance`, exact.

    Args:
        map: the residuals of every part of every table.
    """

    map: Residuals
    symmetric: ClassVar[bool] = False

    @property
    def shape(self) -> Axes:
        """The number of cells along every axis of the full table."""
        return self.map.shape

    @property
    def tables(self) -> tuple[Axes, ...]:
        """The axes of every table."""
        return self.map.tables

    def estimate(self, measurement: Measurement) -> tuple[Array, ...]:
        """Return the tables, each flat."""
        return tuple(marginal(self._noisy(measurement.variance, axes, measurement), axes) for axes in self.tables)

    def cell_variances(self, variance: Variance) -> tuple[Array, ...]:
        """Return the variance of every cell, the same all over a table."""
        spread, places = np.asarray(variance), _places(self.map)
        components = component_variances([_table(part, spread, start) for start, part in places.values()])
        return tuple(
            np.broadcast_to(np.float64(cell_variance(components, self.shape, axes)), (Marginal(self.shape, axes).rows,))
            for axes in self.tables
        )

    def answer(self, measurement: Measurement, weights: Sequence[Array]) -> float:
        """Return the answer to a query on axes that some table holds together."""
        return query(self._noisy(measurement.variance, _used(weights), measurement), weights)

    def query_variance(self, variance: Variance, weights: Sequence[Array]) -> float:
        """Return the exact variance of that answer."""
        return query_variance(self._noisy(variance, _used(weights)), weights)

    def form_covariance(self, variance: Variance, axes: Axes) -> "Covariance":
        """Return the exact covariance of sums of a table's cells."""
        return functools.partial(form_covariance, self._noisy(variance, axes), axes)

    def _noisy(self, variance: Variance, axes: Axes, measurement: Measurement | None = None) -> list[Table]:
        """Return the components that tell of a table over these axes."""
        places, tables = _places(self.map), []
        for size in range(len(axes) + 1):
            for subset in itertools.combinations(sorted(axes), size):
                if subset in places:
                    start, part = places[subset]
                    noisy = None if measurement is None else measurement.answers[start : start + part.rows] / part.rows
                    tables.append(_table(part, np.asarray(variance), start, noisy))
        return tables


def _table(part: Residual, variance: Array, start: int, noisy: Array | None = None) -> Table:
    """Return a residual as a table that tells of its own component alone; its first answer stands at `start`."""
    spread = float(variance if variance.ndim == 0 else variance[start])
    return Table(map=part.table, answers=noisy, variance=spread / part.rows**2, centred=True)


def _used(weights: Sequence[Array]) -> Axes:
    return tuple(axis for axis, weight in enumerate(weights) if not np.all(weight == 1))


@functools.lru_cache(maxsize=16)
def _places(residuals: Residuals) -> dict[Axes, tuple[int, Residual]]:
    """Return for every residual's axes its first row and itself."""
    starts = np.cumsum([0, *(part.rows for part in residuals.parts)]).tolist()
    pairs = zip(starts, residuals.parts, strict=False)
    return {part.axes: (start, part) for start, part in pairs}
