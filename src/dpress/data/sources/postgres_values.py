"""How PostgreSQL's columns are read, by their declared types, so that every value arrives exactly.

declared type -> the SQL of a value in a type that arrives -> Arrow's type for it.
"""

import re

import pyarrow as pa

from dpress.attributes.arrow import objects
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.sql_text import quoted

PLAIN = re.compile(r"smallint|integer|bigint|real|double precision|boolean|bytea|time(\(\d\))? without time zone")
TIMES = re.compile(r"date|timestamp(\(\d\))? (with|without) time zone")
EXACT = re.compile(r"numeric\((?P<precision>\d+),(?P<scale>\d+)\)")
TEXTS = re.compile(r'(character|character varying)(\(\d+\))?|text|name|"char"|bpchar|uuid|json|jsonb|xml')
DIGITS = 38  # of Arrow's shorter decimals
NUMERIC = "numeric"


def value(column: str, kind: str, *, text_like: bool) -> str:
    """Return the SQL of a column's value.

    `char(n)` loses the blanks at its end, which are no part of it; an infinite time is none, and so is missing.

    Args:
        column: its name.
        kind: its type as PostgreSQL writes it, that below a domain.
        text_like: whether it is an enumeration, or of a category of texts, such as `citext`.

    Raises:
        SchemaMismatch: the type has no texts, numbers or times.
    """
    name = quoted(column)
    if PLAIN.fullmatch(kind):
        return name
    if kind == "oid":
        return f"{name}::bigint"
    if kind.startswith(NUMERIC) and not kind.endswith("]"):
        return f"nullif({name}, 'NaN')::text" if _decimal(kind) else f"trim_scale(nullif({name}, 'NaN'))::text"
    if TIMES.fullmatch(kind):
        return f"CASE WHEN isfinite({name}) THEN {name} END"
    if text_like or TEXTS.fullmatch(kind):
        return f"{name}::text"
    raise SchemaMismatch(
        f"the column {column!r} of type {kind} has no texts, numbers or times; make a view that converts it"
    )


def as_read(batch: pa.RecordBatch, kinds: dict[str, str]) -> pa.RecordBatch:
    """Return a batch with numbers that were sent as text.

    Args:
        batch: of rows.
        kinds: the declared type of every column.
    """
    for name in batch.schema.names:
        if (exact := _decimal(kinds[name])) is not None:
            batch = batch.set_column(batch.schema.get_field_index(name), name, batch.column(name).cast(exact))
    long = [name for name in batch.schema.names if kinds[name].startswith(NUMERIC) and not _decimal(kinds[name])]
    return objects.with_numbers(batch, long)


def _decimal(kind: str) -> pa.DataType | None:
    """Return Arrow's type for numbers of a stated precision; None where there is none."""
    exact = EXACT.fullmatch(kind)
    if exact is None or int(exact["precision"]) > DIGITS or int(exact["scale"]) > int(exact["precision"]):
        return None
    return pa.decimal128(int(exact["precision"]), int(exact["scale"]))
