"""Which chart a view gets, drawn for wide and for narrow screens, with a caption that says what is shown."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpress.core.workload import Areas
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.candidate import Candidate
from dpress.release.plan import Plan
from dpress.release.release import Release
from dpress.report import charts, map_parts
from dpress.report.charts import Chart
from dpress.report.extra import load
from dpress.report.odds import Odds
from dpress.report.rounding import TIMES, error, listed, number
from dpress.report.views import View, grouped

WIDE, NARROW = 740.0, 340.0
LONGEST_AXIS = 80
MOST_BARS = 40
PERCENT = "format(100 * datum.value, 'd') + ' %'"
MOST_ROWS = 40
MOST_PANELS = 4
FAR = 10
"""Methods whose typical error is so many times the chosen one's are named, not drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing and its caption.

    Args:
        drawing: two SVG elements, safe to insert as they are, one for wide and one for narrow screens; None without.
        caption: what is shown, and what is left out.
        shades: for a heat map the counts at the shades of its legend.
        signs: for a map of departures what its colours mean, by the names of the page's colours.
    """

    drawing: str | None
    caption: str
    shades: tuple[tuple[float, str], ...] = ()
    signs: tuple[tuple[str, str], ...] = ()


def figure(release: Release, view: View) -> Figure:
    """Return the figure of a view; nothing is aggregated or left out without a sentence."""
    if len(view.axes) == 1:
        return _one_way(release, view)
    view = view.transposed(tuple(int(axis) for axis in np.argsort([axis.size for axis in view.axes], kind="stable")))
    sizes = [axis.size for axis in view.axes]
    if len(sizes) == 2 and sizes[0] <= MOST_PANELS and sizes[1] <= LONGEST_AXIS:
        return _bar_panels(view)
    if len(sizes) == 2 and sizes[0] <= MOST_ROWS and sizes[1] <= LONGEST_AXIS:
        return _heat(view, [(None, view)])
    if len(sizes) == 3 and sizes[0] <= MOST_PANELS and sizes[1] <= MOST_ROWS and sizes[2] <= LONGEST_AXIS:
        return _heat(view, _panels(view))
    size = TIMES.join(number(axis.size) for axis in view.axes)
    return Figure(drawing=None, caption=f"No figure: {size} cells are too many to draw legibly.")


def _one_way(release: Release, view: View) -> Figure:
    axis, cells = view.axes[0], number(view.count.size)
    note = "Bars are the estimated counts, the thin lines their 95 % intervals."
    if axis.ordered > LONGEST_AXIS:
        view = grouped(release, view)
        last = " (the last of fewer)" if axis.ordered % view.group else ""
        note += f" The table has {cells} cells; each bar is the sum of {number(view.group)} adjacent cells{last}."
    elif not axis.ordered and axis.size > MOST_BARS:
        view = _largest(view)
        note += f" Shown are the {MOST_BARS} largest of {cells} cells."
    note += f" The widest interval is ± {error(float(view.half.max()))}.{_ends(view)}"
    return Figure(drawing=both(lambda width: charts.bars(view, width), f"Counts by {axis.name}"), caption=note)


def _ends(view: View) -> str:
    """Return what the axes' shorter labels leave out."""
    shorter = any(axis.labels != axis.ticks for axis in view.axes)
    return " The axis names a cell by its lower end." if shorter else ""


def _largest(view: View) -> View:
    axis = view.axes[0]
    best = np.argsort(-view.count, kind="stable")[:MOST_BARS]
    labels = tuple(axis.labels[code] for code in best)
    count, half, spread = (array[best] for array in (view.count, view.half, view.error))
    return replace(
        view, axes=(replace(axis, labels=labels, ticks=labels),), count=count, half=half, error=spread, adjusted=None
    )


def _panels(view: View) -> list[tuple[str | None, View]]:
    first = view.axes[0]
    return [(f"{first.name}: {label}", view.slice(cell)) for cell, label in enumerate(first.labels)]


def _bar_panels(view: View) -> Figure:
    top = float(view.high.max())
    low = float(view.low.min())

    def draw(width: float) -> Chart:
        return charts.stacked([charts.bars(part, width, ends=(low, top), title=title) for title, part in _panels(view)])

    note = f"One panel for every value of {view.axes[0].name}, on one scale. The thin lines are 95 % intervals."
    note += _ends(view)
    return Figure(drawing=both(draw, f"Counts by {view.name}"), caption=note)


def _heat(view: View, panels: list[tuple[str | None, View]]) -> Figure:
    top = max(1.0, float(view.count.max()))

    def draw(width: float) -> Chart:
        return charts.stacked([charts.heat(part, width, top=top, title=title) for title, part in panels])

    shades = tuple((charts.shade(top * step**2, top), number(top * step**2)) for step in (0.25, 0.5, 0.75, 1.0))
    note = (
        f"Rows are {panels[0][1].axes[0].name}. The stronger the shade, the larger the count (by square root). "
        f"A hollow dot marks a cell whose 95 % interval reaches down to zero: {number(view.unclear)} of "
        f"{number(view.count.size)} cells; there this release cannot tell whether anybody is in them.{_ends(view)}"
    )
    return Figure(drawing=both(draw, f"Counts by {view.name}"), caption=note, shades=shades)


