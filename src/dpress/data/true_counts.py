"""Exact counts of tables, by whatever engine counts the rows: the same to the last one."""

from collections.abc import Sequence

from dpress.core.domain import Schema
from dpress.core.errors import NotSupported
from dpress.data.add_up import Counts, Progress
from dpress.data.fold import count, fold
from dpress.data.table import Table


def counts(
    table: Table, schema: Schema, tables: Sequence[tuple[int, ...]], *, progress: Progress | None = None
) -> Counts:
    """Return the exact counts of some tables, one after the other: private, never written anywhere.

    Args:
        table: the rows.
        schema: how they are coded.
        tables: the axes of every table.
        progress: called with the number of rows counted so far.

    Raises:
        OSError, SchemaMismatch: see `fold`.
    """
    if table.engine == "sql":
        raise NotSupported('engine "sql"')
    return fold(table, schema, count(schema.shape, tables), progress=progress)
