"""Arrow columns of dates and times as cells of a calendar: ticks are turned into hours, never into text.

column -> hours since 1970 on the clocks of the attribute's zone -> cells (`Date.cells_of_hours`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.arrow import objects
from dpress.attributes.arrow.finite_times import finite
from dpress.attributes.arrow.numbers import is_text
from dpress.attributes.dates.attribute import Date
from dpress.attributes.dates.local_time import FAR, hour_of, hours_of_instants
from dpress.attributes.policy import MISSING
from dpress.attributes.value import NANOSECONDS, Value, read
from dpress.core.basics.errors import SchemaMismatch

PLAIN = (
    r"^(?:[1-9]\d{3}|0[1-9]\d\d|00[1-9]\d|000[1-9])-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|"
    r"(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.]\d+)?Z?$"
)
"""A time in whole, on a day that every year has, at an hour that every day has, of no zone or of UTC."""
NONE = 2 * FAR  # where there is no hour


@dataclass(frozen=True, slots=True, eq=False)
class Hours:
    """When a column's values are.

    Args:
        hours: since 1970 on the clocks of the attribute's zone, anything where a row is missing.
        missing: rows without a date.
    """

    hours: npt.NDArray[np.int64]
    missing: npt.NDArray[np.bool_]


def cells(attribute: Date, column: pa.Array) -> npt.NDArray[np.int32]:
    """Return the cell of every value, OUTSIDE or MISSING; see `hours`."""
    moments = hours(attribute, column)
    codes = attribute.cells_of_hours(moments.hours)
    codes[moments.missing] = MISSING
    return codes


def hours(attribute: Date, column: pa.Array) -> Hours:
    """Return the hour of every value.

    Args:
        attribute: of dates or times.
        column: of our own type, or one that Arrow's functions know.

    Raises:
        SchemaMismatch: the column's type holds no dates, or instants where there is no zone.
    """

    def hour(value: Value | None) -> int:
        number = None if value is None else hour_of(value, attribute.clocks)
        return NONE if number is None else number

    if objects.is_ours(column.type):
        each = objects.each(column, hour, NONE).astype(np.int64)
    elif is_text(column.type):
        each = _of_texts(column, attribute.clocks, hour)
    else:
        _check_type(attribute, column.type)
        return _of_ticks(attribute, column)
    return Hours(hours=each, missing=each == NONE)


def _of_texts(column: pa.Array, clocks: str | None, hour: Callable[[Value | None], int]) -> npt.NDArray[np.int64]:
    """Return the hour of every text: of plain ones Arrow reads the seconds, others are read once for each."""
    plain = np.asarray(pc.fill_null(pc.match_substring_regex(column, PLAIN), False))
    each = np.full(len(column), NONE, dtype=np.int64)
    texts = column.filter(pa.array(plain))
    clock = pc.replace_substring(pc.utf8_slice_codeunits(texts, 0, 19), "T", " ")
    seconds = np.asarray(clock.cast(pa.timestamp("s")).cast(pa.int64()))
    instants = np.asarray(pc.ends_with(texts, "Z"), dtype=bool)
    in_hours = seconds // 3600
    in_hours[instants] = NONE if clocks is None else hours_of_instants(clocks, seconds[instants])
    each[plain] = in_hours
    others = column.filter(pa.array(~plain)).dictionary_encode()
    of_others = np.array([*(hour(read(value)) for value in others.dictionary.to_pylist()), NONE], dtype=np.int64)
    each[~plain] = of_others[np.asarray(pc.fill_null(others.indices.cast(pa.int64()), len(of_others) - 1))]
    return each


def _check_type(attribute: Date, kind: pa.DataType) -> None:
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_null(kind)):
        raise SchemaMismatch(f"attribute {attribute.name}: a column of type {kind} holds no dates; convert it first")
    if attribute.clocks is None and getattr(kind, "tz", None) is not None:
        raise SchemaMismatch(
            f"attribute {attribute.name}: a column of type {kind} holds instants, whose day depends on the place; "
            'use kind = "datetime" with a `zone`'
        )


def _of_ticks(attribute: Date, column: pa.Array) -> Hours:
    kind = column.type
    if pa.types.is_null(kind):
        return Hours(hours=np.zeros(len(column), dtype=np.int64), missing=np.ones(len(column), dtype=bool))
    column = finite(column)
    unit = "D" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
    integers = pa.int32() if kind.bit_width == 32 else pa.int64()
    ticks = np.asarray(pc.fill_null(column.view(integers), 0)).astype(np.int64)
    if unit == "D":
        in_hours = ticks * 24
    elif pa.types.is_timestamp(kind) and kind.tz is not None and attribute.clocks is not None:
        in_hours = hours_of_instants(attribute.clocks, ticks // (NANOSECONDS["s"] // NANOSECONDS[unit]))
    else:
        in_hours = np.clip(ticks // (NANOSECONDS["h"] // NANOSECONDS[unit]), -FAR, FAR)
    return Hours(hours=in_hours, missing=np.asarray(column.is_null()))
