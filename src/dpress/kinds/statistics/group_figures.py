"""Drawings of statistics: a box of quantiles for every group, and how numbers are distributed."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpress.inference.group_moments import Estimates
from dpress.reporting import charts
from dpress.reporting.charts import INK, MARK, SOFT, Chart
from dpress.reporting.figures import Figure, both
from dpress.reporting.group_bars import LONGEST, STEP, ends_of, places_of
from dpress.reporting.optional import load

LOWER = 0.2
CLASSES = 64  # of a distribution
TALL = 180.0


def boxes(names: Sequence[str], quantiles: Mapping[float, Estimates], title: str) -> Figure:
    """Return a figure of quantiles: a line from the lowest to the highest, a box between the inner ones, their ticks.

    Below the box, thin lines are the intervals of the quantiles, where they have some.

    Args:
        names: of the groups.
        quantiles: the quantiles by their share, at least one.
        title: of the axis.
    """
    shares = sorted(quantiles)
    inner = inside(shares)
    lines, ticks = [], []
    for place in range(len(names)):
        values = {share: float(quantiles[share].value[place]) for share in shares}
        if any(map(math.isnan, values.values())):
            continue
        ends = {"low": values[shares[0]], "high": values[shares[-1]]}
        lines.append({"x": place, **ends, "from": values[inner[0]], "to": values[inner[-1]]})
        ticks += [
            {"x": place, "n": value, "middle": share == 0.5} | ends_of(quantiles[share], place)
            for share, value in values.items()
        ]
    return Figure(drawing=both(lambda width: _boxes(lines, ticks, names, title, width), title))


def shape_of(prefixes: Sequence[float], edges: Sequence[float], title: str) -> Figure:
    """Return a figure of a distribution: a bar for every class of neighbouring levels, its area the share.

    Args:
        prefixes: the shares below every edge.
        edges: of the levels.
        title: of the axis.
    """
    classes = [
        {"low": edges[a], "high": edges[b], "n": (prefixes[b] - prefixes[a]) / (edges[b] - edges[a])}
        for a, b in _classes(len(edges) - 1)
    ]
    return Figure(drawing=both(lambda width: _shape(classes, title, width), title))


def rose_of(prefixes: Sequence[float], edges: Sequence[float], title: str) -> Figure:
    """Return a figure of a distribution on a circle: a sector for every class of levels, its area the share.

    Args:
        prefixes: the shares below every edge.
        edges: of the levels, clockwise from the top.
        title: what it says to who does not see it.
    """
    around = edges[-1] - edges[0]
    sectors = [
        {
            "from": 2 * math.pi * (edges[a] - edges[0]) / around,
            "to": 2 * math.pi * (edges[b] - edges[0]) / around,
            "n": math.sqrt(max(prefixes[b] - prefixes[a], 0.0) / (edges[b] - edges[a])),
        }
        for a, b in _classes(len(edges) - 1)
    ]
    most = max(sector["n"] for sector in sectors) or 1.0
    for sector in sectors:
        sector["n"] /= most
    ticks = [{"at": math.pi * k / 4, "name": f"{edges[0] + around * k / 8:.6g}"} for k in range(8)]
    return Figure(drawing=both(lambda width: _rose(sectors, ticks, width), title))


def _classes(levels: int) -> Iterable[tuple[int, int]]:
    """Return the first and the last edge of every class of neighbouring levels."""
    return itertools.pairwise([*range(0, levels, max(1, -(-levels // CLASSES))), levels])


def inside(shares: Iterable[float]) -> list[float]:
    """Return the shares between which the box is drawn: those from 0.2 to 0.8 where there are two, else all."""
    every = sorted(shares)
    inner = [share for share in every if LOWER <= share <= 1 - LOWER]
    return inner if len(inner) > 1 else every


def _boxes(
    lines: list[dict[str, Any]], ticks: list[dict[str, Any]], names: Sequence[str], title: str, width: float
) -> Chart:
    alt = load("altair")
    place, across, height = places_of(names, width)
    axis, scale = charts.value_axis(title, across), alt.Scale(zero=False, nice=True)
    low = alt.X("low:Q", axis=axis, scale=scale)
    base = alt.Chart(charts.data(lines)).encode(place)
    whisker = base.mark_rule(color=INK, strokeWidth=1.2).encode(low, alt.X2("high:Q"))
    box = base.mark_bar(color=SOFT, opacity=1, size=STEP * 0.55).encode(
        alt.X("from:Q", axis=axis, scale=scale), alt.X2("to:Q")
    )
    marks = alt.Chart(charts.data(ticks)).encode(place, alt.X("n:Q", axis=axis, scale=scale))
    tick = marks.mark_tick(color=INK, thickness=1.4, size=STEP * 0.4).transform_filter("!datum.middle")
    middle = marks.mark_tick(color=MARK, thickness=3, size=STEP * 0.6).transform_filter("datum.middle")
    sure = marks.mark_rule(color=INK, strokeWidth=1.2, yOffset=STEP * 0.4).transform_filter("isValid(datum.low)")
    sure = sure.encode(low, alt.X2("high:Q"))
    drawn = (whisker + box + tick + middle + sure).add_params(charts.labels(names, LONGEST))
    return drawn.properties(width=across, height=height)


def _shape(classes: list[dict[str, Any]], title: str, width: float) -> Chart:
    alt = load("altair")
    axis, scale = charts.value_axis(title, width - 32), alt.Scale(zero=False, nice=True)
    base = alt.Chart(charts.data(classes)).mark_bar(color=MARK, opacity=0.75, binSpacing=0)
    across = alt.X("low:Q", axis=axis, scale=scale, bin="binned")
    up = alt.Y("n:Q", axis=alt.Axis(title=None, labels=False, ticks=False, domain=False, grid=False))
    return base.encode(across, alt.X2("high:Q"), up).properties(width=width - 32, height=TALL)


def _rose(sectors: list[dict[str, Any]], ticks: list[dict[str, Any]], width: float) -> Chart:
    alt = load("altair")
    side = min(width - 32, 2 * TALL)
    reach = side / 2 - 18
    turn = alt.Scale(domain=[0, 2 * math.pi], range=[0, 2 * math.pi])
    out = alt.Scale(domain=[0, 1], range=[0, reach])
    arcs = alt.Chart(charts.data(sectors)).mark_arc(color=MARK, opacity=0.75, stroke="white", strokeWidth=0.5)
    arcs = arcs.encode(
        alt.Theta("from:Q", scale=turn, stack=None), alt.Theta2("to:Q"), alt.Radius("n:Q", scale=out, stack=None)
    )
    words = alt.Chart(charts.data(ticks)).mark_text(radius=reach + 10, color=INK, fontSize=11)
    words = words.encode(alt.Theta("at:Q", scale=turn, stack=None), alt.Text("name:N"))
    return (arcs + words).properties(width=side, height=side)
