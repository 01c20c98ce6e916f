"""The page of statistics: every statistic of every group with its interval, and how sure it is.

Data flow: release -> facts, estimates -> `page.html.j2`.
"""

import itertools
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpress import catalog
from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.maps.ranges import Places
from dpress.inference.group_moments import Estimates
from dpress.inference.suppression import MARK
from dpress.kinds.statistics import product
from dpress.kinds.statistics.answers import ANSWERING
from dpress.kinds.statistics.group_answers import GroupAnswers
from dpress.kinds.statistics.group_figures import boxes, inside
from dpress.kinds.statistics.group_results import COUNT, NAME, GroupResults, only, quantile_name
from dpress.kinds.statistics.in_time import LENGTHS, over_time
from dpress.kinds.statistics.opening import sentences
from dpress.kinds.statistics.shown_results import displayed, hidden_of
from dpress.kinds.statistics.units import in_units, sampled, texts, with_unit
from dpress.query.all_groups import ALL
from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting.accuracy import query_of
from dpress.reporting.facts import facts
from dpress.reporting.frame import frame
from dpress.reporting.group_bars import LONGEST, MOST_GROUPS, bars
from dpress.reporting.page_lists import listed, lists_data
from dpress.reporting.page_tables import Table
from dpress.reporting.render import rendered
from dpress.reporting.rounding import stated
from dpress.reporting.short_labels import short_labels
from dpress.reporting.statistic_titles import AMONG, Titled, chief, titled

TEMPLATE = "kinds/statistics/page.html.j2"
MOST_ROWS = 60  # in a table
MEDIAN = 0.5
SAMPLED = ("statistic", "value", "noise", "sampling", "95 % interval of both", "design effect")
SHORTEST = 6  # letters of a label that is cut beside others
MOST_CUT = 1 << 10  # labels of an attribute that are distinct when they are cut


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ordered:
    """The estimates of all groups, in the order in which these are shown.

    Args:
        each: the estimates.
        order: the places of the groups.
        names: their labels, in this order.
        drawn: the same, as short as a figure needs them.
    """

    each: GroupResults
    order: Places
    names: list[str]
    drawn: list[str]


def page(release: Release) -> str:
    """Return the page as HTML."""
    answers = ANSWERING.of(release)
    about = facts(release)
    published = answers.groups()
    each, whole = (displayed(results, about.display) for results in (published, answers.together()))
    axes = _several(answers.axes)
    labels, order = _groups(axes), _order(published, axes)
    names, drawn = ([texts[place] for place in order] for texts in (labels, _groups(axes, LONGEST)))
    ordered = Ordered(each=each, order=order, names=names, drawn=drawn)
    query = _example(each, answers, axes)
    titles = {attribute.name: attribute.title or attribute.name for attribute in release.schema.tabular}
    parts = {name: _part(with_unit(name, release.schema), name, ordered, whole) for name in each.names}
    return rendered(
        TEMPLATE,
        {
            **frame(about),
            "shown_as": about.display.legend(*_hidden(each, whole, answers.size)),
            "opening": sentences(answers, published, whole, labels, about.counted),
            "named": True,
            "chief": parts[chief(each.names)],
            "by": [axis.caption for axis in axes],
            "groups": answers.size,
            "statistics": [titled(name, release.schema).name for name in each.names],
            "discovered": answers.discovered,
            "weighted": titles.get(answers.weighted, ""),
            "sampled": _of_sampling(ordered, whole, release.schema),
            "bounded": {titles[name]: remark for name, remark in answers.bounded.items()},
            "chosen": [titled(name, release.schema).name for name in each.chosen],
            "sums": each.sums is not None,
            "whole": _whole(whole, release.schema) if whole.names else None,
            "parts": [*parts.values()],
            "data": _listed(ordered, answers.release.schema, axes)
            if answers.size > 1 and about.display.whole
            else None,
            "quantiles": list(_quantiles(answers, ordered)),
            "unknown": sum(int(np.isnan(published.of(name).value).sum()) for name in published.names),
            "most": "first" if any(axis.ordered for axis in axes) else "largest",
            "file": NAME,
            "method": about.method,
            "card": catalog.card(about.method),
            **product.part("page", product.of_design(release.design)).made(release),
            "command": f"dpress query FOLDER {shlex.quote(query)}",
            "answer": _result(release, query),
        },
    )


