"""Many groups over time side by side: a small chart for each, all on one scale.

views of one axis of time, with titles -> a drawing for wide and for narrow screens.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpress.core.maps.linear import Array
from dpress.reporting.charts import Chart, drawn_ends, titled
from dpress.reporting.figures import Figure, both
from dpress.reporting.group_bars import wide
from dpress.reporting.optional import load
from dpress.reporting.short_labels import short_labels
from dpress.reporting.time_lines import band_and_line, date_axis, scale_ends
from dpress.reporting.views import View

Panel = tuple[str, View]
LOW, TALL, BROAD = 64, 110, 230.0  # heights of panels, and how broad those are that are tall
LEAST = 120.0  # of a panel, across
BESIDE, BETWEEN = 70.0, 20.0  # room of the scale left of the panels with the padding, and between two
BOLD = 7.4  # mean width of a letter of a title
SHORTENED = 1e5  # numbers from which on a scale says 120k


def small_multiples(panels: Sequence[Panel], title: str, shared: int, *, from_zero: bool) -> Figure:
    """Return the figure of some groups over time.

    Groups whose intervals are far wider than what all others cover (`wide`) are cut where they leave that scale; how
    many is the fact `cut`.

    Args:
        panels: at least one; what each is called, and its view of the cells of time, which all share.
        title: of the figure, for who does not see it.
        shared: how many of the panels have one scale; each later one has its own.
        from_zero: whether lengths mean something.

    """
    views = [view for _, view in panels]
    low, high = (np.array([end(ends) for ends in map(drawn_ends, views[:shared])]) for end in (_lowest, _highest))
    cut = wide(low, high)
    ends = scale_ends([view for view, far in zip(views, cut, strict=False) if not far], from_zero=from_zero)
    scales = [ends if place < shared else scale_ends([view], from_zero=True) for place, view in enumerate(views)]
    drawing = both(lambda width: _grid(panels, width, scales, np.flatnonzero(cut).tolist()), title)
    return Figure(drawing=drawing, facts={"cut": int(cut.sum())})


def _lowest(ends: tuple[Array, Array]) -> float:
    return float(np.fmin.reduce(ends[0]))


def _highest(ends: tuple[Array, Array]) -> float:
    return float(np.fmax.reduce(ends[1]))


def _grid(panels: Sequence[Panel], width: float, scales: Sequence[tuple[float, float]], cut: Sequence[int]) -> Chart:
    """Return the panels in rows: the scale left of each row, dates below the last panel of each column."""
    columns = max(1, min(len(panels), int((width - BESIDE + BETWEEN) / (LEAST + BETWEEN))))
    each = (width - BESIDE + BETWEEN) / columns - BETWEEN
    charts, names = [], short_labels([title for title, _ in panels], int(each / BOLD))
    for place, (_, view) in enumerate(panels):
        dates, texts = _dates(view, each, shown=place + columns >= len(panels))
        labels = place % columns == 0 or scales[place] != scales[0]
        panel = band_and_line(view, dates, _values(scales[place], labels=labels), scales[place], clip=place in cut)
        named = titled(names[place], frame="group")
        sized = panel.properties(width=each, height=TALL if each >= BROAD else LOW, **named)
        charts.append(sized if texts is None else sized.add_params(texts))
    return load("altair").concat(*charts, columns=columns, spacing={"row": 12, "column": BETWEEN})


def _dates(view: View, length: float, *, shown: bool) -> tuple[Any, Any]:
    if shown:
        return date_axis(view.axes[0], length)
    return load("altair").Axis(labels=False, ticks=False, grid=False, title=None), None


def _values(ends: tuple[float, float], *, labels: bool) -> Any:
    written = ".3~s" if max(map(abs, ends)) >= SHORTENED else ",.4~g"
    return load("altair").Axis(
        title=None, tickCount=3, format=written, ticks=False, domain=False, labelPadding=5, labels=labels,
        minExtent=BESIDE - 26 if labels else 0,
    )  # fmt: skip
