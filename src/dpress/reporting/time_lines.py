"""Counts over time as lines with the band of their intervals, on an axis of dates."""

from dataclasses import replace
from typing import Any

import numpy as np

from dpress.reporting.charts import MARK, Chart, data, drawn_ends, titled
from dpress.reporting.optional import load
from dpress.reporting.views import View

FEWEST = 3  # cells of a line
MOST_POINTS = 400  # of a line; more are put together
NAMED_AS_CELLS = (
    "utchours(datum.value) ? utcFormat(datum.value, '%H:%M') : "
    "utcdate(datum.value) > 1 ? utcFormat(datum.value, '%Y-%m-%d') : utcFormat(datum.value, '%Y-%m')"
)
DOTS = 40  # points up to which each is marked


def is_timed(view: View) -> bool:
    """Return whether a view of one axis is drawn as a line: its cells follow each other in time."""
    return view.axes[0].timed and view.axes[0].ordered >= FEWEST


def timed_last(view: View) -> View | None:
    """Return a view of two axes, one of them of time, with that one last; None where there is none, or two."""
    timed = [place for place, axis in enumerate(view.axes) if axis.timed and axis.ordered >= FEWEST]
    if len(view.axes) != 2 or len(timed) != 1:
        return None
    return view if timed == [1] else view.transposed((1, 0))


def ordered_part(view: View) -> View:
    """Return a view of one axis without the cells beside those with an order."""
    axis = view.axes[0]
    size = axis.ordered
    ordered = replace(axis, labels=axis.labels[:size], ticks=axis.ticks[:size])
    count, half, error = (array[:size] for array in (view.count, view.half, view.error))
    adjusted, centre = (None if array is None else array[:size] for array in (view.adjusted, view.centre))
    return replace(view, axes=(ordered,), count=count, half=half, error=error, adjusted=adjusted, centre=centre)


def line(
    view: View, width: float, *, ends: tuple[float, float] | None = None, title: str | None = None, height: int = 190
) -> Chart:
    """Return the counts of one axis of time as a line, a point where each cell begins, with the band of the intervals.

    Args:
        view: of the cells that have an order.
        width: of the chart.
        ends: of the scale of counts; those of the intervals unless stated.
        title: above the chart.
        height: of the chart.
    """
    alt = load("altair")
    axis = view.axes[0]
    low, high = drawn_ends(view)
    rows: list[dict[str, Any]] = [
        {"t": begin, "n": float(count), "low": float(least), "high": float(most)}
        for begin, count, least, most in zip(axis.begins, view.count, low, high, strict=True)
    ]
    least, most = ends or (float(np.min(low)), float(np.max(high)))
    scale = alt.Scale(domain=[min(0.0, least), max(1.0, most)], nice=False)
    counts = alt.Axis(
        title=view.noun, tickCount=5, format=",.6~g", ticks=False, domain=False, labelPadding=5, minExtent=44
    )
    dates = alt.Axis(
        title=axis.caption, grid=False, labelPadding=4, tickCount=max(3, int(width / 90)), labelExpr=NAMED_AS_CELLS
    )
    base = alt.Chart(data(rows)).encode(alt.X("t:T", scale=alt.Scale(type="utc", nice=False), axis=dates))
    band = base.mark_area(color=MARK, opacity=0.22).encode(alt.Y("low:Q", scale=scale, axis=counts), alt.Y2("high:Q"))
    points = {"filled": True, "size": 22, "color": MARK} if len(rows) <= DOTS else False
    drawn = base.mark_line(color=MARK, strokeWidth=1.6, point=points).encode(alt.Y("n:Q", scale=scale, axis=counts))
    return (band + drawn).properties(width=width - 60, height=height, **titled(title))