def both(draw: Callable[[float], Chart], label: str) -> str:
    """Return a drawing for wide screens, and one for narrow ones."""
    return charts.svg(draw(WIDE), label, "wide") + charts.svg(draw(NARROW), label, "narrow")


def odds_figure(odds: Odds) -> Figure:
    """Return how far a belief can move, for every prior."""
    rows = [
        {"prior": f"{100 * one.prior:.0f} %", "at": one.prior, "least": one.least, "most": one.most}
        for one in odds.beliefs
    ]
    caption = "The bar is where the belief can end up at the very most; the upright tick is where it was before."
    drawing = both(lambda width: _beliefs(rows, width), "How far an attacker's belief can move")
    return Figure(drawing=drawing, caption=caption)


def _beliefs(rows: list[dict[str, Any]], width: float) -> Chart:
    alt = load("altair")
    side = alt.Axis(ticks=False, domain=False, labelPadding=8)
    base = alt.Chart(alt.Data(values=rows)).encode(alt.Y("prior:N", sort=None, title="before", axis=side))
    ticks = [0, 0.5, 1] if width < WIDE else [0, 0.2, 0.4, 0.6, 0.8, 1]
    title = "how sure of it after the release"
    share = alt.Axis(values=ticks, labelExpr=PERCENT, labelOverlap=False, title=title, ticks=False, domain=False)
    least = alt.X("least:Q", scale=alt.Scale(domain=[0, 1]), axis=share)
    span = base.mark_bar(color=charts.MARK, opacity=0.75, height=9).encode(least, alt.X2("most:Q"))
    before = base.mark_tick(color=charts.INK, thickness=2.5, height=20).encode(alt.X("at:Q"))
    return (span + before).properties(width=width - 95, height=110)


def candidates_figure(plan: Plan, noun: str) -> Figure:
    """Return the predicted typical error, in `noun`, of every method compared, and the lower bound."""
    alt = load("altair")
    compared = [one for one in plan.candidates if one is plan.chosen or not one.assumes]
    near = [one for one in compared if one.predicted_error <= FAR**2 * plan.chosen.predicted_error]
    far = [one for one in compared if one not in near]
    rows = [
        {"method": _asking(one, plan), "error": one.predicted_error**0.5, "text": _plus_minus(one),
         "chosen": one is plan.chosen}
        for one in near
    ]  # fmt: skip
    bound, longest = plan.lower_bound**0.5, 40 + 6.6 * max(len(row["method"]) for row in rows)

    def draw(width: float) -> Chart:
        order = alt.Y("method:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8))
        top = max(row["error"] for row in rows) * 1.18
        axis = alt.Axis(title=f"typical error of an answer, in {noun}", tickCount=4, ticks=False, domain=False)
        x = alt.X("error:Q", axis=axis, scale=alt.Scale(domain=[0, top], nice=False))
        colour = alt.condition("datum.chosen", alt.value(charts.MARK), alt.value(charts.SOFT))
        base = alt.Chart(alt.Data(values=rows)).encode(order)
        bar = base.mark_bar(height=16).encode(x, color=colour)
        text = base.mark_text(align="left", dx=6, color=charts.INK, fontSize=11).encode(x, text="text:N")
        line = alt.Chart(alt.Data(values=[{"bound": bound}])).mark_rule(color=charts.INK, strokeDash=[4, 3])
        rule = line.encode(alt.X("bound:Q"))
        drawn = bar + text + rule if bound else bar + text
        return drawn.properties(width=width - longest, height=30 * len(rows))

    caption = "Typical error by method; the one that was run is highlighted"
    caption += ", the dashed line is the lower bound." if bound else "."
    if far:
        caption += f" Off the scale: {listed([f'{_asking(one, plan)} ({_plus_minus(one)})' for one in far])}."
    return Figure(drawing=both(draw, "Predicted error by method"), caption=caption)


def _plus_minus(candidate: Candidate) -> str:
    return f"± {error(candidate.predicted_error**0.5)}"


def _asking(candidate: Candidate, plan: Plan) -> str:
    """Return the method, and what it asks of a device where collections differ in that; of a map its grid."""
    if isinstance(plan.workload, Areas):
        return f"{candidate.method}, {TIMES.join([number(map_parts.side(candidate.mechanism))] * 2)}"
    asked = {_asked(one) for one in plan.candidates}
    return candidate.method if len(asked) < 2 else f"{candidate.method}, {_asked(candidate)}"


def _asked(candidate: Candidate) -> str:
    """Return what a device is asked about; nothing where there are no devices."""
    collection = candidate.mechanism
    if not isinstance(collection, Collection):
        return ""
    asked = len(collection.questions[0].axes)
    if len(collection.questions) < 2 and asked == len(collection.shape):
        return "all at once"
    return "one attribute" if asked == 1 else f"{asked} at once"
