"""The page of a release that grows period by period: what was found, numbers over time by group, and every period.

Data flow: series -> parts, each a count or a statistic of some groups -> opening, figures, tables -> file.
"""

import importlib.metadata
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from dpress import catalog
from dpress.core.basics.losses.convert import exp_up
from dpress.inference.group_moments import Estimates
from dpress.query.query_tree import Condition, Query, named, valued
from dpress.release.periods.period_numbers import PeriodNumbers
from dpress.release.periods.series import Series
from dpress.reporting import series_tables
from dpress.reporting.facts import facts
from dpress.reporting.figures import Figure, both
from dpress.reporting.findings import CONFIDENCE
from dpress.reporting.group_bars import bars
from dpress.reporting.page_lists import List, lists_data
from dpress.reporting.page_tables import Table
from dpress.reporting.period_words import during
from dpress.reporting.posterior import posterior
from dpress.reporting.render import rendered
from dpress.reporting.rounding import ceiling, loss
from dpress.reporting.series_data import series_data
from dpress.reporting.series_opening import groups_sentence, of_rows, opening
from dpress.reporting.series_parts import MOST_SHOWN, REST, Part, parts
from dpress.reporting.small_multiples import small_multiples
from dpress.reporting.time_lines import MOST_POINTS, line, scale_ends
from dpress.reporting.views import Axis, View, axis_of

