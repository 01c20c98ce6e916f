"""Attributes whose cells are those of a calendar: periods between two public dates, or parts that come round.

A date or an instant -> the hour in which it lies (`local_time`) -> its period (`calendar_cells`) -> a cell.
"""

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
import numpy as np
import numpy.typing as npt

from dpress.attributes.by_edges import ByEdges, Edges, Places
from dpress.attributes.dates import calendar_cells
from dpress.attributes.dates.calendar_cells import DAY, NEVER, ROUND, Cells, Hours, Period
from dpress.attributes.dates.local_time import hour_of, is_zone
from dpress.attributes.policy import DROP, MISSING, REJECT
from dpress.attributes.protocol import Codes
from dpress.attributes.spread import bell
from dpress.attributes.value import FIRST_DAY, Value
from dpress.core.basics.rng import Generator

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from dpress.attributes.sql.engine_column import Column

WIDEST_FIRST: tuple[Cells, ...] = ("whole", "year", "quarter", "month", "week", "day")
YEAR = Period(19_723 * DAY, 20_089 * DAY)  # the hours of 2024, for cells that come round without bounds
LAST_DAY = dt.date(9999, 12, 30)  # so that every reader of a table knows the day after it


class Date(ByEdges, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="date"):
    """Days between two public dates, both included; a first or last cell that the bounds cut is named by its days.

    Edges are hours since 1970-01-01; where the cells come round, the cells' own numbers.

    Args:
        bounds: the first and the last day. Cells that come round need none: then every date has one.
        cells: "day", "week" (of ISO 8601), "month", "quarter", "year", or "whole", one cell for all of them; or, which
            come round, "weekday" or "month of year".
        outside: what happens to a date outside the bounds: "clamp", "drop" or "reject".
        null: the name of the cell for missing values, or "reject" or "drop".
    """

    bounds: tuple[dt.date, dt.date] | None = None
    cells: Cells

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if self.bounds is None and not self.cyclic:
            raise ValueError(f"attribute {self.name}: cells = {self.cells!r} need `bounds`, the first and the last day")
        if self.bounds is not None and not self.bounds[0] <= self.bounds[1] <= LAST_DAY:
            first, last = map(str, self.bounds)
            raise ValueError(
                f"attribute {self.name}: `bounds` must be the first and the last day, up to {LAST_DAY}, "
                f"got {first} and {last}"
            )
        if self.clocks is None and "hour" in self.cells:
            raise ValueError(f'attribute {self.name}: cells = {self.cells!r} need kind = "datetime" with a `zone`')
        if self.cyclic and self.bounds is not None and self.outside not in (DROP, REJECT):
            raise ValueError(
                f'attribute {self.name}: `outside` must be "drop" or "reject" where cells = {self.cells!r}: none of '
                "them is nearest to a date outside the bounds"
            )
        self._check_extra()

    @property
    def calendar(self) -> Self:
        """The attribute itself."""
        return self

    @property
    def reads(self) -> Literal["time"]:
        """What its column holds."""
        return "time"

    @property
    def clocks(self) -> str | None:
        """The zone on whose clocks an instant is put; None where an instant has no day."""
        return None

    @property
    def cyclic(self) -> bool:
        """Whether the cells come round."""
        return self.cells in ROUND

    def coarser(self, cuts: frozenset[int]) -> Sequence[Self]:
        """Return the attribute in the wider periods at whose borders all cuts lie; see `Cells.coarser`."""
        if self.cyclic:
            return ()
        borders = set(self.edges_at(np.array(sorted(cut for cut in cuts if cut <= self.ordered))).tolist())
        wider = (msgspec.structs.replace(self, cells=cells) for cells in WIDEST_FIRST)
        return [each for each in wider if each.ordered < self.ordered and borders <= set(each.edges.tolist())]

    def within(self, first: int, last: int) -> Self | None:
        """Return the days of some cells; None where these are no whole days. See `Cells.within`.

        Where dates beyond a bound are clamped into them, all days beyond it are theirs.
        """
        if self.cyclic:
            return None
        low, high = self.edges_at(np.array([first, last + 1])).tolist()
        if low % DAY or high % DAY:
            return None
        start, end = (dt.date.fromordinal(FIRST_DAY + number // DAY) for number in (low, high - DAY))
        if self.outside == "clamp":
            start, end = start if first else dt.date.min, end if last < self.ordered - 1 else LAST_DAY
        return msgspec.structs.replace(self, bounds=(start, end), cells="whole", **self.left_out)

    @property
    def period(self) -> Period | None:
        """The hours between the bounds, None where every hour has a cell."""
        if self.bounds is None:
            return None
        first, last = (day.toordinal() - FIRST_DAY for day in self.bounds)
        return Period(first * DAY, (last + 1) * DAY)

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order: all but that for missing values."""
        if self.period is None or self.cyclic:
            return len(ROUND[self.cells])
        return self._number(self.period.end - 1) - self._number(self.period.first) + 1

    def _number(self, hour: int) -> int:
        return int(calendar_cells.number(self.cells, np.array([hour]))[0])

    def cells_of(self, hours: Hours) -> Places:
        """Return the cell of every hour between the bounds."""
        numbers = calendar_cells.number(self.cells, hours)
        return numbers if self.period is None or self.cyclic else numbers - self._number(self.period.first)

    def edges_at(self, places: Places) -> Edges:
        """Return some of the edges, numbered from 0 to `ordered`."""
        if self.period is None or self.cyclic:
            return np.asarray(places)
        starts = calendar_cells.start(self.cells, places + self._number(self.period.first))
        return np.clip(starts, *self.period)

    def edge_below(self, numbers: Edges) -> Places:
        """Return the place of the last edge that is not above each number; the numbers lie between the outer edges."""
        whole = np.asarray(numbers, dtype=np.int64)
        if self.period is None or self.cyclic:
            return whole
        return np.where(whole < self.period.end, self.cells_of(whole), self.ordered)

    def cell_of(self, value: Value) -> int:
        """Return the cell of the hour in which a value lies; see `Cells.cell_of`."""
        hour = hour_of(value, self.clocks)
        return MISSING if hour is None else int(self.cells_of_hours(np.array([hour]))[0])

    def cells_of_hours(self, hours: Hours) -> Codes:
        """Return the cell of every hour since 1970, OUTSIDE outside the bounds unless dates are clamped."""
        if self.period is None:
            return self.cells_of(hours).astype(np.int32)
        first, end = self.period
        codes = self.cells_of(np.clip(hours, first, end - 1)).astype(np.int32)
        return self._beyond(codes, (hours < first) | (hours >= end))

    def arrow_cells(self, column: "pa.Array") -> Codes:
        """Return the cell of every date of an Arrow column; see `Cells.arrow_cells`."""
        from dpress.attributes.dates import arrow  # noqa: PLC0415  # devices read no columns

        return arrow.cells(self, column)

    def below(self, column: "pa.Array") -> npt.NDArray[np.bool_]:
        """Return which dates of an Arrow column lie below the bounds; see `ByEdges.below`."""
        from dpress.attributes.dates import arrow  # noqa: PLC0415  # devices read no columns

        hours = arrow.hours(self, column).hours
        return np.zeros(len(hours), dtype=bool) if self.period is None else hours < self.period.first

    def sql_cell(self, column: "Column", otherwise: "exp.Expr") -> "exp.Expr | None":
        """Return the SQL of the cell of a date; see `Cells.sql_cell`."""
        from dpress.attributes.dates import sql  # noqa: PLC0415  # sqlglot takes a while to import

        return sql.dated_cell(self, column, otherwise) if sql.is_dated(self, column) else None

    @property
    def expected(self) -> str:
        """What a query names."""
        if self.cyclic:
            return f"a name from {ROUND[self.cells][0]} to {ROUND[self.cells][-1]}"
        hour = "" if self.clocks is None else "2024-12-31T23, "
        return f"a date or a period, such as {hour}2024-12-31, 2024-W52, 2024-12, 2024-Q4 or 2024"

    def named(self, text: str) -> tuple[float, float]:
        """Return the first hour, or cell that comes round, that a text of a query names, and the end of what it names.

        Raises:
            ValueError: it names none.
        """
        if not self.cyclic:
            return calendar_cells.period(text)
        cell = ROUND[self.cells].index(text)
        return cell, cell + 1

    def inclusive(self, low: float, high: float) -> tuple[str, str]:
        """Return the ends of the range between two edges as a query writes them, both included."""
        first, last = int(low), int(high) - 1
        if self.cyclic:
            return ROUND[self.cells][first], ROUND[self.cells][last]
        unit = "day" if first % DAY == 0 and (last + 1) % DAY == 0 else "hour"
        return calendar_cells.name(unit, first), calendar_cells.name(unit, last)

    @property
    def limits(self) -> tuple[str, str] | None:
        """The first and the last day; None where every date has a cell."""
        return None if self.bounds is None else (str(self.bounds[0]), str(self.bounds[1]))

    def ticks_between(self, start: int, stop: int) -> list[str]:
        """Return a short name of each of the cells start..stop-1: its name, which is short already."""
        return self.labels_between(start, stop)

    def edge_column(self, numbers: Edges, beside: npt.NDArray[np.bool_]) -> "pa.Array":
        """Return hours as a column of days; see `ByEdges.edge_column`."""
        import pyarrow as pa  # noqa: PLC0415  # devices write no tables

        return pa.array(numbers // DAY, type=pa.int32(), mask=beside).cast(pa.date32())

    def made_up(self, rows: int, rng: Generator) -> dict[str, Any]:
        """Return whole hours around the middle of the bounds."""
        first, end = self.period or YEAR
        hours = first + (bell(rows, rng) * (end - first)).astype(np.int64)
        return {self.read_from: hours.astype("datetime64[h]").astype("datetime64[s]")}

    def _edges_for_script(self, *, short: bool) -> dict[str, Any] | None:
        return {"kind": "dated", "cyclic": self.cyclic, "edges": self.edges.tolist()} if short else None

    def _names(self, start: int, stop: int) -> list[str]:
        if self.period is None or self.cyclic:
            return list(ROUND[self.cells][start:stop])
        numbers = np.arange(start, stop + 1) + self._number(self.period.first)
        whole = calendar_cells.start(self.cells, numbers).tolist()
        names = [calendar_cells.name(self.cells, hour) if abs(hour) < NEVER else "" for hour in whole[:-1]]
        for cell in {start, stop - 1} & {0, self.ordered - 1}:
            low, high = self.edges_at(np.array([cell, cell + 1])).tolist()
            if [low, high] != whole[cell - start : cell - start + 2]:
                names[cell - start] = "..".join(dict.fromkeys(self.inclusive(low, high)))
        return names

    def _ordered_code(self, label: str) -> int | None:
        try:
            first = self.named(label.partition("..")[0])[0]
        except ValueError:
            return None
        low, high = self.ends
        cell = int(self.edge_below(np.array([min(max(first, low), high - 1)]))[0])
        return cell if self._names(cell, cell + 1) == [label] else None


class DateTime(Date, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="datetime"):
    """Times of the clocks of a place, between two public days of its calendar.

    A time stamp without a zone is one of these clocks; an instant is put on them. An hour that the clocks show twice,
    when daylight saving ends, is one cell with both.

    Args:
        zone: of the clocks: "UTC", or a name of the IANA database such as "Europe/Berlin".
        bounds: as of `Date`.
        cells: those of `Date`, "hour", and "hour of day", which comes round.
        outside: as of `Date`.
        null: as of `Date`.
    """

    no_device: ClassVar[str] = "devices code no times, whose hours are those of a zone"
    for_devices: ClassVar[str] = 'use kind = "date" with the days of that place, or set model = "central"'
    zone: str

    @property
    def clocks(self) -> str:
        """The zone on whose clocks an instant is put."""
        return self.zone

    def edge_column(self, numbers: Edges, beside: npt.NDArray[np.bool_]) -> "pa.Array":
        """Return hours as a column of time stamps of its clocks; see `ByEdges.edge_column`."""
        import pyarrow as pa  # noqa: PLC0415  # devices write no tables

        return pa.array(numbers * 3600, type=pa.int64(), mask=beside).cast(pa.timestamp("s"))

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if not is_zone(self.zone):
            raise ValueError(
                f'attribute {self.name}: `zone` must be "UTC" or a name of the IANA database such as "Europe/Berlin", '
                f"got {self.zone!r}"
            )
        super().__post_init__()


ATTRIBUTES = (Date, DateTime)
PLACE = 3  # of the room where kinds are listed
