"""Columns whose type a library infers from their rows, marked as such: that type is not public, and decides nothing.

pandas column -> an Arrow field with a mark -> what reads it neither refuses it by its type nor trusts lost digits.
"""

import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.value import EXACT

MARK = {b"dpress": b"inferred"}


def field(name: str, kind: pa.DataType) -> pa.Field:
    """Return the field of a column whose type was inferred."""
    return pa.field(name, kind, metadata=MARK)


def is_inferred(column: pa.Field) -> bool:
    """Return whether a column's type was inferred from its rows."""
    return column.metadata is not None and MARK.items() <= column.metadata.items()


def without_numbers(column: pa.Array) -> pa.Array:
    """Return a column as what dates are read from: among objects numbers and truths are missing, so they are alone."""
    kind = column.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return pa.nulls(len(column)) if plain else column


def has_lost_digits(column: pa.Array) -> bool:
    """Return whether some number is a float of 2^53 or more, or infinite, for which integers may have been merged."""
    if not pa.types.is_floating(column.type):
        return False
    return bool(pc.any(pc.greater_equal(pc.abs(column.cast(pa.float64())), float(EXACT))).as_py())
