"""Days for reports.json, by a program that shares no code with dpress: texts of dates to the codes of their cells.

A day is counted by the calendar of the standard library, a cell by walking through all days of the bounds.
"""

import datetime as dt

TEXTS = [
    "2023-12-31", "2024-01-01", "2024-01-09", "2024-01-10", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-31",
    "2024-04-01", "2024-12-29", "2024-12-30", "2024-12-31", "2025-01-01", "2020-12-28", "2020-12-31", "2021-01-01",
    "2021-01-03", "2021-01-04", "1900-02-28", "1900-03-01", "2000-02-29", "1969-12-31", "1970-01-01", "0001-01-01",
    "9999-12-30", "9999-12-31",
]  # fmt: skip
WRITTEN = [" 2024-02-29 ", "2024-02-29T23:59", "2024-02-29 00:00:00.5", "2024-02-29T23:59:60,25\n"]
NONE = [
    "", "2024", "2024-2-29", "2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-00-10", "2024-01-00",
    "0000-12-31", "20240229", "29.02.2024", "2024-02-29T24:00", "2024-02-29T23", "2024-02-29T23:58:60",
    "2024-02-29T23:59Z", "2024-02-29T23:59+01:00", "2024-02-29 x", "12024-02-29", "\u00a02024-02-29", 20240229, 2024,
    True, None,
]  # fmt: skip
BOUNDS = [
    ["2024-01-10", "2024-12-31"],
    ["2020-12-28", "2021-01-03"],
    ["1900-02-28", "2000-02-29"],
    ["2024-02-29", "2024-02-29"],
    ["0001-01-01", "9999-12-30"],
]
ROUND = {"weekday": 7, "month of year": 12}


def named(cells, day):
    """Return what the cell of a day is called, or its number where cells come round."""
    return {
        "day": day,
        "week": day.isocalendar()[:2],
        "month": (day.year, day.month),
        "quarter": (day.year, (day.month + 2) // 3),
        "year": day.year,
        "whole": 0,
        "weekday": day.isoweekday() - 1,
        "month of year": day.month - 1,
    }[cells]


def coded(cells, bounds, outside, day):
    """Return the code of a day, or why it has none."""
    first, last = (dt.date.min, dt.date.max) if bounds is None else map(dt.date.fromisoformat, bounds)
    if not first <= day <= last:
        if outside != "clamp":
            return outside
        day = min(max(day, first), last)
    if cells in ROUND:
        return named(cells, day)
    if cells == "day":
        return (day - first).days
    whole = range(first.toordinal(), day.toordinal() + 1)
    return len({named(cells, dt.date.fromordinal(number)) for number in whole}) - 1


def dates():
    """Yield attributes of dates, with the code that a device finds of every text, or why it sends nothing."""
    for cells in ("day", "week", "month", "quarter", "year", "whole"):
        for place, bounds in enumerate(BOUNDS if cells in ("day", "whole") else BOUNDS[:-1]):
            yield attribute(cells, bounds, ("clamp", "drop", "reject")[place % 3])
    for cells in ROUND:
        yield attribute(cells, None, "clamp")
        yield attribute(cells, BOUNDS[0], "drop")


def attribute(cells, bounds, outside):
    null = "null" if outside == "clamp" else "reject"
    own = {"bounds": bounds, "cells": cells, "kind": "date", "name": "day", "null": null, "outside": outside}
    day = dt.date(2024, 2, 29)
    codes = [coded(cells, bounds, outside, dt.date.fromisoformat(text)) for text in TEXTS]
    codes += [coded(cells, bounds, outside, day) for _ in WRITTEN]
    last = dt.date.max if bounds is None else dt.date.fromisoformat(bounds[1])
    size = ROUND.get(cells) or coded(cells, bounds, "clamp", last) + 1
    codes += [size if null == "null" else null for _ in NONE]
    return {"attribute": own, "cells": size + (null == "null"), "values": [*TEXTS, *WRITTEN, *NONE], "codes": codes}
