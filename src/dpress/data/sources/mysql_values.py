"""How columns of MariaDB and MySQL are read, by their declared types, so that every value arrives exactly.

declared type -> the SQL of a value, which arrives as its text -> Arrow's type for it.
"""

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.arrow import objects
from dpress.core.basics.errors import SchemaMismatch

INTEGERS = ("tinyint", "smallint", "mediumint", "int", "bigint", "year")
TEXTS = (
    "char",
    "varchar",
    "tinytext",
    "text",
    "mediumtext",
    "longtext",
    "enum",
    "set",
    "json",
    "uuid",
    "inet4",
    "inet6",
)
TIMES = {"date": pa.date32(), "datetime": pa.timestamp("us"), "timestamp": pa.timestamp("us", "UTC")}
EXACT = re.compile(r"decimal\((\d+),(\d+)\)")
DIGITS = 38  # of Arrow's shorter decimals
NUMBERS = None  # in place of a type: longer ones, as Python's


def value(column: str, data: str) -> str:
    """Return the SQL of a column's value: NULL for a date with a zero for its month or day, which is none.

    Args:
        column: its name.
        data: its type, without lengths.
    """
    name = quoted(column)
    if data in TIMES:
        return f"IF(MONTH({name}) > 0 AND DAYOFMONTH({name}) > 0, {name}, NULL)"
    return f"({name} + 0e0)" if data == "float" else name  # else it is written with six digits


def arrow_type(column: str, data: str, kind: str) -> pa.DataType | None:
    """Return the type of a column that is read.

    Args:
        column: its name.
        data: its type, without lengths.
        kind: with lengths, and `unsigned`.

    Raises:
        SchemaMismatch: the type has no texts, numbers or times.
    """
    if data in INTEGERS:
        return pa.uint64() if "unsigned" in kind else pa.int64()
    if data == "decimal":
        digits = EXACT.match(kind)
        return pa.decimal128(int(digits[1]), int(digits[2])) if digits and int(digits[1]) <= DIGITS else NUMBERS
    if data in {"float", "double"}:
        return pa.float64()
    if data in TEXTS:
        return pa.string()
    if data in TIMES:
        return TIMES[data]
    raise SchemaMismatch(
        f"the column {column!r} of type {data} has no texts, numbers or times; make a view that converts it"
    )


def batch(columns: Mapping[str, Sequence[str | None]], kinds: Mapping[str, pa.DataType | None]) -> pa.RecordBatch:
    """Return rows that arrived as texts, in their types.

    Args:
        columns: by name.
        kinds: of `arrow_type`.
    """
    texts = {name: pa.array(column, pa.string()) for name, column in columns.items()}
    arrays = {name: _typed(array, kinds[name]) for name, array in texts.items()}
    rows = pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
    return objects.with_numbers(rows, [name for name, kind in kinds.items() if kind is NUMBERS])


def quoted(name: str) -> str:
    """Return a name as SQL has it.

    >>> quoted("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def _typed(texts: pa.Array, kind: pa.DataType | None) -> pa.Array:
    if kind is NUMBERS:  # without zeros at their end, as PostgreSQL's
        shorter = pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), ".")
        return pc.if_else(pc.match_substring(texts, "."), shorter, texts)
    if kind == pa.string():
        return texts
    if kind == TIMES["timestamp"]:  # the session's zone is UTC
        return texts.cast(TIMES["datetime"]).cast(kind)
    return texts.cast(kind)
