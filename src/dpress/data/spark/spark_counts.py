"""Counts of tables by one statement on Spark: GROUP BY where the rows are, and no Python at the workers."""

from collections.abc import Sequence

import numpy as np

from dpress.core.domain import Schema
from dpress.data.add_up import Counts, Progress
from dpress.data.sources.spark_frame import SparkFrame
from dpress.data.spark.spark_failure import without_message
from dpress.data.spark.spark_relation import relation_of, result
from dpress.data.spark.spark_session import quiet
from dpress.data.sql.cell_counts import cell_counts
from dpress.data.table import Table


def spark_counts(
    table: Table, schema: Schema, tables: Sequence[tuple[int, ...]], *, progress: Progress | None = None
) -> Counts | None:
    """Return the counts of `fold(table, schema, count(schema.shape, tables))`; None where the fold is to count.

    The fold counts files, which workers read as threads do, and attributes that no statement codes.

    Args:
        table: the rows.
        schema: how they are coded.
        tables: the axes of every table.
        progress: called once, with the number of all rows.

    Raises:
        OSError: Spark failed.
        SchemaMismatch: there are no rows, or one that the specification refuses.
    """
    watched = table.watched()
    source = watched.source
    if not isinstance(source, SparkFrame):
        return None
    statement = cell_counts(schema, relation_of(source, table.columns), tables)
    if statement is None:
        return None
    frame = result(source, statement.sql)
    with quiet():
        found = without_message(source.name, frame.toArrow)
    number, place, times = (np.asarray(column, dtype=np.int64) for column in found.columns)
    watched.count(int(times[number == 0].sum()))
    watched.check()
    if progress is not None:
        progress(watched.rows)
    return statement.add_up(number, place, times)
