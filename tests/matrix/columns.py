"""Types of columns: how a specification states each, values with the cells that they belong to, and values that stray.

The cells are written beside the values by hand, so that what is counted can be checked without any code of dpress.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Any

OTHER, MISSING = "elsewhere", "not told"  # names of cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One type of column.

    Args:
        attribute: as a specification has it, but for its name.
        inside: values that lie in its first cells, one a cell, in the order of the cells.
        stray: a value outside of what the attribute takes; None where there is none.
        clamped: the cell of `stray` where it is clamped.
        labels: what the cells of `inside` are called.
        columns: that hold its values, where these are two.
    """

    attribute: dict[str, Any]
    inside: tuple[Any, ...]
    labels: tuple[str, ...] = ()
    stray: Any = None
    clamped: int = 0
    columns: tuple[str, ...] = ()

    @property
    def discovered(self) -> bool:
        """Whether nobody lists its values."""
        return self.attribute.get("values") == "discover"

    @property
    def listed(self) -> bool:
        """Whether its values are listed, by themselves or in a tree, or to be discovered."""
        return self.attribute["kind"] in ("categorical", "ordinal", "hierarchy")

    @property
    def bounded(self) -> bool:
        """Whether values may lie outside its bounds."""
        return not self.listed


def listed(*values: Any, kind: str = "categorical", stray: Any = "nowhere") -> Column:
    """Return a column of listed values; every name of a cell is the value's text."""
    labels = tuple(str(one).lower() if isinstance(one, bool) else str(one) for one in values)
    return Column(attribute={"kind": kind, "values": list(values)}, inside=values, labels=labels, stray=stray)


def discovered(*values: Any) -> Column:
    """Return a column of values that nobody lists."""
    found = listed(*values)
    return Column(attribute={"kind": "categorical", "values": "discover"}, inside=values, labels=found.labels)


def dated(cells: str, values: tuple[Any, ...], labels: tuple[str, ...], **more: Any) -> Column:
    """Return a column of dates, or of times where they have a zone."""
    kind = "datetime" if "zone" in more else "date"
    bounds = {} if "of" in cells else {"bounds": ["2024-01-01", "2024-04-30"]}
    stray = None if "of" in cells else dt.date(2025, 1, 1) if kind == "date" else dt.datetime(2025, 1, 1, 12)
    attribute = {"kind": kind, "cells": cells, **bounds, **more}
    return Column(attribute=attribute, inside=values, labels=labels, stray=stray, clamped=3)


MONTHS = ("2024-01", "2024-02", "2024-03", "2024-04")
DAYS = tuple(dt.date(2024, month, 5) for month in (1, 2, 3, 4))
HOURS = tuple(dt.datetime(2024, 1, 5, hour, 30) for hour in range(24))
NASTY = ("constructor", "toString", "__proto__", "=1+1", "<script>alert(1)</script>", "a,b", "\u202egnp.exe", "O'Neil")
CODES = ("a1", "a2", "b1", "c1", "c2")
COLUMNS = {
    "texts": listed("North", "East", "South"),
    "nasty": listed(*NASTY),
    "nul": listed("a\0b", "ab", "a"),
    "integers": listed(10, 9, 2, stray=77),
    "truths": listed(False, True, stray=None),
    "ordinal": listed("low", "middle", "high", "top", kind="ordinal"),
    "any texts": discovered("North", "East", "South"),
    "any integers": discovered(10, 9, 2),
    "any truths": discovered(False, True),
    "any nasty": discovered("constructor", "toString", "__proto__"),
    "codes": Column(
        attribute={"kind": "hierarchy", "levels": ["top", "leaf"], "prefix": [1, 2], "values": [*CODES]}, inside=CODES,
        labels=CODES, stray="nowhere",
    ),
    "integer": Column(
        attribute={"kind": "integer", "bounds": [17, 24]}, inside=tuple(range(17, 25)), stray=99, clamped=7,
        labels=tuple(map(str, range(17, 25))),
    ),
    "years": Column(
        attribute={"kind": "integer", "bounds": [0, 19], "bins": 4}, inside=(1, 7, 14, 16), stray=-3,
        labels=("0..4", "5..9", "10..14", "15..19"),
    ),
    "bins": Column(
        attribute={"kind": "numeric", "bounds": [0.0, 8.0], "bins": 8}, inside=tuple(one + 0.5 for one in range(8)),
        stray=1e9, clamped=7,
    ),
    "edges": Column(
        attribute={"kind": "numeric", "edges": [-1.0, 0.0, 0.5, 10.0]}, inside=(-0.5, 0.25, 5.0), stray=-7.0,
    ),
    "month": dated("month", DAYS, MONTHS),
    "quarter in Berlin": dated(
        "quarter", (dt.datetime(2024, 2, 1, 8), dt.datetime(2024, 4, 2, 8)), ("2024-Q1", "2024-04-01..2024-04-30"),
        zone="Europe/Berlin",
    ),
    "hour": dated("hour of day", HOURS, tuple(f"{one:02}" for one in range(24)), zone="UTC"),
    "place": Column(
        attribute={"kind": "location", "columns": ["lon", "lat"], "bounds": [[0.0, 8.0], [0.0, 8.0]]},
        inside=((0.5, 0.5), (4.5, 0.5), (0.5, 4.5), (7.5, 7.5)), stray=(99.0, 1.0), columns=("lon", "lat"),
    ),
}  # fmt: skip
COLUMNS["quarter in Berlin"] = Column(
    attribute=COLUMNS["quarter in Berlin"].attribute, inside=COLUMNS["quarter in Berlin"].inside,
    labels=COLUMNS["quarter in Berlin"].labels, stray=dt.datetime(2025, 1, 1, 12), clamped=1,
)  # fmt: skip
COST = Column(
    attribute={"kind": "numeric", "bounds": [0.0, 1024.0], "bins": 64, "outside": "clamp", "null": "drop"},
    inside=(104.0, 200.0, 328.0, 520.0, 904.0),
)
