"""A statistic of many groups: a bar or a point for each, with its interval, the same scale for all.

estimates -> groups of which a value is known, pale where their interval would hide all others -> drawing.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates
from dpress.reporting import charts
from dpress.reporting.charts import INK, MARK, SOFT, Chart
from dpress.reporting.figures import Figure, both
from dpress.reporting.optional import load
from dpress.reporting.short_labels import short_labels

MOST_GROUPS = 30  # in a figure
STEP = 24.0  # from one group to the next
LONGEST = 28
FAR = 2.0  # times what all narrower intervals cover together, from which on an interval tells nothing among them


def bars(names: Sequence[str], statistic: Estimates, title: str, *, from_zero: bool) -> Figure:
    """Return a figure of one statistic: bars from zero for counts and sums, else points; lines are intervals.

    Its facts: how many groups are `drawn` of how many `groups`, how many of these are left out since no value is known
    of them (`untold`), or none is shown (`hidden`), and how many of the drawn ones are `pale`. No drawing where no
    value is known of any.

    Args:
        names: of the groups, those that are to be drawn first.
        statistic: the statistic, in the same order.
        title: of the axis.
        from_zero: whether lengths mean something.
    """
    places = np.flatnonzero(~np.isnan(statistic.value))
    drawn = places[:MOST_GROUPS].tolist()
    pale, facts = wide(statistic.low[drawn], statistic.high[drawn]), {"drawn": len(drawn), "groups": len(names)}
    records = [
        {"x": at, "n": float(statistic.value[place]), "pale": bool(pale[at])} | ends_of(statistic, place)
        for at, place in enumerate(drawn)
    ]
    shown = [names[place] for place in drawn]
    drawing = both(lambda width: _bars(records, shown, title, width, from_zero=from_zero), title) if drawn else None
    hidden = 0 if statistic.hidden is None else int(statistic.hidden.sum())
    left_out = {"untold": len(names) - places.size - hidden, "hidden": hidden}
    return Figure(drawing=drawing, facts=facts | left_out | {"pale": int(pale.sum())})


def wide(low: Array, high: Array) -> npt.NDArray[np.bool_]:
    """Return which intervals are more than twice as wide as what all narrower ones cover together.

    Of such a group the figure says nothing beside the others; at least two are never among them.

    Args:
        low: the lower ends, shape (groups,); NaN where there is no interval.
        high: the upper ends.

    >>> wide(np.array([0.0, 2.0, -90.0]), np.array([1.0, 3.0, 90.0]))
    array([False, False,  True])
    """
    widths = np.nan_to_num(high - low)
    order = np.argsort(widths, kind="stable")
    covered = np.fmax.accumulate(high[order]) - np.fmin.accumulate(low[order])
    first = next((at for at in range(2, len(order)) if widths[order[at]] > FAR * covered[at - 1] > 0), len(order))
    pale = np.zeros(len(order), dtype=np.bool_)
    pale[order[first:]] = True
    return pale


def ends_of(statistic: Estimates, place: int) -> dict[str, float]:
    """Return the ends of an interval; nothing where there is none."""
    low, high = float(statistic.low[place]), float(statistic.high[place])
    return {} if math.isnan(low) else {"low": low, "high": high}


def places_of(names: Sequence[str], width: float) -> tuple[Any, float, float]:
    """Return the axis of groups, and the width and the height that are left for the drawing."""
    alt = load("altair")
    room = max(map(len, short_labels(names, LONGEST))) * charts.LETTER + 32
    axis = alt.Axis(
        values=list(range(len(names))), title=None, labelExpr=charts.label_of(charts.labels(names, LONGEST)),
        labelLimit=0, labelOverlap=False, grid=False, ticks=False, domain=False, labelPadding=5,
    )  # fmt: skip
    scale = alt.Scale(domain=list(range(len(names))), paddingInner=0.25, paddingOuter=0.15)
    return alt.Y("x:O", axis=axis, scale=scale), max(width - room, 120.0), STEP * len(names)


def _bars(records: list[dict[str, Any]], names: Sequence[str], title: str, width: float, *, from_zero: bool) -> Chart:
    alt = load("altair")
    place, across, height = places_of(names, width)
    axis, scale = charts.value_axis(title, across), _scale(records, from_zero=from_zero)
    base = alt.Chart(charts.data(records)).encode(place)
    value = alt.X("n:Q", axis=axis, scale=scale)
    mark = base.mark_bar(color=MARK, opacity=0.75) if from_zero else base.mark_point(
        color=MARK, filled=True, size=55, opacity=1
    )  # fmt: skip
    line = base.mark_rule(strokeWidth=1.2, clip=True).encode(
        alt.X("low:Q", axis=axis, scale=scale),
        alt.X2("high:Q"),
        color=alt.condition("datum.pale", alt.value(SOFT), alt.value(INK)),
    )
    line = line.transform_filter("isValid(datum.low)")
    drawn = (line + mark.encode(value)).add_params(charts.labels(names, LONGEST))
    return drawn.properties(width=across, height=height)


def _scale(records: list[dict[str, Any]], *, from_zero: bool) -> Any:
    """Return the scale of all values, and of the intervals that are not pale: those would make it theirs alone."""
    ends = [record["n"] for record in records]
    ends += [record[end] for record in records if not record["pale"] for end in ("low", "high") if end in record]
    ends += [0.0] * from_zero
    return load("altair").Scale(domain=[min(ends), max(ends)], zero=False, nice=True)
