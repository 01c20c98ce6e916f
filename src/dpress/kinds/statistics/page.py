"""The page of statistics: every statistic of every group with its interval, and how sure it is.

Data flow: release -> facts, estimates -> `page.html.j2`.
"""

import math
import shlex
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpress import catalog
from dpress.inference.group_moments import Estimates
from dpress.kinds.statistics.chosen_quantiles import BETA, GroupResults
from dpress.kinds.statistics.device_answers import DeviceAnswers
from dpress.kinds.statistics.estimates import COUNT, condition, quantile_name
from dpress.kinds.statistics.group_figures import bars, boxes, inside, rose_of, shape_of
from dpress.kinds.statistics.group_table import NAME
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.mechanisms.statistics.group_quantiles import GroupQuantiles
from dpress.query.published_tables import cells
from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting.facts import facts
from dpress.reporting.frame import frame
from dpress.reporting.page_lists import listed, lists_data
from dpress.reporting.page_tables import Table
from dpress.reporting.render import rendered
from dpress.reporting.rounding import number

TEMPLATE = "kinds/statistics/page.html.j2"
MOST_GROUPS = 30  # in a figure
MOST_ROWS = 60  # in a table
ALL = "all groups"
MEDIAN = 0.5
LENGTHS = ("count", "sum", "persons")  # statistics whose bars begin at zero


def page(release: Release) -> str:
    """Return the page as HTML."""
    answers: Any = release.answers  # of groups, or of devices
    own = facts(release)
    each, whole = answers.groups(), answers.together()
    names = _groups(answers.axes, each.size)
    query = _example(each, answers)
    return rendered(
        TEMPLATE,
        {
            **frame(own),
            "by": [axis.caption for axis in answers.axes],
            "groups": each.size,
            "statistics": list(each.names),
            "discovered": answers.discovered,
            "bounded": answers.bounded,
            "chosen": list(each.chosen),
            "sums": each.sums is not None,
            "shared_out": answers.strategy is not None and bool(answers.strategy.moments),
            "whole": _whole(whole) if whole.names else None,
            "parts": [_part(name, each, whole, names) for name in each.names],
            "data": _listed(each, answers) if each.size > 1 else None,
            "quantiles": list(_quantiles(answers, each, names)),
            "unknown": sum(int(np.isnan(each.of(name).value).sum()) for name in each.names),
            "most_groups": MOST_GROUPS,
            "file": NAME,
            "method": own.method,
            "card": catalog.card(own.method),
            **_how(answers),
            "command": f"dpress query FOLDER {shlex.quote(query)}",
            "answer": _result(release, query),
        },
    )


def _groups(axes: Sequence[Any], groups: int) -> list[str]:
    """Return the name of every group."""
    if not axes:
        return [ALL]
    labels = [cells(tuple(axes), 0, groups)[axis.name].to_pylist() for axis in axes]
    return [", ".join(map(str, own)) for own in zip(*labels, strict=True)]


def _whole(whole: GroupResults) -> Table:
    rows = tuple((name, *_texts(whole.of(name), 0)) for name in whole.names)
    header = ("statistic", "value", "95 % interval", "standard error")
    return Table(caption="All groups together", names=header, labels=1, rows=rows)


def _listed(each: GroupResults, answers: Any) -> str | None:
    """Return every statistic of all groups as the script of the page lists it."""
    labels = cells(tuple(answers.axes), 0, each.size)
    groups = {axis.name: list(map(str, labels[axis.name].to_pylist())) for axis in answers.axes}
    lists = []
    for name in each.names:
        found = each.of(name)
        numbers = {"value": found.value, "low": found.low, "high": found.high, "standard_error": found.standard_error}
        known = {column: own for column, own in numbers.items() if not np.isnan(own).all()}
        lists.append(listed(f"{name} by group", groups, known))
    return lists_data(lists)


def _part(name: str, each: GroupResults, whole: GroupResults, names: Sequence[str]) -> dict[str, Any]:
    """Return the figure and the table of one statistic."""
    found, size = each.of(name), len(names)
    shown = min(size, MOST_ROWS)
    header = ("group", "value", "95 % interval", "standard error")[: 2 if name in each.chosen else 4]
    rows = tuple((names[place], *_texts(found, place))[: len(header)] for place in range(shown))
    drawn = names[:MOST_GROUPS]
    from_zero = name.split(maxsplit=1)[0] in LENGTHS
    return {
        "name": name,
        "figure": bars(drawn, _first(found, len(drawn)), name, from_zero=from_zero) if size > 1 else None,
        "table": Table(caption=f"{name} by group", names=header, labels=1, rows=rows),
        "hidden": size - shown,
        "together": _with_interval(whole.of(name)) if name in whole.names else None,
        "interval": name not in each.chosen,
    }


def _quantiles(answers: Any, each: GroupResults, names: Sequence[str]) -> Any:
    """Yield for every attribute with several quantiles its name and figure."""
    drawn, schema = names[:MOST_GROUPS], answers.release.schema
    asked = {} if each.sums is None else dict(each.sums.asked_quantiles)
    asked |= {schema.names[one.axis]: one.choice.quantiles for one in answers.chosen}
    for name, quantiles in asked.items():
        if len(quantiles) > 1:
            found = {float(q): _first(each.of(quantile_name(name, q)), len(drawn)) for q in quantiles}
            yield {
                "name": name,
                "figure": boxes(drawn, found, name),
                "shares": ", ".join(f"{share:g}" for share in found),
                "inner": len(inside(found)) < len(found),
                "median": MEDIAN in found,
            }


