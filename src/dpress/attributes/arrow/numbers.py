"""Arrow columns as numbers, exactly: integers and decimals never pass through a float that cannot hold them.

column -> whole numbers, and those few that only the definition can tell.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.value import BLANKS, EXACT
from dpress.core.basics.errors import SchemaMismatch

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
READABLE = rf"^[{BLANKS}]*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[{BLANKS}]*$"
SHORT = r"^[-+0-9.]{1,15}$"  # so few digits that the nearest float has the same floor, and is no listed integer else
FAR = np.int64(1 << 62)  # beyond all bounds
LARGEST_TEN = 22  # the largest power of ten that a 64-bit float holds exactly


@dataclass(frozen=True, slots=True, eq=False)
class Floors:
    """The floors of a column's numbers.

    Args:
        floors: 64-bit integers, or floats that are whole or infinite; anything where a row is missing or rare.
        missing: rows without a number.
        rare: rows whose floor is for the definition to tell.
    """

    floors: npt.NDArray[np.int64] | Floats
    missing: Mask
    rare: Mask


def has_numbers(kind: pa.DataType) -> bool:
    """Return whether values of an Arrow type are numbers, truths, or texts that may be read as numbers."""
    tests = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_boolean,
        pa.types.is_null,
        is_text,
    )
    return any(test(kind) for test in tests)


def check_type(name: str, kind: pa.DataType) -> None:
    """Refuse a column whose type has no numbers; text is read value by value.

    Raises:
        SchemaMismatch: naming the attribute and the type.
    """
    if not has_numbers(kind):
        raise SchemaMismatch(f"attribute {name}: a column of type {kind} holds no numbers; convert it first")


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_bytes(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of bytes of any length."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))


def floats(column: pa.Array) -> tuple[Floats, Mask]:
    """Return the nearest 64-bit float of every number, 0 where it is missing, and where that is."""
    if is_text(column.type):
        column = trimmed(column)
    elif pa.types.is_decimal(column.type):
        return _decimal_floats(column)
    wide = column.cast(pa.float64(), safe=False)
    numbers = np.asarray(pc.fill_null(wide, np.nan) if wide.null_count else wide)
    missing = np.isnan(numbers)
    return (np.where(missing, 0.0, numbers) if missing.any() else numbers), missing


def whole(column: pa.Array) -> Floors:
    """Return the floor of every number."""
    missing = np.asarray(column.is_null())
    if pa.types.is_decimal(column.type):
        return _decimal_floors(column, missing)
    if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
        if pa.types.is_uint64(column.type):
            column = pc.min_element_wise(column, pa.scalar(int(FAR), pa.uint64()))
        floors = np.asarray(pc.fill_null(column.cast(pa.int64()), 0))
        return Floors(floors, missing, np.zeros_like(missing))
    if is_text(column.type):
        numbers = trimmed(column)
        short = pc.match_substring_regex(numbers, SHORT)
        rare = np.asarray(pc.fill_null(pc.invert(short), False))
        values, missing = floats(column)
        return Floors(np.floor(values), missing, rare)
    values, missing = floats(column)
    return Floors(np.floor(values), missing, np.zeros_like(missing))


def trimmed(column: pa.Array) -> pa.Array:
    """Return a column of text without blanks around it, null where it reads as no number."""
    readable = pc.fill_null(pc.match_substring_regex(column, READABLE), False)
    return pc.utf8_trim(pc.if_else(readable, column, pa.scalar(None, column.type)), characters=BLANKS)


def _unscaled(column: pa.Array) -> tuple[npt.NDArray[np.int64], Mask]:
    """Return the integers behind decimals, anything where they are null, and where they do not fit 64 bits."""
    width = column.type.byte_width // 8
    held = np.frombuffer(column.buffers()[1], dtype=np.int64, count=(column.offset + len(column)) * width)
    words = held.reshape(-1, width)[column.offset :]
    low = words[:, 0]
    return low, (words[:, 1:] != (low >> 63)[:, None]).any(axis=1)


def _decimal_floors(column: pa.Array, missing: Mask) -> Floors:
    scale = column.type.scale
    if not 0 <= scale <= 18:
        return Floors(np.zeros(len(column), dtype=np.int64), missing, ~missing)
    low, far = _unscaled(column)
    return Floors(low // 10**scale if scale else low, missing, far & ~missing)


def _decimal_floats(column: pa.Array) -> tuple[Floats, Mask]:
    """Return the nearest floats: a quotient of two exact ones, or else what the decimal's text reads as."""
    missing, scale = np.asarray(column.is_null()), column.type.scale
    low, far = _unscaled(column)
    quotients = low / 10.0 ** min(max(scale, 0), LARGEST_TEN)
    rare = ~missing & (far | (np.abs(low) > EXACT) | (not 0 <= scale <= LARGEST_TEN))
    if rare.any():
        texts = column.filter(pa.array(rare)).cast(pa.string())
        quotients[rare] = np.asarray(texts.cast(pa.float64()))
    quotients[missing] = 0.0
    return quotients, missing
