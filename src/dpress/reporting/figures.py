"""Which chart a view gets, drawn for wide and for narrow screens, with the facts that its caption names."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpress.reporting import charts, fine_heat
from dpress.reporting.charts import Chart
from dpress.reporting.long_axes import Together, shortened
from dpress.reporting.optional import load
from dpress.reporting.posterior import Belief
from dpress.reporting.rounding import error, number
from dpress.reporting.time_lines import MOST_POINTS, is_timed, line, ordered_part, timed_last
from dpress.reporting.views import RangeVariances, View, grouped

WIDE, NARROW = 740.0, 340.0
LONGEST_AXIS = 80
PERCENT = "format(100 * datum.value, 'd') + ' %'"
MOST_ROWS = 40
MOST_PANELS = 4
MOST_LINES = 6
FAR = 10
"""Methods whose typical error is so many times the chosen one's are named, not drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing, its legend, and what its caption says.

    Args:
        drawing: two SVG elements, safe to insert as they are, one for wide and one for narrow screens; None without.
        facts: that the caption names; `form` says which caption of `elements.html.j2` it is, if none is given there.
        shades: for a heat map the counts at the shades of its legend.
        signs: what the colours mean, by the names of the page's colours.
        hollow: what a hollow dot means; empty where there is none.
    """

    drawing: str | None
    facts: Mapping[str, Any] = field(default_factory=dict)
    shades: tuple[tuple[float, str], ...] = ()
    signs: tuple[tuple[str, str], ...] = ()
    hollow: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMethod:
    """A method in the figure of methods.

    Args:
        name: with what tells it apart.
        variance: that was predicted, in counts squared.
        chosen: it is the one that ran.
    """

    name: str
    variance: float
    chosen: bool

    @property
    def error(self) -> str:
        """The typical error, with its sign."""
        return f"± {error(self.variance**0.5)}"


def figure(view: View, variances: RangeVariances, together: Together | None = None) -> Figure:
    """Return the figure of a view; nothing is aggregated or left out without being named.

    Args:
        view: the counts.
        variances: of sums of adjacent cells of an attribute.
        together: counts several of its cells together; None where nothing answers that.
    """
    short, rests = shortened(view, together)
    drawn = _figure(short, variances)
    return replace(drawn, facts={**drawn.facts, "rests": rests})


def _figure(view: View, variances: RangeVariances) -> Figure:
    if len(view.axes) == 1:
        return _line(view, variances) if is_timed(view) else _one_way(view, variances)
    timed = timed_last(view)
    if timed is not None and timed.axes[0].size <= MOST_LINES and timed.axes[1].size <= MOST_POINTS:
        return _line_panels(timed)
    view = view.transposed(tuple(int(axis) for axis in np.argsort([axis.size for axis in view.axes], kind="stable")))
    sizes = [axis.size for axis in view.axes]
    if len(sizes) == 2 and sizes[0] <= MOST_PANELS and sizes[1] <= LONGEST_AXIS:
        return _bar_panels(view)
    if len(sizes) == 2 and sizes[0] <= MOST_ROWS and sizes[1] <= LONGEST_AXIS:
        return _heat(view, [(None, view)])
    if len(sizes) == 3 and sizes[0] <= MOST_PANELS and sizes[1] <= MOST_ROWS and sizes[2] <= LONGEST_AXIS:
        panels, empty = _filled(view)
        return _heat(view, panels, empty)
    none = Figure(drawing=None, facts={"form": "none", "shape": sizes, "lower_ends": False})
    return _fine(view) if fine_heat.fits(view) else none


def _one_way(view: View, variances: RangeVariances) -> Figure:
    axis = view.axes[0]
    facts: dict[str, Any] = {"form": "bars", "cells": view.count.size, "group": 0}
    if axis.ordered > LONGEST_AXIS:
        view = grouped(view, variances)
        facts |= {"group": view.group, "fewer": axis.ordered % view.group > 0}
    facts |= {"widest": float(view.half.max()), "lower_ends": _lower_ends(view)}
    return Figure(drawing=both(lambda width: charts.bars(view, width), f"Counts by {axis.caption}"), facts=facts)


def _line(view: View, variances: RangeVariances) -> Figure:
    """Return the line of one axis of time; cells beside it, as that for missing values, are named in the caption."""
    axis = view.axes[0]
    facts: dict[str, Any] = {"form": "line", "cells": axis.ordered, "group": 0, "lower_ends": False}
    facts["beside"] = [axis.label(cell) for cell in range(axis.ordered, axis.size)]
    if axis.ordered > MOST_POINTS:
        view = grouped(view, variances)
        facts |= {"group": view.group, "fewer": axis.ordered % view.group > 0}
    ordered = ordered_part(view)
    facts["widest"] = float(ordered.half.max())
    return Figure(drawing=both(lambda width: line(ordered, width), f"Counts by {axis.caption}"), facts=facts)


def _line_panels(view: View) -> Figure:
    """Return a line for every value of the first axis, on one scale."""
    first, axis = view.axes
    drawn, empty = _filled(view)
    panels = [(title, ordered_part(part)) for title, part in drawn]
    ends = min(float(part.low.min()) for _, part in panels), max(float(part.high.max()) for _, part in panels)

    def draw(width: float) -> Chart:
        return charts.stacked([line(part, width, ends=ends, title=title, height=110) for title, part in panels])

    beside = [axis.label(cell) for cell in range(axis.ordered, axis.size)]
    widest = max(float(part.half.max()) for _, part in panels)
    facts = {
        "form": "lines",
        "panels": first.caption,
        "empty": empty,
        "group": 0,
        "beside": beside,
        "widest": widest,
        "lower_ends": False,
    }
    return Figure(drawing=both(draw, f"Counts by {view.name}"), facts=facts)


def _lower_ends(view: View) -> bool:
    """Return whether the axes' shorter labels leave something out."""
    return any(axis.labels != axis.ticks for axis in view.axes)


