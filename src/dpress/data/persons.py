"""Who a row's person is, in SQL: by value, so that 7, 7.0 and the decimal 7.00 are one person in every column."""

from collections.abc import Sequence

from dpress.core.errors import SchemaMismatch
from dpress.core.value import EXACT
from dpress.data.objects import TEXT
from dpress.data.sources.sql_text import quoted

UNNAMED = ("BIT", "INTERVAL", "MAP", "UNION", "VARIANT", "BIGNUM", "GEOMETRY")


def identity(column: str, kind: str) -> str:
    """Return the SQL of the text that names a row's person, NULL where there is none.

    Args:
        column: the person's column.
        kind: its type in DuckDB.

    Raises:
        SchemaMismatch: no value of this type has one text.
    """
    name = quoted(column)
    if kind in ("FLOAT", "DOUBLE"):
        whole = f"abs({name}) < {EXACT} AND {name} = trunc({name})"
        text = f"CASE WHEN {whole} THEN TRY_CAST({name} AS BIGINT)::VARCHAR ELSE {name}::DOUBLE::VARCHAR END"
        return f"CASE WHEN NOT isnan({name}) THEN {text} END"
    if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        return f"rtrim(rtrim({name}::VARCHAR, '0'), '.')"
    if kind.startswith("STRUCT") and TEXT in kind:
        return f"({name}).{TEXT}"
    if kind.startswith((*UNNAMED, "STRUCT")) or kind.endswith("]"):
        raise SchemaMismatch(f"the column {column!r} of type {kind} names no persons; convert it to text first")
    return f"{name}::VARCHAR"


def content(columns: Sequence[str]) -> str:
    """Return the SQL of a text of the row, which differs where the rows do."""
    texts = [f"{quoted(column)}::VARCHAR" for column in columns]
    return " || ".join(f"coalesce(length({text}) || ':' || {text}, 'n')" for text in texts)
