"""Arrow columns of listed values: the list is turned into the column's type, never the column into text.

Data flow: list, type -> an Arrow array of the values that a column of that type can hold -> place of every row's value.
"""

import functools
from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.arrow.columns import each_by_itself
from dpress.attributes.arrow.finite_times import finite, ticks_of
from dpress.attributes.arrow.numbers import check_type, has_numbers, is_text, trimmed, whole
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.listed.places import WORDS, listed
from dpress.attributes.policy import MISSING, OUTSIDE
from dpress.attributes.protocol import Codes
from dpress.attributes.value import BLANKS, EXACT, NANOSECONDS, Kind, Value, written
from dpress.core.basics.errors import SchemaMismatch

Held = tuple[pa.Array, npt.NDArray[np.int32]]


def has_times(kind: pa.DataType) -> bool:
    """Return whether values of an Arrow type are dates, time stamps or times of day."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind))


def checked_cells(attribute: Categorical, column: pa.Array) -> Codes:
    """Return the cell of every value of a column whose type is read; see `cells`.

    Raises:
        SchemaMismatch: the column's type has no values of the list's.
    """
    if not isinstance(attribute.values[0], str):
        check_type(attribute.name, column.type)
    elif not has_numbers(column.type) and not has_times(column.type):
        raise SchemaMismatch(
            f"attribute {attribute.name}: a column of type {column.type} is not read as text; convert it first"
        )
    return cells(attribute, column)


def cells(attribute: Categorical, column: pa.Array) -> Codes:
    """Return the cell of every value, OUTSIDE where it is not listed, MISSING where it is missing."""
    if is_text(column.type):
        if isinstance(attribute.values[0], bool):
            column = pc.ascii_lower(pc.utf8_trim(column, characters=BLANKS))
        elif isinstance(attribute.values[0], int):
            return _integers_in_text(attribute, column)
    elif pa.types.is_floating(column.type):
        column = pc.add(column.cast(pa.float64()), 0.0)  # minus zero is zero
    elif pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        column = finite(column)
    first: type = type(attribute.values[0])
    return _coded(column, *held(attribute.listed, first, column.type))


def _coded(column: pa.Array, values: pa.Array, codes: Codes) -> Codes:
    places = np.asarray(pc.fill_null(pc.index_in(column, value_set=values), len(codes)))
    coded: Codes = np.append(codes, np.int32(OUTSIDE))[places]
    coded[np.asarray(column.is_null(nan_is_null=True))] = MISSING
    return coded


def _integers_in_text(attribute: Categorical, column: pa.Array) -> Codes:
    numbers = trimmed(column)
    coded = cells(attribute, numbers.cast(pa.float64()))
    rare = whole(column).rare
    if rare.any():
        coded[rare] = each_by_itself(attribute, column.filter(pa.array(rare)))
    return coded


@functools.lru_cache(maxsize=64)
def held(values: tuple[Any, ...], first: Hashable, kind: pa.DataType) -> Held:
    """Return the listed values that a column of this type can hold, and their cells.

    Args:
        values: the list.
        first: the Python type of its values, which True and 1 share otherwise.
        kind: of the column; text on which truths are looked up is in lower case and without blanks around it.
    """
    places = listed(values, first)
    if first is bool and is_text(kind):
        named = ((word, places.get(Value(Kind.TRUTH, truth))) for word, truth in WORDS.items())
        pairs = [(word, code) for word, code in named if code is not None]
    else:
        holds = _holder(kind)
        pairs = [(stored, code) for value, code in places.items() if (stored := holds(value)) is not None]
    storage = ticks_of(kind) if has_times(kind) else kind
    stored = pa.array([key for key, _ in pairs], type=storage).cast(kind)
    return stored, np.array([code for _, code in pairs], dtype=np.int32)


def _holder(kind: pa.DataType) -> Callable[[Value], Any]:
    """Return what makes of a value that of an Arrow type, None where the type cannot hold it."""
    if has_times(kind):
        return functools.partial(_time, kind)
    if pa.types.is_integer(kind):
        return functools.partial(_integer, -pa.types.is_signed_integer(kind) * 2 ** (kind.bit_width - 1), kind)
    if pa.types.is_floating(kind):
        return _float
    if pa.types.is_decimal(kind):
        return functools.partial(_decimal, kind)
    wanted = Kind.TEXT if is_text(kind) else Kind.TRUTH if pa.types.is_boolean(kind) else None
    return lambda value: value.content if value.kind is wanted else None


def _integer(low: int, kind: pa.DataType, value: Value) -> int | None:
    if value.kind is not Kind.NUMBER or not isinstance(value.content, Decimal):
        return None
    inside = low <= value.content < low + 2**kind.bit_width and value.content == int(value.content)
    return int(value.content) if inside else None


def _float(value: Value) -> float | None:
    if value.kind is not Kind.NUMBER or not isinstance(value.content, Decimal):
        return None
    nearest = float(value.content)
    return nearest if abs(nearest) < EXACT and Decimal(repr(nearest)) == value.content else None


def _decimal(kind: pa.DataType, value: Value) -> Decimal | None:
    if value.kind is not Kind.NUMBER:
        return None
    exact = Decimal(written(value))
    exponent = int(exact.as_tuple().exponent)
    fits = not exact or (-exponent <= kind.scale and exact.adjusted() < kind.precision - kind.scale)
    return exact if fits else None


def _time(kind: pa.DataType, value: Value) -> int | None:
    """Return the ticks of a date, a time stamp or a time of day."""
    unit = "D" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
    if pa.types.is_timestamp(kind):
        wanted = Kind.MOMENT if kind.tz is None else Kind.INSTANT
    else:
        wanted = Kind.MOMENT if pa.types.is_date(kind) else Kind.CLOCK
    if value.kind is not wanted or not isinstance(value.content, int):
        return None
    ticks, rest = divmod(value.content, NANOSECONDS[unit])
    return ticks if not rest and abs(ticks) < 2 ** (kind.bit_width - 1) else None
