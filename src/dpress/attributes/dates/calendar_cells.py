"""The cells of a calendar: hours, days, weeks, months, ... counted on and on, or those that come round.

Time is counted in whole hours since 1970-01-01 of the Gregorian calendar, extended to all years. A week is that of
ISO 8601: it begins on Monday, and its year is that of its Thursday.
"""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dpress.attributes.value import FIRST_DAY

Cells = Literal["hour", "day", "week", "month", "quarter", "year", "whole", "hour of day", "weekday", "month of year"]
Hours = npt.NDArray[np.int64]

DAY = 24  # hours
NEVER = 1 << 40  # hours from 1970: beyond every calendar
UNITS: Mapping[str, str] = {"hour": "h", "day": "D", "month": "M", "year": "Y"}
MONTHS: Mapping[str, int] = {"month": 1, "quarter": 3, "year": 12}
ROUND: Mapping[str, tuple[str, ...]] = {
    "hour of day": tuple(f"{hour:02}" for hour in range(DAY)),
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "month of year": (
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ),
}  # fmt: skip
"""The names of the cells that come round, in their natural order."""
PERIOD = re.compile(
    r"(?P<year>\d{4})(-Q(?P<quarter>[1-4])|-W(?P<week>\d\d)|-\d\d(-\d\d([T ]([01]\d|2[0-3]))?)?)?", re.ASCII
)


class Period(NamedTuple):
    """A stretch of time: its first hour and the one after its last."""

    first: int
    end: int


def number(cells: str, hours: Hours) -> Hours:
    """Return which period of a kind every hour lies in, counted since 1970; of those that come round from 0.

    Args:
        cells: the kind of period.
        hours: shape (m,).
    """
    days = hours // DAY
    if cells in MONTHS:
        return _months(days) // MONTHS[cells]
    if cells == "whole":
        return np.zeros_like(hours)
    if cells == "month of year":
        return _months(days) % 12
    if cells in ("week", "weekday"):
        since = days + 3  # 1970 began on a Thursday
        return since // 7 if cells == "week" else since % 7
    if cells == "hour of day":
        return hours % DAY
    return days if cells == "day" else hours


def start(cells: str, numbers: Hours) -> Hours:
    """Return the first hour of periods of a kind that does not come round.

    Args:
        cells: the kind of period.
        numbers: which ones, as `number` counts them, shape (m,).
    """
    if cells in MONTHS:
        months = (numbers * MONTHS[cells]).astype("datetime64[M]")
        return months.astype("datetime64[D]").astype(np.int64) * DAY
    if cells == "week":
        return (numbers * 7 - 3) * DAY
    if cells == "whole":
        return np.where(numbers > 0, NEVER, -NEVER)
    return numbers * DAY if cells == "day" else numbers


def name(cells: str, hour: int) -> str:
    """Return the name of the period of a kind that begins with an hour.

    >>> [name(cells, 0) for cells in ("hour", "day", "month", "quarter", "year")], name("week", -72)
    (['1970-01-01T00', '1970-01-01', '1970-01', '1970-Q1', '1970'], '1970-W01')
    """
    if cells == "week":
        monday = dt.date.fromordinal(hour // DAY + FIRST_DAY).isocalendar()
        return f"{monday.year:04}-W{monday.week:02}"
    if cells == "quarter":
        year, month = name("month", hour).split("-")
        return f"{year}-Q{(int(month) + 2) // 3}"
    return str(np.datetime64(hour, "h").astype(f"datetime64[{UNITS[cells]}]"))


def period(text: str) -> Period:
    """Return what the name of an hour, a day, a week, a month, a quarter or a year stands for.

    Raises:
        ValueError: the text is none of these, or there is no such day or week.
    """
    if (match := PERIOD.fullmatch(text)) is None:
        raise ValueError("no period")
    if match["week"]:
        monday = dt.date.fromisocalendar(int(match["year"]), int(match["week"]), 1).toordinal() - FIRST_DAY
        return Period(monday * DAY, (monday + 7) * DAY)
    if match["quarter"]:
        text = f"{match['year']}-{3 * int(match['quarter']) - 2:02}"
    first = np.datetime64(text.replace(" ", "T"))
    end = (first.astype(np.int64) + (3 if match["quarter"] else 1)).astype(first.dtype)  # in the unit of its own text
    return Period(*(int(day.astype("datetime64[h]").astype(np.int64)) for day in (first, end)))


def _months(days: Hours) -> Hours:
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
