"""Least squares over all levels and tables of a spine, as strategies have it: flat answers, one after the other."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpress.core.maps.linear import Array, Numbers, Stack, Variance
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.region_table import RegionTable
from dpress.core.maps.spine import Spine
from dpress.inference.regions.measured import Measured, Table
from dpress.inference.regions.spine_queries import SpineQueries
from dpress.inference.regions.variances import cell_variances

Tables = tuple[tuple[Table, ...], ...]


@dataclass(frozen=True, kw_only=True)
class SpineDecoder:
    """Answers from least squares over all levels and tables.

    Error: exact, see `SpineQueries.variance`.

    Args:
        spine: the tree of regions.
        cells: the number of cells of the other attributes.
        levels: the attributes of the tables that were measured at every level.
    """

    spine: Spine
    cells: tuple[int, ...]
    levels: Tables
    symmetric: ClassVar[bool] = True

    @property
    def map(self) -> Stack[RegionTable]:
        """The tables of all levels, one below the other."""
        parts = ((level, table) for level, tables in enumerate(self.levels) for table in tables)
        return Stack(tuple(RegionTable(self.spine, self.cells, level, table) for level, table in parts))

    @property
    def shape(self) -> tuple[int, ...]:
        """The leaves, then the cells of the other attributes."""
        return (self.spine.sizes[-1], *self.cells)

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The axes of the tables of the leaves."""
        return self._queries(1.0).tables

    def estimate(self, measurement: Measurement) -> tuple[Array, ...]:
        """Return the estimates of the leaves' tables, each flat."""
        queries = self._queries(measurement.variance)
        leaves = self._estimates(measurement, queries)[-1]
        return tuple(leaves[table].ravel() for table in queries.at(self.spine.depth))

    def cell_variances(self, variance: Variance) -> tuple[Array, ...]:
        """Return the variances of the cells of the leaves' tables, each flat."""
        queries = self._queries(variance)
        return tuple(
            np.repeat(cell_variances(queries.measured, table)[-1], math.prod(self.cells[axis] for axis in table))
            for table in queries.at(self.spine.depth)
        )

    def answer(self, measurement: Measurement, weights: Sequence[Array]) -> float:
        """Return the unbiased answer to a query."""
        queries = self._queries(measurement.variance)
        return queries.answer(self._estimates(measurement, queries), weights)

    def query_variance(self, variance: Variance, weights: Sequence[Array]) -> float:
        """Return the exact variance of the answer to a query."""
        return self._queries(variance).variance(weights)

    def form_covariance(self, variance: Variance, axes: tuple[int, ...]) -> None:
        """Return nothing: the regions of a tree are asked by product queries alone."""
        del variance, axes

    def split(self, answers: Numbers) -> list[dict[Table, Numbers]]:
        """Return the answers of every level and table, shape (nodes, *kept sizes)."""
        parts = iter(self.map.split(answers))
        return [
            {table: next(parts).reshape(nodes, *(self.cells[axis] for axis in table)) for table in tables}
            for nodes, tables in zip(self.spine.sizes, self.levels, strict=True)
        ]

    def _estimates(self, measurement: Measurement, queries: SpineQueries) -> list[dict[Table, Array]]:
        return queries.estimates(self.split(measurement.answers))

    def _queries(self, variance: Variance) -> SpineQueries:
        spread = self.map.split(np.broadcast_to(variance, (self.map.rows,)))
        return _queries(self.spine, self.cells, self.levels, tuple(float(part[0]) for part in spread))


@functools.lru_cache(maxsize=8)
def _queries(spine: Spine, cells: tuple[int, ...], levels: Tables, variances: tuple[float, ...]) -> SpineQueries:
    """Return the queries over tables with this noise; the same object for the same noise."""
    spread = iter(variances)
    noise = tuple({table: next(spread) for table in tables} for tables in levels)
    return SpineQueries(measured=Measured(spine=spine, shape=cells, variances=noise))