def _hidden(each: GroupResults, whole: GroupResults, groups: int) -> tuple[int, int]:
    """Return how many numbers are hidden, of all groups together and of each, and how many there are."""
    parts = [hidden_of(results) for results in ((whole, each) if groups > 1 else (whole,))]
    return sum(hidden for hidden, _ in parts), sum(numbers for _, numbers in parts)


def opening(release: Release) -> tuple[str, ...]:
    """Return the sentences that the page opens with."""
    answers = ANSWERING.of(release)
    return sentences(
        answers, answers.groups(), answers.together(), _groups(_several(answers.axes)), facts(release).counted
    )


def _several(axes: Sequence[Tabular]) -> tuple[Tabular, ...]:
    """Return the attributes that tell groups apart: one of a single cell, such as a series' period, does not."""
    return tuple(axis for axis in axes if axis.size > 1)


def _groups(axes: Sequence[Tabular], longest: int = 1 << 30) -> list[str]:
    """Return the label of every group; of long ones the parts of those attributes are cut that have the longest."""
    if not axes:
        return [ALL]
    columns: list[Sequence[str]] = [axis.captions for axis in axes]
    lengths, room = [max(map(len, column)) for column in columns], longest - 2 * (len(columns) - 1)
    for left, place in enumerate(np.argsort(lengths).tolist()):  # short ones leave their room to the others
        share = max(room // (len(columns) - left), SHORTEST)
        if lengths[place] > share and len(columns[place]) <= MOST_CUT:
            columns[place] = short_labels(columns[place], share)
        room -= min(lengths[place], share)
    return [", ".join(labels) for labels in itertools.product(*columns)]


def _order(each: GroupResults, axes: Sequence[Tabular]) -> Places:
    """Return the groups as they are drawn and listed: the largest first, or as they stand where any has an order."""
    size = math.prod(axis.size for axis in axes)
    if any(axis.ordered for axis in axes):
        return np.arange(size)
    counted = each.sums is not None and COUNT in each.sums.names
    sizes = each.of(COUNT if counted else chief(each.names)).value
    return np.argsort(-np.nan_to_num(sizes, nan=-np.inf), kind="stable")


def _whole(whole: GroupResults, schema: Schema) -> Table:
    titles = {name: with_unit(name, schema) for name in whole.names}
    rows = tuple((title.name, *texts(in_units(whole, name), 0, title.unit)) for name, title in titles.items())
    header = ("statistic", "value", "95 % interval", "standard error")
    return Table(caption="All groups together", names=header, labels=1, rows=rows)


def _of_sampling(ordered: Ordered, whole: GroupResults, schema: Schema) -> Table | None:
    """Return the errors of noise and of sampling, of all groups and of the first; None without replicate weights."""
    each, order, names = ordered.each, ordered.order, ordered.names
    of_whole, of_each = _with_sampling(whole), _with_sampling(each)
    places = [(ALL, of_whole, 0), *zip(names, itertools.repeat(of_each), order.tolist(), strict=False)]
    rows = list[tuple[str, ...]]()
    for group, statistics, place in places if len(names) > 1 else places[:1]:
        for name, statistic in statistics.items() if len(rows) < MOST_ROWS else ():
            title = with_unit(name, schema)
            label = title.name if group == ALL else f"{title.name}, {group}"
            value, _, error = texts(statistic, place, title.unit)
            rows.append((label, value, error, *sampled(statistic, place, title.unit)))
    filled = [column for column in range(len(SAMPLED)) if any(row[column] != "none" for row in rows)]
    shown = tuple(tuple(row[column] for column in filled) for row in rows[:MOST_ROWS])
    header = tuple(SAMPLED[column] for column in filled)
    return (
        Table(caption="Standard errors of noise and of sampling", names=header, labels=1, rows=shown) if rows else None
    )


def _with_sampling(results: GroupResults) -> dict[str, Estimates]:
    """Return the statistics whose error of sampling is estimated, by name."""
    every = ((name, in_units(results, name)) for name in results.names)
    return {name: statistic for name, statistic in every if statistic.sampling is not None}


def _listed(ordered: Ordered, schema: Schema, axes: Sequence[Tabular]) -> str | None:
    """Return every statistic of all groups as the script of the page lists it."""
    each, order = ordered.each, ordered.order
    rows = [*itertools.product(*(axis.captions for axis in axes))]
    labels = zip(*(rows[place] for place in order), strict=True)
    groups = [(axis.caption, column) for axis, column in zip(axes, labels, strict=True)]
    lists = []
    for name in each.names:
        statistic = only(in_units(each, name), order)
        numbers = {column: getattr(statistic, column) for column in ("value", "low", "high", "standard_error")}
        given = {column: values for column, values in numbers.items() if not np.isnan(values).all()}
        lists.append(listed(f"{with_unit(name, schema).caption} by group", groups, given))
    return lists_data(lists)


def _part(title: Titled, name: str, ordered: Ordered, whole: GroupResults) -> dict[str, Any]:
    """Return the figure and the table of one statistic."""
    each, order, names = ordered.each, ordered.order, ordered.names
    statistic, size = only(in_units(each, name), order), len(names)
    shown = min(size, MOST_ROWS)
    header = ("group", "value") if name in each.chosen else ("group", "value", "95 % interval", "standard error")
    rows = tuple((names[place], *texts(statistic, place, title.unit))[: len(header)] for place in range(shown))
    from_zero = name.split(maxsplit=1)[0] in LENGTHS
    figure = bars(ordered.drawn, statistic, title.caption, from_zero=from_zero) if size > 1 else None
    together = _with_interval(in_units(whole, name), title.unit) if name in whole.names else None
    return {
        "name": title.name,
        "figure": figure,
        "table": Table(caption=f"{title.name} by group", names=header, labels=1, rows=rows),
        "hidden": size - shown,
        "together": together,
        "interval": name not in each.chosen,
        "line": "; ".join([*([f"all groups together {together}"] if together else []), f"{size:,} groups, drawn"]),
    }


def _quantiles(answers: GroupAnswers, ordered: Ordered) -> Any:
    """Yield for every attribute with several quantiles its title and figure."""
    each, schema = ordered.each, answers.release.schema
    drawn, places = ordered.drawn[:MOST_GROUPS], ordered.order[:MOST_GROUPS]
    for name, quantiles in answers.quantile_shares.items():
        if len(quantiles) > 1:
            by_share = {float(q): only(each.of(quantile_name(name, q)), places) for q in quantiles}
            caption = schema.attribute(name).caption
            yield {
                "name": caption,
                "figure": boxes(drawn, by_share, caption),
                "shares": ", ".join(f"{share:g}" for share in by_share),
                "inner": len(inside(by_share)) < len(by_share),
                "sure": not all(np.isnan(statistic.low).all() for statistic in by_share.values()),
                "median": MEDIAN in by_share,
            }


def _with_interval(statistic: Estimates, unit: str) -> str:
    """Return the first value, with its interval where it has one."""
    value, interval, _ = texts(statistic, 0, unit)
    return value if interval in {"none", MARK} else f"{value}, 95 % interval {interval}"


def _example(each: GroupResults, answers: GroupAnswers, axes: Sequence[Tabular]) -> str:
    first = ("mean", "median", "share", "circular")
    name = next((name for name in each.names if name.startswith(first)), each.names[-1])
    if not axes:
        return "total" if name == COUNT else name
    group = query_of(axes[:1], middle=False)
    if name == COUNT:
        return group
    if name in each.chosen:  # of one group, and asked for as `quantile 0.9 of cost`
        return f"{_query_of(name)} where {query_of(axes, middle=False)}"
    several = name in answers.not_additive and len(axes) > 1  # of which one group is known, and all
    return name if several else f"{name} {'and' if AMONG in name else 'where'} {group}"


def _query_of(name: str) -> str:
    """Return the query for a quantile."""
    word, *rest = name.split(" ", 2)
    return name if word == "median" else f"{word} {rest[0]} of {rest[1]}"


def _result(release: Release, query: str) -> str:
    answer = release.query(query)
    if math.isnan(answer.interval[0]):
        return f"{answer.value:,.6g} (no interval)"
    value, interval, _ = stated(answer.value, answer.interval, answer.standard_error)
    return f"{value}, 95 % interval {interval}"


PAGE = Page(page=page, opening=opening, over_time=over_time)
