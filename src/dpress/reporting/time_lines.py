"""Counts over time as lines with the band of their intervals, on an axis of dates."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpress.core.maps.ranges import Places
from dpress.reporting.charts import LETTER, MARK, Chart, data, drawn_ends, labels, titled
from dpress.reporting.optional import load
from dpress.reporting.views import Axis, View

FEWEST = 3  # cells of a line
MOST_POINTS = 400  # of a line; more are put together
DOTS = 40  # points up to which each is marked
GAP = 10.0  # between two labels, in pixels


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
        ends: of the scale of counts; those of the intervals, and zero, unless stated.
        title: above the chart.
        height: of the chart.
    """
    alt = load("altair")
    axis = view.axes[0]
    counts = alt.Axis(
        title=view.noun, tickCount=5, format=",.6~g", ticks=False, domain=False, labelPadding=5, minExtent=44
    )
    dates, texts = date_axis(axis, width - 60, title=axis.caption)
    drawn = band_and_line(view, dates, counts, ends or scale_ends([view], from_zero=True))
    return drawn.add_params(texts).properties(width=width - 60, height=height, **titled(title))


def band_and_line(view: View, dates: Any, values: Any, ends: tuple[float, float], *, clip: bool = False) -> Chart:
    """Return the two marks on these axes, cut where they leave them; where nothing is known the line is broken."""
    alt, hidden = load("altair"), view.hidden
    shown, low, high = (np.where(hidden, np.nan, numbers) for numbers in (view.shown, *drawn_ends(view)))
    rows: list[dict[str, Any]] = [
        {"t": begin, "n": _drawn(count), "low": _drawn(least), "high": _drawn(most)}
        for begin, count, least, most in zip(view.axes[0].begins, shown, low, high, strict=True)
    ]
    scale = alt.Scale(domain=ends, nice=False)
    base = alt.Chart(data(rows)).encode(alt.X("t:T", scale=alt.Scale(type="utc", nice=False), axis=dates))
    band = base.mark_area(color=MARK, opacity=0.22, clip=clip).encode(
        alt.Y("low:Q", scale=scale, axis=values), alt.Y2("high:Q")
    )
    points = {"filled": True, "size": 22, "color": MARK} if len(rows) <= DOTS else False
    line = base.mark_line(color=MARK, strokeWidth=1.6, point=points, clip=clip).encode(
        alt.Y("n:Q", scale=scale, axis=values)
    )
    return band + line


def scale_ends(views: Sequence[View], *, from_zero: bool) -> tuple[float, float]:
    """Return the ends of a scale that shows all intervals; with zero and one where lengths mean something."""
    drawn = [end[np.isfinite(end)] for view in views for end in drawn_ends(view)]
    ends = np.concatenate([*drawn, [0.0, 1.0]] if from_zero or not any(map(len, drawn)) else drawn)
    return float(ends.min()), float(ends.max())


def _drawn(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def date_axis(axis: Axis, length: float, *, title: str | None = None) -> tuple[Any, Any]:
    """Return the chart axis that names cells of time where they begin, no label over another, and its parameter.

    Args:
        axis: of time.
        length: in pixels.
        title: of the axis.
    """
    begins = np.array([begin.removesuffix("Z") for begin in axis.begins], dtype="datetime64[ms]").astype(np.int64)
    shown = apart(begins, axis.ticks, length)
    alt, places = load("altair"), begins[shown].tolist()
    texts = labels([axis.ticks[place] for place in shown])
    named = f"{texts.name}[indexof({places}, time(datum.value))]"
    return alt.Axis(
        title=title, values=places, grid=False, labelPadding=4, labelExpr=named, labelOverlap=False, labelFlush=True
    ), texts


def apart(begins: Places, texts: Sequence[str], length: float) -> list[int]:
    """Return which cells are named: every k-th from the first, with the least k whose labels lie apart.

    A label stands about where its cell begins; the first and the last one stay within the axis.

    >>> apart(np.arange(5), ["2024-01"] * 5, 200.0)
    [0, 2, 4]
    """
    spread = max(1, int(begins[-1] - begins[0]))
    for every in range(1, len(texts)):
        shown, end = [*range(0, len(texts), every)], -math.inf
        for place in shown:
            wide = len(texts[place]) * LETTER
            left = min(max(0.0, length * (begins[place] - begins[0]) / spread - wide / 2), length - wide)
            if left < end + GAP:
                break
            end = left + wide
        else:
            return shown
    return [len(texts) - 1]