REPORT = "report.html"
READ = set('"$`\\!')  # what a shell reads between double quotes
MOST_FOLDERS = 24  # that are named
UNFOLDED = 4  # sections that are open at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What the page shows of one part.

    Args:
        name: its heading.
        figure: its drawing; None of all rows together in the only period.
        most: which groups come first.
        drawn: how many groups the drawing has.
        groups: how many there are.
        rest: whether it has those that are left as one.
        sentence: which groups rise or fall, or how all rows together have changed; empty with one period.
        changes: of groups the table of that; None where there is no sentence.
        periods: every number, the latest period first; of the only one every group.
        places: of both tables among those of the script; -1 where there is none.
    """

    name: str
    figure: Figure | None
    most: str
    drawn: int
    groups: int
    rest: bool
    sentence: str
    changes: Table | None
    periods: Table
    places: tuple[int, int]


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
    path = Path(path)
    text = series_page(series, path.parent)
    path.write_text(text, encoding="utf-8")
    return path


def series_page(series: Series, place: Path | None = None) -> str:
    """Return the page as HTML.

    Args:
        series: with at least one period.
        place: the folder that the page will lie in, from which its links lead; that of the series unless stated.

    Raises:
        ValueError, NotSupported: see `write_series_page`.
    """
    if not series.periods:
        raise ValueError(f"{series.folder}: no period is published yet")
    calendar, every, links = series.calendar, parts(series), _links(series, place or series.folder)
    lists = list[List]()
    alone, about = len(series.periods) == 1, facts(series.releases[series.spans[-1]])
    shown = [part for part in every.shown if part.axes or not alone]
    sections = [_section(series, part, _allowed(part, every.shown), links, lists) for part in shown]
    answering = series_data(series, every.shown) if about.display.whole else None
    data = lists_data(lists) if answering is None else lists_data(lists, series=answering)
    hidden = np.concatenate([np.zeros(0, dtype=bool), *(part.numbers.hidden.ravel() for part in shown)])
    return rendered(
        "reporting/series.html.j2",
        {
            **_promised(series),
            "version": importlib.metadata.version("dpress"),
            "title": calendar.spec.release.title or _title(every.shown),
            "opening": _opening(series, every.shown),
            "texts": about.texts,
            "alone": during(about.schema) or series.periods[0] if alone else "",
            "glance": series_tables.all_rows(every.shown) if alone else None,
            "counted": series.adds_up("total"),
            "periods": series.periods,
            "cells": calendar.dated.cells,
            "counter": calendar.counter,
            "sections": sections,
            "unfolded": UNFOLDED,
            "noted": next((place for place, section in enumerate(sections) if section.changes), None),
            "compared": sum(len(part.names) for part in every.shown if part.axes),
            "most_points": MOST_POINTS,
            "data": data if about.display.whole else None,
            "shown_as": about.display.legend(int(hidden.sum()), hidden.size),
            "answers": data is not None and answering is not None,
            "each_period": _each_period(series, every.shown, links),
            "left": [_command(text) for text in every.left],
            "examples": [_command(text) for text in _examples(series, every.shown)],
            "spans": len(series.spans),
            "folders": _folders(series),
        },
    )


def _opening(series: Series, shown: Sequence[Part]) -> Sequence[str]:
    """Return the sentences of the page: of the only period those of its own page, else what has changed."""
    release = series.releases[series.spans[-1]]
    sentences_of = catalog.room(release.design.kind).page.opening
    return opening(shown, series.periods) if sentences_of is None or len(series.periods) > 1 else sentences_of(release)


def _promised(series: Series) -> dict[str, Any]:
    """Return what the page says of privacy: over all periods, and how far odds can change."""
    calendar = series.calendar
    believed = posterior(calendar.whole)
    return {
        "whole": loss(calendar.whole),
        "each": loss(series.releases[series.spans[-1]].charged),
        "unit": calendar.spec.privacy.protected,
        "where": calendar.spec.where,
        "touched": calendar.touched,
        "unguarded": len(series.unguarded),
        "private": all(release.private for release in series.releases.values()),
        "factor": ceiling(exp_up(believed.epsilon), 3),
        "delta": ceiling(believed.delta) if believed.delta else "",
        "belief": believed.beliefs[0],
    }


def _title(shown: Sequence[Part]) -> str:
    names = [part.statistic.name for part in shown if not part.axes] or ["statistics"]
    by = dict.fromkeys(str(axis.title or axis.name) for part in shown for axis in part.axes)
    return f"{names[0][0].upper()}{names[0][1:]} over time{' by ' if by else ''}{', '.join(by)}"


def _links(series: Series, place: Path) -> Mapping[str, str]:
    """Return where every period leads: to its report where there is one, else to its section of the page."""
    reports = {name: series.folder / name / REPORT for name in series.periods}
    return {
        name: quote(Path(os.path.relpath(report, place)).as_posix())
        if report.is_file()
        else f"#{series_tables.anchor(name)}"
        for name, report in reports.items()
    }


def _allowed(part: Part, shown: Sequence[Part]) -> float:
    """Return with which confidence each change of a part's groups is stated, so that all on the page hold with 95 %.

    Parts of groups share the chance to miss evenly, and each its groups: one of very many hides nothing in the others.
    So do those of all rows together, by themselves.
    """
    alike = sum(bool(each.axes) == bool(part.axes) for each in shown)
    return 1 - (1 - CONFIDENCE) / (alike * len(part.names))


def _section(series: Series, part: Part, confidence: float, links: Mapping[str, str], lists: list[List]) -> Section:
    """Return what is shown of a part, and add its tables to those of the script."""
    periods, word = series.periods, series.calendar.dated.cells
    changed = len(periods) > 1 and bool(part.axes) and bool(np.isfinite(part.numbers.low[:, -2:]).all(axis=1).any())
    change = part.numbers.change(len(periods) - 2, len(periods) - 1, confidence) if changed else None
    if change is not None:
        lists.append(series_tables.change_list(part, change, periods))
    lists.append(series_tables.period_list(part, periods, word, links))
    alone, sentence = len(periods) == 1, ""
    if change is not None:
        sentence = groups_sentence(part, change, periods[-2])
    elif not alone and not part.axes and len(lists) > 1:  # the first part is what the page opens with
        sentence = " ".join(of_rows(part, periods, [len(periods) - 2], confidence))
    return Section(
        name=part.heading,
        figure=_bars(part) if alone else _figure(_panels(series, part), part),
        most="largest" if part.from_zero else "highest",
        drawn=min(len(part.names), MOST_SHOWN),
        groups=len(part.names),
        rest=part.rest is not None,
        sentence=sentence,
        changes=None if change is None else series_tables.change_table(part, change, periods),
        periods=series_tables.group_table(part) if alone else series_tables.period_table(part, periods, word, links),
        places=(-1 if change is None else len(lists) - 2, len(lists) - 1),
    )


def _bars(part: Part) -> Figure:
    """Return the groups of the only period."""
    value, error, low, high = (column[:, -1] for column in part.shown.columns)
    only = Estimates(value=value, standard_error=error, low=low, high=high)
    return bars(part.names, only, part.statistic.caption, from_zero=part.from_zero)


def _panels(series: Series, part: Part) -> list[tuple[str, View]]:
    """Return the largest groups with their numbers over time, and the rest together."""
    axis, noun = _axis(series), part.statistic.unit or part.statistic.name
    groups = [(name, _view(axis, part.shown, place, noun)) for place, name in enumerate(part.names[:MOST_SHOWN])]
    return groups if part.rest is None else [*groups, (REST, _view(axis, part.rest, 0, noun))]


def _view(axis: Axis, numbers: PeriodNumbers, group: int, noun: str) -> View:
    value, low, high = (column[group, -MOST_POINTS:] for column in (numbers.value, numbers.low, numbers.high))
    finite = np.isfinite(value) & np.isfinite(low)
    return View(
        axes=(axis,), count=value, half=(high - low) / 2, file="", noun=noun, centre=(low + high) / 2,
        error=np.where(finite, 0.0, np.inf),
    )  # fmt: skip


def _axis(series: Series) -> Axis:
    """Return the axis of the published periods, as many of the latest as are drawn."""
    whole, names = axis_of(series.calendar.dated), series.periods[-MOST_POINTS:]
    begins = tuple(whole.begins[series.calendar.place(name)] for name in names)
    return replace(whole, ordered=len(names), labels=names, ticks=names, begins=begins)


def _figure(panels: Sequence[tuple[str, View]], part: Part) -> Figure:
    from_zero = part.from_zero
    if part.axes:
        by = " and ".join(axis.caption for axis in part.axes)
        return small_multiples(panels, f"{part.statistic.name} over time by {by}", MOST_SHOWN, from_zero=from_zero)
    ((name, view),) = panels
    ends = scale_ends([view], from_zero=from_zero)
    return Figure(drawing=both(lambda width: line(view, width, ends=ends), f"{part.statistic.name} over time: {name}"))


def _each_period(series: Series, shown: Sequence[Part], links: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what the section of every period says, the latest first."""
    periods = series.periods
    most = series_tables.MOST_OF_PERIODS // len(periods)
    return [
        {
            "name": periods[place],
            "anchor": series_tables.anchor(periods[place]),
            "report": "" if links[periods[place]].startswith("#") else links[periods[place]],
            "table": series_tables.of_period(shown, periods[place], place, most),
        }
        for place in reversed(range(len(periods)))
    ]


