"""Figures of groups: the largest first, those of which nothing is told left out or pale, labels that differ."""

import re

import numpy as np
from tests.kinds.reading import text
from tests.reporting.few_months import COST, WARD, series_of, spec, table

from dpress.inference.group_moments import Estimates
from dpress.reporting import group_bars
from dpress.reporting.group_bars import MOST_GROUPS, bars, wide
from dpress.reporting.page import page

NAN = float("nan")


def estimates(*rows):
    """Return estimates of (value, half of the interval)."""
    value, half = np.array(rows, dtype=float).T
    return Estimates(value=value, standard_error=half / 2, low=value - half, high=value + half)


def labels_of(drawing, names):
    """Return the labels of the wide drawing, in the order in which they stand."""
    return [label for label in re.findall("<text[^>]*>([^<]*)</text>", drawing) if label in names][: len(names)]


def test_a_group_without_a_value_is_left_out_and_counted():
    rows = [(place, 1.0) for place in range(40)]
    rows[3] = (NAN, NAN)
    names = [f"group {place}" for place in range(40)]
    shown = bars(names, estimates(*rows), "mean", from_zero=False)
    assert shown.facts == {"drawn": MOST_GROUPS, "groups": 40, "untold": 1, "hidden": 0, "pale": 0}
    assert labels_of(shown.drawing, names)[:4] == ["group 0", "group 1", "group 2", "group 4"]
    nothing = bars(["a", "b"], estimates((NAN, NAN), (NAN, NAN)), "mean", from_zero=False)
    assert (nothing.drawing, nothing.facts["untold"]) == (None, 2)


def test_an_interval_that_would_hide_all_others_is_pale_and_makes_no_scale(monkeypatch):
    drawn = []
    monkeypatch.setattr(group_bars, "both", lambda draw, _: drawn.append(draw(400.0).to_dict(validate=False)))
    shown = bars(["a", "b", "c", "d"], estimates((5, 1), (7, 1), (6, 500), (9, 1)), "mean", from_zero=False)
    assert shown.facts["pale"] == 1
    (chart,) = drawn
    assert chart["layer"][0]["encoding"]["x"]["scale"]["domain"] == [4.0, 10.0]
    assert [row["pale"] for row in chart["data"]["values"]] == [False, False, True, False]
    assert not wide(*np.array([[0.0, 1.0, 2.0], [9.0, 11.0, 13.0]])).any()  # as wide as each other
    assert not wide(np.zeros(3), np.zeros(3)).any()


def test_groups_without_an_order_stand_by_their_size_and_the_drawn_ones_are_the_largest(tmp_path):
    names = [f"The ward of the hospital at number {place}" for place in range(40)]
    sizes = [100 + 50 * place for place in range(40)]
    ward = WARD | {"values": [*map(str, range(40))], "labels": dict(zip(map(str, range(40)), names, strict=True))}
    plan = spec([ward, COST], 1, "statistics", {"by": ["ward"], "mean": ["cost"]})
    rows = table([0, 0, 20])
    places = np.repeat(np.arange(40), sizes)
    rows = rows.take(np.zeros(places.size, dtype=int)).set_column(1, "ward", [[*map(str, places)]])
    series = series_of(tmp_path / "out", plan, rows)
    html = page(series.releases[series.spans[0]])
    assert "The 30 largest of 40 groups." in text(html)
    (figure,) = re.findall(r'<svg class="chart wide"[^>]*aria-label="mean of Cost.*?</svg>', html, flags=re.DOTALL)[:1]
    drawn = [label for label in re.findall("<text[^>]*>([^<]*)</text>", figure) if "\N{HORIZONTAL ELLIPSIS}" in label]
    assert [int(re.findall(r"\d+", label)[0]) for label in drawn] == [*range(39, 9, -1)]
    assert len({*drawn}) == MOST_GROUPS
