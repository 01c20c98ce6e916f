"""Where a pair departs from independence: a cell in colour is significant, a hollow dot is not.

Data flow: view, pair -> people more or fewer than the product of the one-way counts -> heat map.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.joint.independence_tests import ALPHA
from dpress.kinds.joint.dependence import Pair
from dpress.reporting import charts, figures
from dpress.reporting.charts import Chart
from dpress.reporting.figures import LONGEST_AXIS, MOST_ROWS, Figure
from dpress.reporting.optional import load
from dpress.reporting.rounding import MINUS, number, unit_for
from dpress.reporting.views import View

FAINT = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """What is drawn, with the axis of fewer cells as rows.

    Args:
        view: the pair's table.
        people: more, or fewer, than independence.
        significant: which cells depart significantly.
        unit: to which the people are rounded.
    """

    view: View
    people: Array
    significant: Array
    unit: float

    @property
    def texts(self) -> list[list[str]]:
        """The people, with a sign."""
        return [[f"{'+' if x > 0 else MINUS}{number(abs(x), self.unit)}" for x in row] for row in self.people.tolist()]


def figure(view: View, pair: Pair, users: float) -> Figure | None:
    """Return the map of a pair's departure from independence, or None where it is too large to draw.

    Args:
        view: the pair's table.
        pair: what its contrast says.
        users: how many took part.
    """
    people = pair.contrast.residual * users
    unit = max(1.0, unit_for(float(pair.contrast.deviations.min()) * users))
    drawn = Map(view=view, people=people, significant=pair.significant, unit=unit)
    if view.axes[0].size > view.axes[1].size:
        drawn = replace(drawn, view=view.transposed((1, 0)), people=people.T, significant=pair.significant.T)
    rows, columns = drawn.view.axes
    if rows.size > MOST_ROWS or columns.size > LONGEST_AXIS:
        return None
    significant = int(pair.significant.sum())
    facts = {"rows": rows.caption, "significant": significant, "cells": people.size, "alpha": 100 * ALPHA}
    signs = (("mark", "more than independence"), ("less", "fewer"))
    drawing = figures.both(lambda width: _chart(drawn, width), f"Departure from independence of {view.name}")
    return Figure(drawing=drawing, facts=facts, signs=signs, hollow="not significant")


def _chart(drawn: Map, width: float) -> Chart:
    alt, (rows, columns) = load("altair"), drawn.view.axes
    width -= charts.margin(rows)
    step = min(30.0, max(7.0, 420.0 / rows.size))
    y_axis = charts.cell_axis(rows, step * rows.size, upright=False, title=None)
    x_axis = charts.cell_axis(columns, width, upright=True, title=columns.caption)
    y = alt.Y("x:O", axis=y_axis, scale=alt.Scale(domain=list(range(rows.size)), padding=0.04))
    x = alt.X("y:O", axis=x_axis, scale=alt.Scale(domain=list(range(columns.size)), padding=0.04))
    base = alt.Chart(charts.data(_records(drawn))).encode(y, x)
    dots = base.mark_point(shape="circle", filled=False, color=charts.MUTED, strokeWidth=1, size=min(12.0, step))
    layers = [
        base.mark_rect(color=colour).encode(alt.Opacity("shade:Q", scale=None)).transform_filter(which)
        for colour, which in (
            (charts.MARK, "datum.significant && datum.n > 0"),
            (charts.LESS, "datum.significant && datum.n < 0"),
        )
    ]
    layers.append(dots.transform_filter("!datum.significant"))
    if step >= 16 and width / columns.size >= 7 * max(len(text) for row in drawn.texts for text in row):
        ink = alt.condition("datum.shade > 0.75", alt.value(charts.ON_MARK), alt.value(charts.INK))
        texts = base.mark_text(fontSize=10.5).encode(text="text:N", color=ink)
        layers.append(texts.transform_filter("datum.significant"))
    layered = alt.layer(*layers).add_params(charts.labels(rows.ticks), charts.labels(columns.ticks))
    return layered.properties(width=width, height=step * rows.size)


def _records(drawn: Map) -> list[dict[str, object]]:
    """Return a record a cell; the shade grows with the square root, as on the map of counts."""
    people, texts = np.abs(drawn.people), drawn.texts
    shades = FAINT + (1 - FAINT) * np.sqrt(people / max(1.0, float(people.max())))
    return [
        {
            "x": row,
            "y": column,
            "n": float(drawn.people[row, column]),
            "shade": float(shades[row, column]),
            "significant": bool(drawn.significant[row, column]),
            "text": texts[row][column],
        }
        for row, column in np.ndindex(*people.shape)
    ]
