"""Arrow columns of any type in the few that Arrow's functions know, and their cells: value by value where need be."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.arrow import numbers, objects
from dpress.attributes.policy import MISSING, OUTSIDE
from dpress.attributes.protocol import Cells, Codes
from dpress.attributes.value import read, text_of
from dpress.core.basics.errors import SchemaMismatch


def cells(attribute: Cells, column: pa.Array) -> Codes:
    """Return the cell of every value of a column of any type, OUTSIDE or MISSING.

    Raises:
        SchemaMismatch: the column's type is not coded.
    """
    kind = column.type
    if pa.types.is_dictionary(kind) and len(column.dictionary) < len(column):
        once = np.append(cells(attribute, column.dictionary), np.int32(MISSING))
        return np.asarray(once[np.asarray(pc.fill_null(column.indices.cast(pa.int64()), len(once) - 1))])
    column = plain(column)
    if objects.is_ours(column.type):
        return objects.each(column, attribute.cell_of, MISSING).astype(np.int32)
    return attribute.arrow_cells(column)


def each_by_itself(attribute: Cells, column: pa.Array) -> Codes:
    """Return the cell of every value by the definition, made once for each different one."""
    encoded = column.dictionary_encode("encode")
    once = np.array([attribute.cell(value) for value in encoded.dictionary.to_pylist()], dtype=np.int32)
    return np.asarray(once[np.asarray(encoded.indices)])


def settled(attribute: Cells, column: pa.Array) -> Codes:
    """Return the code of every value, DROPPED where the specification leaves its row out.

    Raises:
        SchemaMismatch: the column's type is not coded, or the specification rejects a value (it is not shown).
    """
    codes = cells(attribute, column)
    for beside in (MISSING, OUTSIDE):
        where = codes == beside
        if where.any():
            codes[where] = attribute.settled(beside)
    return codes


def texts(name: str, column: pa.Array) -> pa.Array:
    """Return a column of a type that Arrow's functions know as texts in UTF-8; null where a value is no such text.

    Raises:
        SchemaMismatch: its type holds no texts.
    """
    kind = column.type
    if not numbers.has_numbers(kind) or pa.types.is_decimal(kind):
        raise SchemaMismatch(f"attribute {name}: a column of type {kind} holds no names; convert it to text first")
    if pa.types.is_floating(kind):
        return objects.once_each(column, _integer_in_float)
    return column.cast(pa.large_string())


def _integer_in_float(value: float | None) -> str | None:
    number = read(value)
    return None if number is None else text_of(number)


def plain(column: pa.Array) -> pa.Array:
    """Return a column whose values stand in their own places, in a type that Arrow's functions know."""
    if isinstance(column.type, pa.JsonType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        return plain(column.dictionary_decode())
    if pa.types.is_run_end_encoded(column.type):
        return plain(pc.run_end_decode(column))
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
