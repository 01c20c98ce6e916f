"""The page of a release that grows period by period: counts over time, with the band of their intervals.

Data flow: series -> counts of every published period, in all and cell by cell -> figures, a table -> file.
"""

import contextlib
import importlib.metadata
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.interval import half_width
from dpress.query.boxes import product
from dpress.query.release import CONFIDENCE
from dpress.query.result import Result
from dpress.release.periods.series import Series
from dpress.reporting.figures import Figure, both
from dpress.reporting.page_tables import Table
from dpress.reporting.render import rendered
from dpress.reporting.rounding import error, loss, number, unit_for
from dpress.reporting.time_lines import FEWEST, line
from dpress.reporting.views import Axis, View, axis_of

MOST_LINES = 12
TOTAL = "all rows"


def write_series_page(series: Series, path: str | Path) -> Path:
    """Write the page, replacing an older one, and return its path.

    Args:
        series: with at least one period.
        path: the HTML file.

    Raises:
        ValueError: nothing is published yet.
        NotSupported: the extra `[report]` is not installed, or the releases have no counts.
        OSError: the file cannot be written.
    """
    text = series_page(series)
    path = Path(path)
    path.write_text(text, encoding="utf-8")
    return path


def series_page(series: Series) -> str:
    """Return the page as HTML.

    Raises:
        ValueError, NotSupported: see `write_series_page`.
    """
    if not series.periods:
        raise ValueError(f"{series.folder}: no period is published yet")
    calendar = series.calendar
    counted = series.adds_up("total")
    lines = list(itertools.islice(_lines(series) if counted else _statistics(series), MOST_LINES + 1))
    release, what = series.releases[series.spans[-1]], "Counts" if counted else "Statistics"
    context: dict[str, Any] = {
        "version": importlib.metadata.version("dpress"),
        "title": calendar.spec.release.title or f"{what} by {', '.join(calendar.spec.schema.names)}",
        "counted": counted,
        "periods": series.periods,
        "cells": calendar.dated.cells,
        "counter": calendar.counter,
        "whole": loss(calendar.whole),
        "each": loss(release.charged),
        "unit": calendar.spec.privacy.protected,
        "touched": calendar.touched,
        "unguarded": len(series.unguarded),
        "private": all(release.private for release in series.releases.values()),
        "figures": [
            (name, _figure(view, f"{what} by period: {name}"))
            for name, view in lines[:MOST_LINES]
            if view.count.size >= FEWEST
        ],
        "table": _table(f"{what} with their standard errors", series.periods, lines[:MOST_LINES]),
        "more": len(lines) > MOST_LINES,
        "folders": [calendar.folder(span) for span in series.spans],
    }
    return rendered("reporting/series.html.j2", context)


def _lines(series: Series) -> Iterator[tuple[str, View]]:
    """Yield counts over time: of all rows, then of each cell of the other attributes.

    Of their cells together where the tables have these, else of each attribute's that they have.
    """
    schema, dated = series.calendar.spec.schema, series.calendar.dated
    others = [attribute for attribute in schema.tabular if attribute.name != dated.name]
    each = [[f"{other.name} = {label}" for label in other.labels_between(0, other.size)] for other in others]
    together = map(" and ".join, itertools.product(*each)) if others else iter(())
    yield TOTAL, _view(series, "total")
    try:
        yield from ((text, _view(series, text)) for text in together)
    except ValueError:  # no table has all attributes, which the first of their cells says
        for texts in each:
            with contextlib.suppress(ValueError):
                yield from ((text, _view(series, text)) for text in texts)


def _statistics(series: Series) -> Iterator[tuple[str, View]]:
    """Yield the statistics that every period has of all its groups together, over time."""
    release = series.releases[series.spans[-1]]
    for name in release.answers.measured:
        text = "total" if name == "count" else name
        with contextlib.suppress(ValueError):  # one that is known of single groups alone
            yield name, _of_results(series, [*series.by_period(text).values()], name)


def _of_results(series: Series, results: list[Result], name: str) -> View:
    """Return the answers of every published period; an interval may lie unevenly about its value."""
    value, error = (np.array([getattr(result, what) for result in results]) for what in ("value", "standard_error"))
    low, high = (np.array([result.interval[end] for result in results]) for end in (0, 1))
    return View(
        axes=(_axis(series),), count=value, half=(high - low) / 2, error=error, file="", tail=series.tail,
        centre=(low + high) / 2, noun=name,
    )  # fmt: skip


def _view(series: Series, text: str) -> View:
    """Return the counts of every published period that a condition selects."""
    calendar = series.calendar
    schema, axis = calendar.spec.schema, calendar.spec.schema.axes([calendar.dated.name])[0]
    local = [np.ones(1) if place == axis else factor for place, factor in enumerate(product(schema, text))]
    numbers = [calendar.place(name) for name in series.periods]
    answers = [series.added_up(np.eye(len(calendar.names))[number], local, text) for number in numbers]
    count, variance = (np.array(column) for column in zip(*answers, strict=True))
    half: Array = half_width(variance, CONFIDENCE, series.tail)
    return View(
        axes=(_axis(series),),
        count=count,
        half=half,
        error=np.sqrt(variance),
        file="",
        tail=series.tail,
    )


def _axis(series: Series) -> Axis:
    """Return the axis of the published periods."""
    whole = axis_of(series.calendar.dated)
    numbers = [series.calendar.place(name) for name in series.periods]
    parts = whole.labels, whole.ticks, whole.begins
    labels, ticks, begins = (tuple(part[number] for number in numbers) for part in parts)
    return replace(whole, ordered=len(numbers), labels=labels, ticks=ticks, begins=begins)


def _figure(view: View, caption: str) -> Figure:
    return Figure(drawing=both(lambda width: line(view, width), caption))


def _table(caption: str, periods: tuple[str, ...], lines: list[tuple[str, View]]) -> Table:
    names = ("period", *(name for name, _ in lines))
    rows = tuple((period, *(_cell(view, place) for _, view in lines)) for place, period in enumerate(periods))
    return Table(caption=caption, names=names, labels=1, rows=rows)


def _cell(view: View, place: int) -> str:
    deviation = float(view.error[place])
    if not np.isfinite(deviation):
        return number(float(view.count[place])) if np.isfinite(view.count[place]) else "not known"
    return f"{number(float(view.count[place]), unit_for(deviation))} ± {error(deviation)}"
