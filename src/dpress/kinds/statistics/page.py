"""The page of statistics: every statistic of every group with its interval, and how sure it is.

Data flow: release -> facts, estimates -> `page.html.j2`.
"""

import math
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpress import catalog
from dpress.inference.group_moments import Estimates
from dpress.kinds.statistics.device_answers import DeviceAnswers
from dpress.kinds.statistics.estimates import COUNT, condition
from dpress.kinds.statistics.group_answers import NAME
from dpress.kinds.statistics.group_figures import bars, boxes, inside, shape_of
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.release.published_tables import cells
from dpress.release.release import Release
from dpress.reporting.facts import facts
from dpress.reporting.frame import frame
from dpress.reporting.page_tables import Table
from dpress.reporting.render import rendered
from dpress.reporting.rounding import number

TEMPLATE = "kinds/statistics/page.html.j2"
MOST_GROUPS = 30  # in a figure
MOST_ROWS = 60  # in a table
ALL = "all groups"
MEDIAN = 0.5
LENGTHS = ("count", "sum", "persons")  # statistics whose bars begin at zero


def page(release: Release, queries: Sequence[str] = ()) -> str:
    """Return the page as HTML; it draws no queries."""
    del queries
    own, answers = facts(release), release.answers
    each, whole = answers.groups(), answers.together()
    names = _groups(answers.axes, each.sizes.size)
    query = _example(whole, answers)
    return rendered(
        TEMPLATE,
        {
            **frame(own),
            "by": [axis.caption for axis in answers.axes],
            "groups": each.sizes.size,
            "statistics": list(each.names),
            "discovered": answers.discovered,
            "whole": _whole(whole),
            "parts": [_part(name, each, whole, names) for name in each.names],
            "quantiles": list(_quantiles(each, names)),
            "unknown": sum(int(np.isnan(each.of(name).value).sum()) for name in each.names),
            "most_groups": MOST_GROUPS,
            "file": NAME,
            "method": own.method,
            "card": catalog.card(own.method),
            **_how(release, each),
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


def _whole(whole: Any) -> Table:
    rows = tuple((name, *_texts(whole.of(name), 0)) for name in whole.names)
    header = ("statistic", "value", "95 % interval", "standard error")
    return Table(caption="All groups together", names=header, labels=1, rows=rows)


def _part(name: str, each: Any, whole: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the figure and the table of one statistic."""
    found, size = each.of(name), len(names)
    shown = min(size, MOST_ROWS)
    rows = tuple((names[place], *_texts(found, place)) for place in range(shown))
    drawn = names[:MOST_GROUPS]
    from_zero = name.split(maxsplit=1)[0] in LENGTHS
    return {
        "name": name,
        "figure": bars(drawn, _first(found, len(drawn)), name, from_zero=from_zero) if size > 1 else None,
        "table": Table(
            caption=f"{name} by group", names=("group", "value", "95 % interval", "standard error"), labels=1, rows=rows
        ),
        "hidden": size - shown,
        "together": " ".join(_texts(whole.of(name), 0)[:1]),
    }


def _quantiles(each: Any, names: Sequence[str]) -> Any:
    """Yield for every attribute with several quantiles its name and figure."""
    drawn = names[:MOST_GROUPS]
    for name, asked in each.asked_quantiles.items():
        if len(asked) > 1:
            found = {float(share): _first(each.of(name, share), len(drawn)) for share in asked}
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
    if math.isnan(value):
        return "not known", f"{_rounded(low, high - low)} to {_rounded(high, high - low)}", "not known"
    return _rounded(value, error), f"{_rounded(low, error)} to {_rounded(high, error)}", _rounded(error, error)


def _rounded(value: float, spread: float) -> str:
    """Return a number with two digits of its error, at most."""
    digits = 0 if spread <= 0 else max(0, 1 - math.floor(math.log10(spread)))
    return f"{value:,.{min(digits, 8)}f}" if abs(value) < 1e15 else number(value)


def _how(release: Release, each: Any) -> dict[str, Any]:
    """Return how it was made: what was measured of a table with which noise, or what devices were asked."""
    answers = release.answers
    if not isinstance(answers, DeviceAnswers):
        return {"noises": _noises(release, each), "asked": (), "shapes": ()}
    asked = [
        (one.attribute.caption, number(one.attribute.ordered), number(one.oracle.outputs), number(one.oracle.width))
        for one in answers.numbers
    ]
    everybody, shapes = np.ones(each.sizes.size, dtype=bool), []
    for own in (one for one in answers.numbers if one.quantiles):
        prefixes, _ = own.prefixes(everybody)
        caption = own.attribute.caption
        shapes.append((caption, shape_of(prefixes.tolist(), own.attribute.edges.tolist(), caption)))
    return {"noises": (), "asked": asked, "shapes": shapes}


def _noises(release: Release, each: Any) -> list[tuple[str, str, str]]:
    """Return of every part what it measures, its share of the budget, and the noise of a count from it."""
    strategy, found = each.strategy, []
    mechanism: Any = release.mechanism
    names = each.schema.names
    for part, share, noise in zip(strategy.parts, strategy.shares, mechanism.noises, strict=True):
        where = getattr(part, "where", ())
        if isinstance(part, PersonSums):
            what = "persons" if part.axis is None else f"{names[part.axis]}: a total of each person"
        elif part.axis is not None:
            what = names[part.axis] + (": a tree of counts" if part in strategy.distributions else ": shares of rows")
        else:
            what = f"whether {condition(each.schema, where)}" if where else "rows"
        found.append((what, f"{100 * float(share):.1f} %", f"{math.sqrt(noise.variance) * part.step:.3g}"))
    return found


def _example(whole: Any, answers: Any) -> str:
    name = next((one for one in whole.names if one.startswith(("mean", "median", "share"))), whole.names[-1])
    if not answers.axes:
        return "total" if name == COUNT else name
    group = f"{answers.axes[0].name} = {answers.axes[0].labels_between(0, 1)[0]}"
    if name == COUNT:
        return group
    several = name in answers.of_persons and len(answers.axes) > 1  # of persons one group is known, and all
    return name if several else f"{name} where {group}"


def _result(release: Release, query: str) -> str:
    found = release.query(query)
    ends = f"{found.interval[0]:,.6g} to {found.interval[1]:,.6g}"
    return f"{'not known' if math.isnan(found.value) else f'{found.value:,.6g}'} (95 % interval {ends})"
