"""What one value is, whatever holds it: a text, a number, a truth, a moment or a time of day.

Equal values are one value in every container: 1, 1.0 and decimal 1.00; a date and its midnight. A float is widened to
64 bits and is then the shortest decimal that reads back as it, so 0.1 is the number 0.1 and the 32-bit 0.1 is
0.10000000149011612. A text is a text, and bytes are text in UTF-8; what it reads as is the attribute's business.
"""

import datetime as dt
import enum
import math
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

EXACT = 1 << 53  # from here on a float may stand for another integer
NANOSECONDS = {"W": 604_800 * 10**9, "D": 86_400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9} | {
    unit: 10 ** (9 - digits) for unit, digits in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))
}
BLANKS = " \t\n\r\f"
FIRST_DAY = dt.date(1970, 1, 1).toordinal()
PLAIN = 400  # digits before or after the point up to which a number is written without an exponent
READABLE = re.compile(rf"[{BLANKS}]*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[{BLANKS}]*", re.ASCII)
NUMERAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)
CLOCK = r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d):(?P<second>[0-5]\d)(\.(?P<part>\d{1,9}))?"
TIME = re.compile(CLOCK, re.ASCII)
DAY = re.compile(rf"(?P<day>\d{{4}}-\d\d-\d\d)([ T]{CLOCK})?(?P<zone>Z|[+-]\d\d:?\d\d)?", re.ASCII)


class Kind(enum.IntEnum):
    """The kinds of values."""

    TEXT = 0
    NUMBER = 1
    ROUNDED = 2  # a float of 2^53 or more, or infinite: which integer it was is not known, so it equals no listed value
    TRUTH = 3
    MOMENT = 4  # nanoseconds since 1970 on a calendar without a zone
    INSTANT = 5  # nanoseconds since 1970 UTC
    CLOCK = 6  # nanoseconds since midnight
    LARGE = 7  # an integer of 2^53 or more that equals no listed value, as a float in its place would not


@dataclass(frozen=True, slots=True)
class Value:
    """One value; equal where kind and content are.

    Args:
        kind: what it is.
        content: a text, an exact number, a truth, or nanoseconds.
    """

    kind: Kind
    content: str | Decimal | bool | int


def read(value: Any) -> Value | None:
    """Return what a Python object or NumPy scalar is; None where it is missing, NaN, or no value of these kinds.

    >>> read(1.0) == read(1) == read(Decimal("1.00"))
    True
    >>> read(np.float32(0.1)) == read(0.1)
    False
    """
    if isinstance(value, str):
        return Value(Kind.TEXT, "".join(value))  # a subclass may compare in its own way
    if isinstance(value, bytes):
        return Value(Kind.TEXT, value.decode(errors="surrogateescape"))
    if isinstance(value, (bool, np.bool_)):
        return Value(Kind.TRUTH, bool(value))
    if isinstance(value, (int, float, complex, Decimal, np.number)):
        return _number(value)
    return _rare(value)


def number(text: str) -> Decimal | None:
    """Return the exact number that a text reads as, or None; digits, a point and an exponent are read, nothing else."""
    if not READABLE.fullmatch(text):
        return None
    text = text.strip(BLANKS)
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond all decimals
        return Decimal(float(text))


def readings(text: str) -> Iterator[Value]:
    """Yield the values that a listed text stands for: itself, and the number, truth or time that it writes out.

    >>> [value.kind.name for value in readings("1.50")], [value.kind.name for value in readings("007")]
    (['TEXT', 'NUMBER'], ['TEXT'])
    """
    yield Value(Kind.TEXT, text)
    if NUMERAL.fullmatch(text):
        yield Value(Kind.NUMBER, Decimal(text))
    if text in ("true", "false"):
        yield Value(Kind.TRUTH, text == "true")
    if match := TIME.fullmatch(text):
        yield Value(Kind.CLOCK, _since_midnight(match))
    if match := DAY.fullmatch(text):
        yield from _moment(match)


