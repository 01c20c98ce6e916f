"""From values to cell codes: nulls first, then bounds, then bins; nothing is learned from the rows.

It reads Arrow columns of any type, so that every engine that hands over Arrow batches gets the same codes: those of
`attributes.coding`, value for value, whatever else is in the column.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes import coding
from dpress.attributes.attribute import Bounded, Tabular
from dpress.attributes.bounded_attribute import Integer, Numeric
from dpress.attributes.coding import DROPPED, MISSING, OUTSIDE
from dpress.attributes.dated_attribute import Dated
from dpress.attributes.domain import Schema
from dpress.attributes.listed_attribute import Listed
from dpress.attributes.set_members import SetMembers
from dpress.attributes.string_candidates import StringCandidates
from dpress.attributes.value import Value, read, text_of
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import dates, inferred, listed, numbers, objects, sets, strings

Codes = npt.NDArray[np.int32]


def encode(schema: Schema, batch: pa.RecordBatch) -> Codes:
    """Return the cell of every kept row along every axis, shape (axes, kept rows); a set has an axis for each word.

    A row is dropped where an attribute says "drop". Each row is coded by itself, so one row changes one column.

    Raises:
        SchemaMismatch: a column is missing or of a type that is not coded, or a value is one that the specification
            rejects (the value is not shown).
    """
    codes, keep = encode_all(schema, batch)
    return codes if keep.all() else codes[:, keep]


def encode_all(schema: Schema, batch: pa.RecordBatch) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """Return the cells of all rows, and which rows are kept: shape (axes, rows) and (rows,); see `encode`."""
    columns = [_encode_one(attribute, _column_of(attribute, batch)) for attribute in schema.tabular]
    codes = np.vstack(columns)
    return codes, (codes != DROPPED).all(axis=0)


def cells_of(attribute: Tabular, batch: pa.RecordBatch) -> Codes:
    """Return the cell of every value of an attribute, OUTSIDE or MISSING: before the specification settles those.

    Where values are discovered, all have the one cell that is known beforehand.

    Raises:
        SchemaMismatch: there is no such column, or its type is not coded.
    """
    if attribute.discovered and not isinstance(attribute, StringCandidates):
        missing = np.asarray(texts_of(attribute.name, batch).is_null())
        return np.where(missing, np.int32(MISSING), np.int32(0))
    return _cells(attribute, _column_of(attribute, batch))


def numbers_of(name: str, batch: pa.RecordBatch) -> npt.NDArray[np.float64]:
    """Return a column as numbers, NaN where a value is missing or none.

    Raises:
        SchemaMismatch: there is no such column, or its type has no numbers.
    """
    column = _plain(_column(batch, name))
    if objects.is_ours(column.type):
        return objects.each(column, _float_of, np.nan)
    _check_number_type(name, column.type)
    found, missing = numbers.floats(column)
    return np.where(missing, np.nan, found)


def below(attribute: Bounded, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """Return which values lie below the bounds; anything where a value is missing or no number or date."""
    if isinstance(attribute, Dated):
        found = dates.hours(attribute, _plain(_column_of(attribute, batch))).hours
        return np.zeros(len(found), dtype=bool) if attribute.period is None else found < attribute.period.first
    return np.asarray(numbers_of(attribute.name, batch) < attribute.ends[0])


def _float_of(value: Value) -> float:
    exact = coding.number_of(value)
    return np.nan if exact is None else float(exact)


def texts_of(name: str, batch: pa.RecordBatch) -> pa.Array:
    """Return a column as texts in UTF-8: texts and bytes as they are, integers and truths as they are written.

    Null where a value is missing, or no such text. A float that is an integer is written as one, since libraries make
    floats of integers where one is missing; from 2^53 on it is none.

    Raises:
        SchemaMismatch: there is no such column, or its type holds no texts.
    """
    column = _plain(_column(batch, name))
    return objects.texts(column) if objects.is_ours(column.type) else _as_texts(name, column)


def _as_texts(name: str, column: pa.Array) -> pa.Array:
    kind = column.type
    if not numbers.has_numbers(kind) or pa.types.is_decimal(kind):
        raise SchemaMismatch(f"attribute {name}: a column of type {kind} holds no names; convert it to text first")
    if pa.types.is_floating(kind):
        return objects.once_each(column, _integer_in_float)
    return column.cast(pa.large_string())


def _integer_in_float(value: float | None) -> str | None:
    found = read(value)
    return None if found is None else text_of(found)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        raise SchemaMismatch(f"attribute {name}: the data has no column {name!r}")
    return batch.column(name)


def _column_of(attribute: Tabular, batch: pa.RecordBatch) -> pa.Array:
    """Return an attribute's column; of dates without numbers where the column's type rests on its rows."""
    column = _column(batch, attribute.name)
    rests = isinstance(attribute, Dated) and inferred.is_inferred(batch.schema.field(attribute.name))
    return inferred.without_numbers(column) if rests else column


def _plain(column: pa.Array) -> pa.Array:
    """Return a column whose values stand in their own places, in a type that Arrow's functions know."""
    if isinstance(column.type, pa.JsonType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        return _plain(column.dictionary_decode())
    if pa.types.is_run_end_encoded(column.type):
        return _plain(pc.run_end_decode(column))
    if isinstance(column.type, pa.UuidType):
        return objects.column(column.to_pylist())
    if pa.types.is_decimal32(column.type) or pa.types.is_decimal64(column.type):
        return column.cast(pa.decimal128(column.type.precision, column.type.scale))
    if numbers.is_text(column.type):
        return column.cast(pa.large_string())
    return _text(column) if numbers.is_bytes(column.type) else column


def _text(column: pa.Array) -> pa.Array:
    """Return bytes as text in UTF-8; where some are none, each by itself."""
    try:
        return column.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        return objects.column(column.to_pylist())


def _encode_one(attribute: Tabular, column: pa.Array) -> Codes:
    if isinstance(attribute, SetMembers):
        return sets.words_of(attribute, _lists(attribute, column), lambda values: _cells(attribute.one, values))
    codes = _cells(attribute, column)
    for beside in (MISSING, OUTSIDE):
        where = codes == beside
        if where.any():
            codes[where] = coding.settle(attribute, beside)
    return codes


def _lists(attribute: SetMembers, column: pa.Array) -> pa.Array:
    """Return sets as lists of values: lists as they are, texts split, any other value alone."""
    column = _plain(column)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return column
    if pa.types.is_fixed_size_list(column.type):
        return column.cast(pa.large_list(column.type.value_type))
    if objects.is_ours(column.type):
        return objects.sets(column, attribute.parts)
    return sets.split(column, attribute.separator) if numbers.is_text(column.type) else sets.alone(column)


def _cells(attribute: Tabular, column: pa.Array) -> Codes:
    """Return the cell of every value, OUTSIDE or MISSING."""
    kind = column.type
    if pa.types.is_dictionary(kind) and len(column.dictionary) < len(column):
        own = np.append(_cells(attribute, column.dictionary), np.int32(MISSING))
        return np.asarray(own[np.asarray(pc.fill_null(column.indices.cast(pa.int64()), len(own) - 1))])
    column = _plain(column)
    if isinstance(attribute, Dated):
        return dates.cells(attribute, column)
    if objects.is_ours(column.type):
        return objects.each(column, lambda value: coding.cell_of(attribute, value), MISSING).astype(np.int32)
    if isinstance(attribute, StringCandidates):
        return strings.cells(attribute, _as_texts(attribute.name, column))
    if isinstance(attribute, Listed):
        _check_listed_type(attribute, column.type)
        return listed.cells(attribute, column)
    _check_number_type(attribute.name, column.type)
    if (bounded := attribute.numbers) is None:
        raise SchemaMismatch(f"attribute {attribute.name}: no column holds its values")
    return _bounded(bounded, column)


def _bounded(attribute: Integer | Numeric, column: pa.Array) -> Codes:
    if not isinstance(attribute, Integer):
        found, missing = numbers.floats(column)
        codes = coding.cells(attribute, found)
    else:
        whole = numbers.whole(column)
        codes, missing = coding.cells(attribute, whole.floors), whole.missing
        if whole.rare.any():
            codes[whole.rare] = listed.one_by_one(attribute, column.filter(pa.array(whole.rare)))
    codes[missing] = MISSING
    return codes


def _check_number_type(name: str, kind: pa.DataType) -> None:
    """Refuse a column whose type has no numbers; text is read value by value."""
    if not numbers.has_numbers(kind):
        raise SchemaMismatch(f"attribute {name}: a column of type {kind} holds no numbers; convert it first")


def _check_listed_type(attribute: Listed, kind: pa.DataType) -> None:
    if not isinstance(attribute.values[0], str):
        _check_number_type(attribute.name, kind)
    elif not numbers.has_numbers(kind) and not listed.has_times(kind):
        raise SchemaMismatch(
            f"attribute {attribute.name}: a column of type {kind} is not read as text; convert it first"
        )
