"""The exact error of the tables of every level, known before a row is read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.workload import Areas, Workload
from dpress.inference.regions.measured import Table
from dpress.inference.regions.spine_queries import SpineQueries
from dpress.inference.regions.variances import cell_variances


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableError:
    """The error of a table at one level.

    Args:
        level: 0 for everything.
        table: its attributes, by their places beside the regions.
        variances: of a cell of every region, in counts squared.
    """

    level: int
    table: Table
    variances: Array


def wanted_tables(workload: Workload | Areas) -> tuple[Table, ...]:
    """Return the tables that a release is about, by the attributes beside the regions, which are axis 0."""
    return tuple(tuple(axis - 1 for axis in table if axis) for table in workload.tables)


def table_errors(queries: SpineQueries, tables: Iterable[Table]) -> Iterator[TableError]:
    """Yield the error of tables, at every level where it is known."""
    by_table = {table: cell_variances(queries.measured, table) for table in tables}
    for level in range(queries.measured.spine.depth + 1):
        for table in by_table:
            if any(set(table) <= set(wide) for wide in queries.at(level)):
                yield TableError(level=level, table=table, variances=by_table[table][level])


def mean_variance(queries: SpineQueries, weights: Sequence[Mapping[Table, float]]) -> float:
    """Return the weighted mean, over levels and tables, of the mean variance of a level's cells, in counts squared."""
    errors = [*table_errors(queries, dict.fromkeys(table for level in weights for table in level))]
    counted = np.array([weights[error.level].get(error.table, 0.0) for error in errors])
    means = np.array([error.variances.mean() for error in errors])
    return float(counted @ means / counted.sum()) if counted.any() else float(means.mean())