def _panels(view: View) -> list[tuple[str | None, View]]:
    first = view.axes[0]
    return [(f"{first.caption}: {label}", view.slice(cell)) for cell, label in enumerate(first.labels)]


def _filled(view: View) -> tuple[list[tuple[str | None, View]], list[str]]:
    """Return the panels in which something is above zero, all if there is none, and the names of the others.

    Of intervals of 95 % one in forty lies above zero by chance: up to one in twenty is nothing.
    """
    axis, panels = view.axes[0], _panels(view)
    filled = [int(np.count_nonzero(part.low > 0)) > part.count.size // 20 for _, part in panels]
    if not any(filled):
        return panels, []
    empty = [label for label, full in zip(axis.labels, filled, strict=True) if not full]
    return [panel for panel, full in zip(panels, filled, strict=True) if full], empty


def _bar_panels(view: View) -> Figure:
    panels, empty = _filled(view)
    top = float(view.high.max())
    low = float(view.low.min())

    def draw(width: float) -> Chart:
        return charts.stacked([charts.bars(part, width, ends=(low, top), title=title) for title, part in panels])

    facts = {"form": "panels", "panels": view.axes[0].caption, "empty": empty, "lower_ends": _lower_ends(view)}
    return Figure(drawing=both(draw, f"Counts by {view.name}"), facts=facts)


def _heat(view: View, panels: list[tuple[str | None, View]], empty: Sequence[str] = ()) -> Figure:
    top = max(1.0, float(view.count.max()))

    def draw(width: float) -> Chart:
        return charts.stacked([charts.heat(part, width, top=top, title=title) for title, part in panels])

    facts = {
        "form": "heat",
        "rows": panels[0][1].axes[0].caption,
        "empty": empty,
        "unclear": view.unclear,
        "cells": view.count.size,
        "lower_ends": _lower_ends(view),
    }
    drawing = both(draw, f"Counts by {view.name}")
    return Figure(drawing=drawing, facts=facts, shades=shades(top), hollow="interval reaches zero")


def _fine(view: View) -> Figure:
    top, rows = max(1.0, float(view.count.max())), view.axes[0].caption
    facts = {"form": "fine", "rows": rows, "unclear": view.unclear, "cells": view.count.size}
    drawing = fine_heat.drawing(view, f"Counts by {view.name}", top=top, wide=WIDE, narrow=NARROW)
    return Figure(drawing=drawing, facts=facts | {"lower_ends": _lower_ends(view)}, shades=shades(top))


def shades(top: float) -> tuple[tuple[float, str], ...]:
    """Return the legend of a heat map whose largest count is `top`."""
    return tuple((charts.shade(top * step**2, top), number(top * step**2)) for step in (0.25, 0.5, 0.75, 1.0))


def both(draw: Callable[[float], Chart], label: str) -> str:
    """Return a drawing for wide screens, and one for narrow ones."""
    return charts.svg(draw(WIDE), label, "wide") + charts.svg(draw(NARROW), label, "narrow")


@functools.lru_cache(maxsize=16)
def beliefs_figure(beliefs: tuple[Belief, ...]) -> Figure:
    """Return how far a belief can move, for every prior; drawn once for all pages with the same loss."""
    rows = [
        {"prior": f"{100 * belief.prior:.0f} %", "at": belief.prior, "least": belief.least, "most": belief.most}
        for belief in beliefs
    ]
    return Figure(drawing=both(lambda width: _beliefs(rows, width), "How far an attacker's belief can move"))


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


def methods_figure(compared: Sequence[ComparedMethod], lower_bound: float, noun: str) -> Figure:
    """Return the predicted typical error, in `noun`, of every method compared, and the lower bound.

    Args:
        compared: the methods, one of them chosen.
        lower_bound: of the mean variance, in counts squared; 0 where none is known.
        noun: what is counted.
    """
    alt = load("altair")
    chosen = next(method for method in compared if method.chosen)
    near = [method for method in compared if method.variance <= FAR**2 * chosen.variance]
    rows = [
        {"method": method.name, "error": method.variance**0.5, "text": method.error, "chosen": method.chosen}
        for method in near
    ]
    bound, longest = lower_bound**0.5, 40 + 6.6 * max(len(method.name) for method in near)

    def draw(width: float) -> Chart:
        order = alt.Y("method:N", sort=None, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8))
        top = max(method.variance**0.5 for method in near) * 1.18
        axis = charts.value_axis(f"typical error of an answer, in {noun}", width - longest)
        x = alt.X("error:Q", axis=axis, scale=alt.Scale(domain=[0, top], nice=False))
        colour = alt.condition("datum.chosen", alt.value(charts.MARK), alt.value(charts.SOFT))
        base = alt.Chart(alt.Data(values=rows)).encode(order)
        bar = base.mark_bar(height=16).encode(x, color=colour)
        text = base.mark_text(align="left", dx=6, color=charts.INK, fontSize=11).encode(x, text="text:N")
        line = alt.Chart(alt.Data(values=[{"bound": bound}])).mark_rule(color=charts.INK, strokeDash=[4, 3])
        rule = line.encode(alt.X("bound:Q"))
        drawn = bar + text + rule if bound else bar + text
        return drawn.properties(width=width - longest, height=30 * len(rows))

    far = [f"{method.name} ({method.error})" for method in compared if method not in near]
    return Figure(drawing=both(draw, "Predicted error by method"), facts={"bound": bound > 0, "far": far})
