"""Exact counts of tables, and other sums over rows, by whatever engine reads them: the same to the last one."""

from collections.abc import Sequence
from typing import Any

from dpress.core.claim import Unit
from dpress.core.domain import Schema
from dpress.core.linear import Numbers
from dpress.core.mechanism import CuratorMechanism, SumDecoder
from dpress.data.add_up import Counts, Progress
from dpress.data.fold import count, fold
from dpress.data.sources.source import Database
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
    if table.engine == "sql" or (table.engine == "spark" and isinstance(table.source, Database)):
        from dpress.data.sql_counts import sql_counts  # noqa: PLC0415  # sqlglot takes a while to import

        return sql_counts(table, schema, tables, progress=progress)
    return fold(table, schema, count(schema.shape, tables), progress=progress)


def exact_answers(
    mechanism: CuratorMechanism, schema: Schema, source: Any, unit: Unit, *, progress: Progress | None = None
) -> Numbers:
    """Return the answers without noise: private, never written anywhere.

    Args:
        mechanism: that says what is measured.
        schema: how rows are coded.
        source: the rows, as `open_source` takes or returns them.
        unit: whose contribution is bounded.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `fold`.
        NotSupported: the mechanism refuses the rows.
    """
    decoder = mechanism.decoder
    if isinstance(decoder, SumDecoder):
        sums = fold(Table(source, schema.names, unit), schema, decoder.sums, progress=progress)
        return mechanism.exact(decoder.answers(sums))
    found = true_counts(schema, decoder.tables, source, unit, progress=progress)
    return mechanism.exact(mechanism.of_tables(found))