def _first(found: Estimates, size: int) -> Estimates:
    own = (found.value, found.standard_error, found.low, found.high)
    value, error, low, high = (one[:size] for one in own)
    return Estimates(value=value, standard_error=error, low=low, high=high)


def _texts(found: Estimates, place: int) -> tuple[str, str, str]:
    """Return a value, its interval and its standard error, rounded."""
    value, error = float(found.value[place]), float(found.standard_error[place])
    low, high = float(found.low[place]), float(found.high[place])
    if math.isnan(low):
        return number(value), "none", "not known"
    if math.isnan(value):
        return "not known", f"{_rounded(low, high - low)} to {_rounded(high, high - low)}", "not known"
    return _rounded(value, error), f"{_rounded(low, error)} to {_rounded(high, error)}", _rounded(error, error)


def _with_interval(found: Estimates) -> str:
    """Return the first value, with its interval where it has one."""
    value, interval, _ = _texts(found, 0)
    return value if interval == "none" else f"{value}, 95 % interval {interval}"


def _rounded(value: float, spread: float) -> str:
    """Return a number with two digits of its error, at most."""
    digits = 0 if spread <= 0 else max(0, 1 - math.floor(math.log10(spread)))
    return f"{value:,.{min(digits, 8)}f}" if abs(value) < 1e15 else number(value)


def _how(answers: Any) -> dict[str, Any]:
    """Return how it was made: what was measured of a table with which noise, or what devices were asked."""
    if not isinstance(answers, DeviceAnswers):
        return {"noises": _noises(answers), "asked": (), "shapes": ()}
    asked = [
        (one.attribute.caption, number(one.attribute.ordered), number(one.oracle.outputs), number(one.oracle.width))
        for one in answers.numbers
    ]
    everybody, shapes = np.ones(answers.size, dtype=bool), []
    for own in (one for one in answers.numbers if one.quantiles or one.circular):
        prefixes, _ = own.prefixes(everybody)
        caption = own.attribute.caption
        drawing = rose_of if own.circular else shape_of
        shapes.append((caption, drawing(prefixes.tolist(), own.attribute.edges.tolist(), caption)))
    return {"noises": (), "asked": asked, "shapes": shapes}


def _noises(answers: Any) -> list[tuple[str, str, str]]:
    """Return of every part what it measures, its share of the budget, and how wrong a count from it, or a rank, is."""
    mechanism, strategy, found = answers.mechanism, answers.strategy, []
    names = answers.release.schema.names
    of_sums = Fraction(1)
    if isinstance(mechanism, GroupQuantiles):
        whole = mechanism.loss.amount
        for own in mechanism.chosen:
            what = f"{names[own.axis]}: {len(own.choice.quantiles)} chosen of {own.cells:,} cells"
            share = own.choice.loss.amount / whole
            within = math.ceil(max(own.choice.rank_errors(own.cells, BETA)))
            found.append((what, f"{100 * float(share):.1f} %", f"95 %: at most {within:,}"))
        of_sums = Fraction(0) if mechanism.groups is None else mechanism.groups.loss.amount / whole
        mechanism = mechanism.groups
    if strategy is None:
        return found
    for part, share, noise in zip(strategy.parts, strategy.shares, mechanism.noises, strict=True):
        where = getattr(part, "where", ())
        if isinstance(part, PersonSums):
            what = "persons" if part.axis is None else f"{names[part.axis]}: a total of each person"
        elif part.axis is not None:
            what = names[part.axis] + (": a tree of counts" if part in strategy.distributions else ": shares of rows")
        else:
            what = f"whether {condition(answers.release.schema, where)}" if where else "rows"
        found.append((what, f"{100 * float(share * of_sums):.1f} %", f"{math.sqrt(noise.variance) * part.step:.3g}"))
    return found


def _example(each: GroupResults, answers: Any) -> str:
    name = next((one for one in each.names if one.startswith(("mean", "median", "share", "circular"))), each.names[-1])
    if not answers.axes:
        return "total" if name == COUNT else name
    group = f"{answers.axes[0].name} = {answers.axes[0].labels_between(0, 1)[0]}"
    if name == COUNT:
        return group
    if name in answers.chosen_estimates:  # of one group, and asked for as `quantile 0.9 of cost`
        groups = [f"{axis.name} = {axis.labels_between(0, 1)[0]}" for axis in answers.axes]
        return f"{_asked(name)} where {' and '.join(groups)}"
    several = name in answers.of_persons and len(answers.axes) > 1  # of persons one group is known, and all
    return name if several else f"{name} where {group}"


def _asked(name: str) -> str:
    """Return the query for a quantile."""
    word, *rest = name.split(" ", 2)
    return name if word == "median" else f"{word} {rest[0]} of {rest[1]}"


def _result(release: Release, query: str) -> str:
    found = release.query(query)
    if math.isnan(found.interval[0]):
        return f"{found.value:,.6g} (no interval)"
    ends = f"{found.interval[0]:,.6g} to {found.interval[1]:,.6g}"
    return f"{'not known' if math.isnan(found.value) else f'{found.value:,.6g}'}, 95 % interval {ends}"


PAGE = Page(page=page)
