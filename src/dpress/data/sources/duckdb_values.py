"""Rows of DuckDB as Arrow batches: which types arrive exactly, and how the others are read.

relation -> the wanted columns, whole numbers of any length and times that are none seen to -> batches, streamed.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import duckdb
import pyarrow as pa

from dpress.attributes.arrow import objects
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.source import BATCH_ROWS, check_columns, without_quotes
from dpress.data.sources.sql_text import quoted

LINE = "{} cannot be read by DuckDB (its message is withheld: it may quote rows)"
LONG = ("UHUGEINT", "BIGNUM")  # integers that no Arrow type holds
TIMES = ("DATE", "TIMESTAMP")
UNREAD = ("TIME WITH TIME ZONE", "INTERVAL", "BIT", "UNION", "VARIANT", "GEOMETRY")


def types(relation: duckdb.DuckDBPyRelation) -> dict[str, str]:
    """Return the type of every column as DuckDB declares it."""
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def batches(relation: duckdb.DuckDBPyRelation, columns: Sequence[str], name: str) -> Iterator[pa.RecordBatch]:
    """Yield some columns of a relation, in constant memory.

    Args:
        relation: of a connection that nothing else uses meanwhile.
        columns: that are read.
        name: of the rows.

    Raises:
        OSError: DuckDB cannot read them.
        SchemaMismatch: a column is missing, or of a type that has no texts, numbers or times.
    """
    kinds = types(relation)
    check_columns(name, columns, list(kinds))
    chosen = ", ".join(f"{_value(column, kinds[column])} AS {quoted(column)}" for column in columns)
    reader = without_quotes(name, lambda: iter(relation.project(chosen).to_arrow_reader(BATCH_ROWS)), LINE)
    long = [column for column in columns if kinds[column] in LONG]
    while (batch := without_quotes(name, partial(next, reader, None), LINE)) is not None:
        yield objects.with_numbers(batch, long)


def _value(column: str, kind: str) -> str:
    """Return the SQL of a column's value, NULL for infinite times: they are no time."""
    name = quoted(column)
    if kind.startswith(UNREAD) and not kind.endswith("]"):
        raise SchemaMismatch(f"the column {column!r} of type {kind} has no texts, numbers or times; convert it first")
    if kind in LONG:
        return f"{name}::VARCHAR"
    return f"CASE WHEN isfinite({name}) THEN {name} END" if kind.startswith(TIMES) and kind[-1] != "]" else name
