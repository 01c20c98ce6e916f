"""The line of a regression with the bands of its intervals: that of the rows, and that with sampling.

points, estimates at them -> drawing.
"""

from typing import Any

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates
from dpress.reporting import charts
from dpress.reporting.charts import MARK, Chart
from dpress.reporting.figures import Figure, both
from dpress.reporting.optional import load

HEIGHT = 220


def fitted_line(points: Array, estimates: Estimates, titles: tuple[str, str]) -> Figure:
    """Return the figure of a fitted line; no drawing where nothing is known of it.

    Args:
        points: of the regressor, in order.
        estimates: of the outcome there, with the intervals that hold sampling.
        titles: of the axes: of the regressor, and of the outcome.
    """
    if np.isnan(estimates.value).any() or estimates.population is None:
        return Figure(drawing=None)
    first, last = estimates.population
    columns = {"x": points, "n": estimates.value, "low": estimates.low, "high": estimates.high}
    columns |= {"first": first, "last": last}
    rows = [dict(zip(columns, line, strict=True)) for line in np.array([*columns.values()]).T.tolist()]
    label = f"{titles[1]} by {titles[0]}, fitted"
    return Figure(drawing=both(lambda width: _line(rows, titles, width), label))


def _line(rows: list[dict[str, Any]], titles: tuple[str, str], width: float) -> Chart:
    alt = load("altair")
    ends = [row[name] for row in rows for name in ("first", "last", "low", "high")]
    scale = alt.Scale(domain=[min(ends), max(ends)], zero=False, nice=True)
    across = alt.X("x:Q", axis=charts.value_axis(titles[0], width - 60), scale=alt.Scale(zero=False, nice=False))
    axis = charts.value_axis(titles[1], HEIGHT, upright=True)
    base = alt.Chart(charts.data(rows)).encode(across)
    pairs = (("first", "last", 0.14), ("low", "high", 0.26))
    marks = [
        base.mark_area(color=MARK, opacity=shade).encode(alt.Y(f"{low}:Q", axis=axis, scale=scale), alt.Y2(f"{high}:Q"))
        for low, high, shade in pairs
    ]
    line = base.mark_line(color=MARK, strokeWidth=1.8).encode(alt.Y("n:Q", axis=axis, scale=scale))
    return alt.layer(*marks, line).properties(width=width - 60, height=HEIGHT)
