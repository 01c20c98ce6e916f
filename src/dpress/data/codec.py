"""From values to cell codes: nulls first, then bounds, then bins; nothing is learned from the rows.

It reads Arrow columns of any type, so that every engine that hands over Arrow batches gets the same codes.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.core.attribute import DROP, REJECT, Bounded, Integer, Listed, Tabular
from dpress.core.domain import Schema
from dpress.core.errors import SchemaMismatch

Codes = npt.NDArray[np.int32]
DROPPED = -1
OUTSIDE = -2
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


def encode(schema: Schema, batch: pa.RecordBatch) -> Codes:
    """Return the cell of every kept row along every axis, shape (attributes, kept rows).

    A row is dropped where an attribute says "drop". Each row is coded by itself, so one row changes one column.

    Raises:
        SchemaMismatch: a column is missing, or a value is one that the specification rejects (the value is not shown).
    """
    columns = [_encode_one(attribute, _column(batch, attribute.name)) for attribute in schema.tabular]
    codes = np.stack(columns)
    keep = (codes != DROPPED).all(axis=0)
    return codes if keep.all() else codes[:, keep]


def numbers_of(name: str, batch: pa.RecordBatch) -> npt.NDArray[np.float64]:
    """Return a column as numbers, NaN where a value is missing or none.

    Raises:
        SchemaMismatch: there is no such column, or its type has no numbers.
    """
    column = _column(batch, name)
    _check_number_type(name, column)
    numbers, missing = _numbers(column)
    return np.where(missing, np.nan, numbers)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        raise SchemaMismatch(f"attribute {name}: the data has no column {name!r}")
    column = batch.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column


def _encode_one(attribute: Tabular, column: pa.Array) -> Codes:
    if isinstance(attribute, Listed):
        codes, missing = _listed(attribute, column)
        outside, field = attribute.other, "other"
        null = outside if attribute.null is None else attribute.null
    else:
        codes, missing = _bounded(attribute, column)
        outside, field = attribute.outside, "outside"
        null = attribute.null
    untyped = f"a value is missing or not of its type; say what to do in `{attribute.missing}`"
    _settle(codes, missing, null, attribute, untyped)
    _settle(codes, codes == OUTSIDE, outside, attribute, f"a value is not in its cells; say what to do in `{field}`")
    return codes


def _settle(codes: Codes, where: npt.NDArray[np.bool_], policy: str, attribute: Tabular, fault: str) -> None:
    """Apply one policy in place: reject, drop, or count in the cell of that name."""
    if not where.any():
        return
    if policy == REJECT:
        raise SchemaMismatch(f"attribute {attribute.name}: {fault}, or clean the data")
    beside = attribute.size - len(attribute.extra)
    codes[where] = DROPPED if policy == DROP else beside + attribute.extra.index(policy)


def _listed(attribute: Listed, column: pa.Array) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """Return codes (OUTSIDE where the value is not listed) and where the value is missing."""
    first = attribute.values[0]
    if isinstance(first, bool):
        text = pc.utf8_lower(pc.utf8_trim_whitespace(_text(column)))
        words = [("true", "1") if value else ("false", "0") for value in attribute.values]
        codes = _index(text, pa.array([word for pair in words for word in pair])) // 2
    elif isinstance(first, int):
        _check_number_type(attribute.name, column)
        numbers, missing = _numbers(column)
        order = np.argsort(np.asarray(attribute.values, dtype=np.float64), kind="stable")
        values = np.asarray(attribute.values, dtype=np.float64)[order]
        found = np.clip(np.searchsorted(values, numbers), 0, len(values) - 1)
        return np.where(values[found] == numbers, order[found], OUTSIDE).astype(np.int32), missing
    else:
        codes = _index(_text(column), pa.array(attribute.values, type=pa.string()))
    return np.where(codes < 0, OUTSIDE, codes).astype(np.int32), np.asarray(column.is_null(nan_is_null=True))


def _index(text: pa.Array, values: pa.Array) -> npt.NDArray[np.int32]:
    """Return the position of every text among the values, OUTSIDE where it is not there."""
    return np.asarray(pc.fill_null(pc.index_in(text, value_set=values), OUTSIDE))


def _bounded(attribute: Bounded, column: pa.Array) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """Return codes (OUTSIDE outside the bounds, unless values are clamped) and where the value is missing."""
    _check_number_type(attribute.name, column)
    numbers, missing = _numbers(column)
    low, high = map(float, attribute.ends)
    if isinstance(attribute, Integer):
        numbers = np.floor(numbers)
        high -= 1
    inside = (numbers >= low) & (numbers <= high)
    numbers = np.clip(numbers, low, high)
    if isinstance(attribute, Integer) and attribute.bins is None:
        codes = (numbers - low).astype(np.int32)
    else:
        codes = np.minimum(attribute.edge_below(numbers), attribute.ordered - 1).astype(np.int32)
    if attribute.outside != "clamp":
        codes[~inside] = OUTSIDE
    return codes, missing


def _check_number_type(name: str, column: pa.Array) -> None:
    """Refuse a column whose type has no numbers; text is read value by value."""
    kind = column.type
    known = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null, _is_text)
    if not any(one(kind) for one in known):
        raise SchemaMismatch(f"attribute {name}: a column of type {kind} holds no numbers; convert it first")


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _text(column: pa.Array) -> pa.Array:
    """Return the column as text; a time stamp at midnight as its date."""
    text = column.cast(pa.string())
    return pc.replace_substring_regex(text, " 00:00:00(\\.0+)?$", "") if pa.types.is_timestamp(column.type) else text


def _numbers(column: pa.Array) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the column as floats (0 where missing) and where it is null, NaN or no number."""
    if _is_text(column.type):
        column = column.cast(pa.string())
        readable = pc.fill_null(pc.match_substring_regex(column, NUMBER), False)
        column = pc.utf8_trim_whitespace(pc.if_else(readable, column, pa.scalar(None, column.type)))
    numbers = np.array(pc.fill_null(column.cast(pa.float64(), safe=False), np.nan))
    missing = np.isnan(numbers)
    numbers[missing] = 0.0
    return numbers, missing
