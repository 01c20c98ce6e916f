"""The page of a release that grows period by period: counts over time, with the band of their intervals.

Data flow: series -> counts of every published period, in all and cell by cell -> figures, a table -> file.
"""

import importlib.metadata
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpress.core.linear import Array
from dpress.inference.interval import half_width
from dpress.release.periods.series import Series
from dpress.release.query_language import parse
from dpress.release.release import CONFIDENCE
from dpress.reporting.figures import Figure, both
from dpress.reporting.page_tables import Table
from dpress.reporting.render import rendered
from dpress.reporting.rounding import error, loss, number, unit_for
from dpress.reporting.time_lines import FEWEST, line
from dpress.reporting.views import View, axis_of

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
    lines = list(itertools.islice(_lines(series), MOST_LINES + 1))
    release = series.releases[series.spans[-1]]
    context: dict[str, Any] = {
        "version": importlib.metadata.version("dpress"),
        "title": calendar.spec.release.title or f"Counts by {', '.join(calendar.spec.schema.names)}",
        "periods": series.periods,
        "cells": calendar.dated.cells,
        "counter": calendar.own.counter,
        "whole": loss(calendar.whole),
        "each": loss(release.charged),
        "unit": calendar.spec.privacy.protected,
        "touched": calendar.touched,
        "private": all(one.private for one in series.releases.values()),
        "figures": [(name, _figure(view, name)) for name, view in lines[:MOST_LINES] if view.count.size >= FEWEST],
        "table": _table(series.periods, lines[:MOST_LINES]),
        "more": len(lines) > MOST_LINES,
        "folders": [calendar.folder(span) for span in series.spans],
    }
    return rendered("reporting/series.html.j2", context)


def _lines(series: Series) -> Iterator[tuple[str, View]]:
    """Yield counts over time: of all rows, then of each cell of the other attributes."""
    schema, dated = series.calendar.spec.schema, series.calendar.dated
    others = [one for one in schema.tabular if one.name != dated.name]
    texts = [[f"{one.name} = {label}" for label in one.labels_between(0, one.size)] for one in others]
    yield TOTAL, _view(series, "total")
    if others:
        for conditions in itertools.product(*texts):
            text = " and ".join(conditions)
            yield text, _view(series, text)


def _view(series: Series, text: str) -> View:
    """Return the counts of every published period that a condition selects."""
    calendar = series.calendar
    schema, axis = calendar.spec.schema, calendar.spec.schema.axes([calendar.dated.name])[0]
    local = [np.ones(1) if place == axis else own for place, own in enumerate(parse(schema, text))]
    numbers = [calendar.place(name) for name in series.periods]
    found = [series.added_up(np.eye(len(calendar.names))[one], local, text) for one in numbers]
    count, variance = (np.array(own) for own in zip(*found, strict=True))
    whole = axis_of(calendar.dated)
    labels, ticks, begins = (tuple(own[one] for one in numbers) for own in (whole.labels, whole.ticks, whole.begins))
    half: Array = half_width(variance, CONFIDENCE, series.tail)
    return View(
        axes=(replace(whole, ordered=len(numbers), labels=labels, ticks=ticks, begins=begins),),
        count=count,
        half=half,
        error=np.sqrt(variance),
        file="",
        tail=series.tail,
    )


def _figure(view: View, name: str) -> Figure:
    return Figure(drawing=both(lambda width: line(view, width), f"Counts by period: {name}"))


def _table(periods: tuple[str, ...], lines: list[tuple[str, View]]) -> Table:
    names = ("period", *(name for name, _ in lines))
    rows = tuple((period, *(_cell(view, place) for _, view in lines)) for place, period in enumerate(periods))
    return Table(caption="Counts with their standard errors", names=names, labels=1, rows=rows)


def _cell(view: View, place: int) -> str:
    own = float(view.error[place])
    return f"{number(float(view.count[place]), unit_for(own))} ± {error(own)}"
