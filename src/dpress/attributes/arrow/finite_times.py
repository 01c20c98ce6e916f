"""Dates and time stamps without the infinite ones, which some engines write as the farthest ticks."""

import pyarrow as pa
import pyarrow.compute as pc


def finite(column: pa.Array) -> pa.Array:
    """Return dates or time stamps without the infinite ones, which are none: the farthest ticks on either side."""
    ticks, farthest = column.view(ticks_of(column.type)), 2 ** (column.type.bit_width - 1) - 1
    infinite = pc.is_in(ticks, value_set=pa.array([farthest, -farthest], type=ticks.type))
    return pc.if_else(infinite, pa.scalar(None, column.type), column) if pc.any(infinite).as_py() else column


def ticks_of(kind: pa.DataType) -> pa.DataType:
    """Return the integers that a type of dates or times stores."""
    return pa.int32() if kind.bit_width == 32 else pa.int64()
