"""Exact counts of tables, by whatever engine counts the rows: the same to the last one."""

from collections.abc import Sequence
from typing import Any

from dpress.core.claim import Unit
from dpress.core.domain import Schema
from dpress.core.errors import NotSupported
from dpress.data.add_up import Counts, Progress
from dpress.data.fold import count, fold
from dpress.data.table import Table


def true_counts(
    schema: Schema,
    tables: Sequence[tuple[int, ...]],
    source: Any,
    unit: Unit,
    *,
    progress: Progress | None = None,
) -> Counts:
    """Return the exact counts of some tables, one after the other: private, never written anywhere.

    Args:
        schema: how rows are coded.
        tables: the axes of every table.
        source: the rows, as `open_source` takes or returns them.
        unit: whose contribution is bounded; `ROW` counts every row.
        progress: called with the number of rows counted so far.

    Raises:
        OSError, SchemaMismatch: see `fold`.
    """
    table = Table(source, schema.names, unit)
    if table.engine == "sql":
        raise NotSupported('engine "sql"')
    if table.engine == "spark" and (found := _by_statement(table, schema, tables, progress)) is not None:
        return found
    return fold(table, schema, count(schema.shape, tuple(tables)), progress=progress)


def _by_statement(
    table: Table, schema: Schema, tables: Sequence[tuple[int, ...]], progress: Progress | None
) -> Counts | None:
    from dpress.data.spark.spark_counts import spark_counts  # noqa: PLC0415  # only with Spark

    return spark_counts(table, schema, tables, progress=progress)