def written(value: Value) -> str:
    """Return the one text of a value: plain decimals without trailing zeros; times in nanoseconds.

    >>> written(read(Decimal("1.50"))), written(read(-0.0)), written(read(1e3))
    ('1.5', '0', '1000')
    """
    if not isinstance(value.content, Decimal):
        return str(value.content).lower() if value.kind is Kind.TRUTH else str(value.content)
    sign, digits, exponent = value.content.as_tuple()
    if not isinstance(exponent, int):
        return "-inf" if sign else "inf"
    kept = "".join(map(str, digits)).rstrip("0")
    exponent += len(digits) - len(kept)
    if not kept:
        return "0"
    exact = Decimal((sign, tuple(map(int, kept)), exponent))
    return format(exact, "f") if abs(exact.adjusted()) < PLAIN and len(kept) < PLAIN else str(exact)


def text_of(value: Value) -> str | None:
    """Return the text that a value is, of an integer or a truth as it is written; None of anything else."""
    if value.kind is Kind.TEXT or value.kind is Kind.TRUTH:
        return written(value)
    if value.kind is not Kind.NUMBER or not isinstance(value.content, Decimal) or not value.content.is_finite():
        return None
    return written(value) if value.content == value.content.to_integral_value() else None


def _number(value: Any) -> Value | None:
    """Return what a number is; a complex one without an imaginary part is its real part."""
    if isinstance(value, Decimal):
        return None if value.is_nan() else Value(Kind.NUMBER, value)
    if isinstance(value, np.timedelta64):  # it calls itself an integer
        return None
    if isinstance(value, (int, np.integer)):
        return Value(Kind.NUMBER, Decimal(int(value)))
    if isinstance(value, (float, np.floating)):
        return _float(float(value))
    return _float(float(value.real)) if value.imag == 0 else None


def _float(value: float) -> Value | None:
    if math.isnan(value):
        return None
    return Value(Kind.NUMBER if abs(value) < EXACT else Kind.ROUNDED, Decimal(repr(value)))


def _rare(value: Any) -> Value | None:
    """Return what a time or a UUID is."""
    if isinstance(value, np.datetime64):
        return _ticks(value)
    if isinstance(value, dt.date):
        return _date(value)
    if isinstance(value, dt.time):
        clock = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**9 + value.microsecond * 1000
        return Value(Kind.CLOCK, clock) if value.tzinfo is None else None
    return Value(Kind.TEXT, str(value)) if isinstance(value, uuid.UUID) else None


def _ticks(value: np.datetime64) -> Value | None:
    unit, step = np.datetime_data(value.dtype)
    if np.isnat(value) or unit == "generic":
        return None
    if unit not in NANOSECONDS:  # months and years are days; finer than nanoseconds is cut off
        unit, step = ("D", 1) if unit in ("M", "Y") else ("ns", 1)
        value = value.astype(f"datetime64[{unit}]")
    return Value(Kind.MOMENT, int(value.astype(np.int64)) * step * NANOSECONDS[unit])


def _date(value: dt.date) -> Value | None:
    """Return a date as its midnight; a time stamp as its moment, or with a zone as its instant."""
    if value != value:  # a data frame's missing time  # noqa: PLR0124
        return None
    moment = (value.toordinal() - FIRST_DAY) * NANOSECONDS["D"]
    if not isinstance(value, dt.datetime):
        return Value(Kind.MOMENT, moment)
    moment += ((value.hour * 60 + value.minute) * 60 + value.second) * 10**9 + value.microsecond * 1000
    moment += getattr(value, "nanosecond", 0)
    offset = value.utcoffset()
    if offset is None:
        return Value(Kind.MOMENT, moment)
    seconds = offset.days * 86_400 + offset.seconds
    return Value(Kind.INSTANT, moment - seconds * 10**9 - offset.microseconds * 1000)


def _since_midnight(match: re.Match[str]) -> int:
    seconds = (int(match["hour"]) * 60 + int(match["minute"])) * 60 + int(match["second"])
    return seconds * 10**9 + int((match["part"] or "").ljust(9, "0"))


def _moment(match: re.Match[str]) -> Iterator[Value]:
    try:
        day = dt.date.fromisoformat(match["day"])
    except ValueError:
        return
    moment = (day.toordinal() - FIRST_DAY) * NANOSECONDS["D"] + (_since_midnight(match) if match["hour"] else 0)
    zone = match["zone"]
    if zone is None:
        yield Value(Kind.MOMENT, moment)
    elif match["hour"]:
        minutes = 0 if zone == "Z" else int(zone[0] + "1") * (int(zone[1:3]) * 60 + int(zone[-2:]))
        yield Value(Kind.INSTANT, moment - minutes * NANOSECONDS["m"])
