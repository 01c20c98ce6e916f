"""Tables of a series: how groups have changed, every number of every period, and a period by itself.

parts of a page -> tables that its script sorts and saves, and the same as text for who has no script.
"""

import math
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.inference.suppression import MARK
from dpress.release.periods.period_numbers import Change
from dpress.reporting.page_lists import List, Shown, listed
from dpress.reporting.page_tables import Table
from dpress.reporting.rounding import TIMES, error, interval, number, stated, unit_for
from dpress.reporting.series_parts import MOST_SHOWN, Part

MOST_PERIODS = 60  # of a table of text
MOST_COLUMNS = 6  # of groups, in a table of text
MOST_OF_PERIODS = 1_500  # rows of the sections of all periods
STATED = ("value", "95 % interval", "standard error")
Integers = npt.NDArray[np.int64]
DIRECTIONS: Mapping[float, str] = {1.0: "rises", -1.0: "falls", 0.0: "the noise hides it"}


def anchor(period: str) -> str:
    """Return the name of a period's section on the page."""
    return f"period-{quote(re.sub(r'[^-.0-9A-Za-z]', '-', period))}"


def directions(change: Change) -> list[str]:
    """Return whether each group rises or falls, in words."""
    return [DIRECTIONS.get(each, "not known") for each in change.significant.tolist()]


def change_list(part: Part, change: Change, periods: Sequence[str]) -> List:
    """Return the change of every group from the last period but one, as the script of the page lists it."""
    before, latest = periods[-2:]
    order, words = _clear_first(change), directions(change)
    columns = zip(*(part.labels[place] for place in order), strict=True)
    labels = [(axis.caption, column) for axis, column in zip(part.axes, columns, strict=True)]
    numbers = part.numbers
    measured = {
        "value": numbers.value[order, -1],
        "standard_error": numbers.error[order, -1],
        "change": change.value[order],
        "low": change.low[order],
        "high": change.high[order],
    }
    heads = {
        "value": f"{latest} ({part.statistic.unit})" if part.statistic.unit else latest,
        "standard_error": "standard error",
        "change": f"change since {before}",
        "low": "change from",
        "high": "change to",
    }
    shown = Shown(heads=heads, links={}, linked=0)
    title = f"{part.heading}, {latest} and {before}"
    return listed(title, [*labels, (f"since {before}", [words[place] for place in order])], measured, shown)


def _clear_first(change: Change) -> Integers:
    """Return the groups whose change is significant, then all others, each in their order."""
    return np.argsort(np.nan_to_num(change.significant) == 0, kind="stable")


def period_list(part: Part, periods: Sequence[str], word: str, links: Mapping[str, str]) -> List:
    """Return every number of a part, the latest period first, as the script of the page lists it."""
    places = range(len(periods))[::-1]
    rows = [(group, periods[place]) for place in places for group in part.labels]
    labels = [(axis.caption, [group[at] for group, _ in rows]) for at, axis in enumerate(part.axes)]
    columns = [(word, [period for _, period in rows]), *labels]
    numbers = part.numbers
    flat: dict[str, Array] = {
        "value": _latest_first(numbers.value),
        "low": _latest_first(numbers.low),
        "high": _latest_first(numbers.high),
        "standard_error": _latest_first(numbers.error),
    }
    heads = {"value": part.statistic.caption, "low": "95 % from", "high": "95 % to", "standard_error": "standard error"}
    return listed(f"{part.heading} by {word}", columns, flat, Shown(heads=heads, links=links, linked=0))


def _latest_first(values: Array) -> Array:
    return values.T[::-1].ravel()


def change_table(part: Part, change: Change, periods: Sequence[str]) -> Table:
    """Return the changes as text: the significant ones first, then those of the largest groups."""
    before, latest = periods[-2:]
    by, value = TIMES.join(axis.caption for axis in part.axes), f"{part.statistic.caption}, {latest}"
    names = (by, value, f"change since {before}", "interval", f"since {before}")
    places, words = _clear_first(change)[:MOST_SHOWN].tolist(), directions(change)
    hidden = np.any(part.numbers.hidden[:, -2:], axis=1, keepdims=True)
    texts = [(MARK, MARK, MARK) if hidden[place] else (*_change(change, place), words[place]) for place in places]
    rows = tuple((part.names[place], cell(part, place, -1), *text) for place, text in zip(places, texts, strict=True))
    return Table(caption=f"{part.heading}, {latest} and {before}", names=names, labels=1, rows=rows)


def _change(change: Change, place: int) -> tuple[str, str]:
    value, low, high = (float(column[place]) for column in (change.value, change.low, change.high))
    unit = unit_for((high - low) / 4)
    ends = "not known" if math.isnan(low) else interval(low, high, unit)
    return number(value, unit) if math.isfinite(value) else "not known", ends


def period_table(part: Part, periods: Sequence[str], word: str, links: Mapping[str, str]) -> Table:
    """Return the latest periods as text, with the largest groups."""
    names = part.names[:MOST_COLUMNS]
    places = [*range(len(periods))[::-1][:MOST_PERIODS]]
    rows = tuple((periods[place], *(cell(part, group, place) for group in range(len(names)))) for place in places)
    heads = names if part.axes else [part.statistic.caption]
    leads = tuple(links[periods[place]] for place in places)
    return Table(caption=f"{part.heading} by {word}", names=(word, *heads), labels=1, rows=rows, links=leads)


def all_rows(parts: Sequence[Part]) -> Table | None:
    """Return what the latest period says of all rows together; None where it says nothing of them."""
    rows = tuple((part.statistic.caption, *_stated(part, 0)) for part in parts if not part.axes)
    return Table(caption="All rows together", names=("statistic", *STATED), labels=1, rows=rows) if rows else None


def group_table(part: Part) -> Table:
    """Return what the latest period says of the largest groups."""
    by, value = TIMES.join(axis.caption for axis in part.axes), part.statistic.caption
    rows = tuple((name, *_stated(part, group)) for group, name in enumerate(part.names[:MOST_PERIODS]))
    return Table(caption=part.heading, names=(by, value, *STATED[1:]), labels=1, rows=rows)


def _stated(part: Part, group: int) -> tuple[str, str, str]:
    if part.numbers.hidden[group, -1]:
        return MARK, MARK, MARK
    value, deviation, low, high = (float(column[group, -1]) for column in part.shown.columns)
    if part.base > 1:
        return number(value, part.base), interval(low, high, part.base), error(deviation)
    return stated(value, (low, high), deviation)


def of_period(parts: Sequence[Part], period: str, place: int, most: int) -> Table | None:
    """Return the first rows of one period, of all parts, as text; None where there is room for none."""
    rows = [
        (f"{part.statistic.caption}: {name}", cell(part, group, place))
        for part in parts
        for group, name in enumerate(part.names)
    ]
    return Table(caption=f"In {period}", names=("of", "value"), labels=1, rows=tuple(rows[:most])) if most else None


def cell(part: Part, group: int, place: int) -> str:
    """Return a number with its standard error."""
    if part.numbers.hidden[group, place]:
        return MARK
    value, deviation = float(part.shown.value[group, place]), float(part.shown.error[group, place])
    if not math.isfinite(deviation):
        return number(value) if math.isfinite(value) else "not known"
    return f"{number(value, part.base if part.base > 1 else unit_for(deviation))} ± {error(deviation)}"