def _folders(series: Series) -> list[str]:
    """Return the folders of all spans; of many the first and the last ones."""
    names = [series.calendar.folder(span) for span in series.spans]
    return names if len(names) <= MOST_FOLDERS else [names[0], names[1], "…", names[-1]]


def _command(text: str) -> str:
    """Return a query as typed in a shell: in double quotes where it has single ones, and nothing that those change."""
    plain = "'" in text and not READ & set(text)
    return f'dpress query FOLDER "{text}"' if plain else f"dpress query FOLDER {shlex.quote(text)}"


def _examples(series: Series, shown: Sequence[Part]) -> list[str]:
    """Return queries that only the command answers: of one group, of several periods, of their means and shares."""
    dated, periods, schema = series.calendar.dated.name, series.periods, series.calendar.spec.schema
    axes = [axis for part in shown[:2] for axis in part.axes]
    tests = [Condition(word="=", attribute=axis.name, values=axis.labels[:1]) for axis in axes]
    if not series.adds_up("total"):
        return [replace(part.query, where=test).text for part in shown[:1] for test in tests]
    shares = [Query(of="share", first=test, by=(dated,)) for test in tests]
    means = [Query(of="mean", attribute=axis.name, by=(dated,)) for axis in schema.tabular if axis.numbers is not None]
    each = [query.text for query in (*shares, *means[:1]) if not series.running]
    if len(periods) == 1:
        return [*(test.text for test in tests), *each]
    first, last = (f"{named(dated)} = {valued(period)}" for period in (periods[0], periods[-1]))
    scope = f" where {tests[0].text}" if tests else ""
    several = f"count {named(dated)} in {valued(periods[0])}..{valued(periods[-1])}{scope}"
    return [several, f"count {last} - count {first}{scope}", *each]
