# Greek letters and signs as the page shows them
"""Views, tables and figures: the numbers are the release's own, and nothing is left out without a word."""

import re
import tomllib
from html import unescape

import numpy as np
import pytest

from dpress.data.spec import from_dict
from dpress.data.toml import as_toml
from dpress.report import error_words, figures, tables, views, words

from .conftest import AGE, KINDS, REGION, make


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").replace(",", ""))


@pytest.mark.parametrize("kind", ["two-way", "two-way sums", "three-way"])
def test_every_cell_equals_the_release_s_own_answer(kind: str) -> None:
    release = KINDS[kind]()
    for view in views.published(release) + views.asked(release):
        for cell in [(0,) * len(view.axes), tuple(axis.size - 1 for axis in view.axes)]:
            text = " and ".join(
                f"{axis.name} = {axis.labels[code]}" for axis, code in zip(view.axes, cell, strict=True)
            )
            answer = release.query(text)
            assert view.count[cell] == pytest.approx(answer.value)
            assert view.error[cell] == pytest.approx(answer.standard_error)
            assert (view.low[cell], view.high[cell]) == pytest.approx(answer.interval)


def test_tables_asked_for_are_added_up_from_the_published_one() -> None:
    release = KINDS["two-way sums"]()
    assert [view.name for view in views.asked(release)] == ["age × region", "age × sex", "region × sex"]
    assert (
        "added up" in tables.table(views.asked(release)[0]).note
        or "follow from" in tables.table(views.asked(release)[0]).note
    )
    assert views.asked(KINDS["two-way"]()) == []
    assert views.asked(KINDS["ranges"]()) == []


def test_a_long_axis_is_grouped_in_words_and_exactly() -> None:
    release = KINDS["large"]()
    view = views.published(release)[0]
    groups = views.grouped(release, view)
    assert groups.group == 64
    assert groups.count.size == 64
    answer = release.query("pay in 64..128")
    assert groups.count[1] == pytest.approx(answer.value)
    assert groups.low[1] == pytest.approx(answer.interval[0])
    assert groups.count.sum() == pytest.approx(view.count.sum())
    caption = figures.figure(release, view).caption
    assert "The table has 4,096 cells; each bar is the sum of 64 adjacent cells." in caption


def test_labels_of_a_very_long_axis_are_made_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    release = make("ranges", [{**AGE, "bounds": [0, 19_999], "null": "Unknown"}])
    long = views.published(release)[0]
    monkeypatch.setattr(views, "LONGEST", 1 << 20)
    short = views.published(release)[0]
    assert long.axes[0].labels == ()
    assert len(short.axes[0].labels) == long.axes[0].size == 20_001
    assert tables.table(long) == tables.table(short)
    assert views.grouped(release, long).axes == views.grouped(release, short).axes
    assert [long.axes[0].tick(cell) for cell in (0, 12_345, 20_000)] == ["0", "12,345", "Unknown"]


def test_groups_keep_the_cell_for_missing_values_apart() -> None:
    release = make("ranges", [{**AGE, "bounds": [0, 199], "null": "Unknown"}])
    view = views.published(release)[0]
    groups = views.grouped(release, view)
    assert groups.axes[0].labels[-1] == "Unknown"
    assert groups.count[-1] == pytest.approx(view.count[-1])
    assert groups.count.sum() == pytest.approx(view.count.sum())
    assert "(the last of" not in figures.figure(release, view).caption


def test_a_long_list_says_how_much_of_it_is_drawn() -> None:
    attribute = {"kind": "categorical", "name": "sex", "values": ["Female", "Male", *(f"v{i}" for i in range(70))]}
    release = make("histogram", [attribute])
    shown = figures.figure(release, views.published(release)[0])
    assert "the 40 largest of 72 cells" in shown.caption


def test_a_table_too_large_to_draw_says_so() -> None:
    release = make("histogram", [{**AGE, "bounds": [0, 99]}, {**AGE, "name": "pay", "bounds": [0, 4000], "bins": 100}])
    shown = figures.figure(release, views.published(release)[0])
    assert shown.drawing is None
    assert shown.caption == "No figure: 100 × 100 cells are too many to draw legibly."


def test_heat_maps_count_the_cells_that_may_be_empty() -> None:
    release = make("histogram", [AGE, REGION], {"epsilon": 0.2})
    view = views.published(release)[0]
    shown = figures.figure(release, view)
    unclear = int(np.sum(view.count - view.half <= 0))
    assert 0 < unclear < 120
    assert f"{unclear} of 120 cells" in shown.caption
    assert shown.drawing is not None
    wide = shown.drawing[: shown.drawing.index("</svg>")]
    assert len(re.findall(r"<path[^>]*fill=\"#2a64a8\"", wide)) == 120 - unclear


def test_heat_map_rows_keep_their_order() -> None:
    release = make("histogram", [AGE, REGION], {"epsilon": 0.05})
    drawing = figures.figure(release, views.published(release)[0]).drawing
    assert drawing is not None
    wide = drawing[: drawing.index("</svg>")]
    labels = [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", wide)]
    rows = [label for label in labels if label in {*REGION["values"], "X"}]
    columns = [int(label) for label in labels if label.isdigit() and int(label) < 20]
    assert rows == [*REGION["values"], "X"]
    assert columns[: len(set(columns))] == sorted(set(columns))


def test_tables_are_cut_with_a_sentence() -> None:
    view = views.published(KINDS["two-way"]())[0]
    shown = tables.table(view)
    assert len(shown.rows) == tables.ROWS
    assert shown.note.startswith("The 10 largest of 120 cells; all are in table_1.parquet.")
    counts = [number(row[2]) for row in shown.rows]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == pytest.approx(float(view.count.max()), abs=1)


def test_short_ordered_tables_are_shown_whole_and_in_order() -> None:
    shown = tables.table(views.published(KINDS["ranges"]())[0])
    assert [row[0] for row in shown.rows] == [str(age) for age in range(20)]
    assert shown.note == "All 20 cells, in table_1.parquet."


def test_attributes_say_what_happened_to_other_values() -> None:
    release = make("histogram", [{**AGE, "outside": "drop"}, REGION])
    (_, _, _, outside, missing), (*_, other, null) = tables.attributes(release, words.said(release).fates).rows
    assert outside == "outside 0 to 19: their rows were left out"
    assert missing == "refused (none occurred)"
    assert other == null == "counted in the cell “X”"


@pytest.mark.parametrize("kind", list(KINDS))
def test_specification_reads_back_to_the_same_hash(kind: str) -> None:
    spec = KINDS[kind]().spec
    assert from_dict(tomllib.loads(as_toml(spec))).hash == spec.hash


def test_specification_with_odd_names_reads_back() -> None:
    odd = {"kind": "categorical", "name": 'a"b\\c\x7f\n', "values": ["é", "\t", "]"], "other": "x"}
    tables_asked = {"tables": [['a"b\\c\x7f\n']], "shares": [1]}
    spec = from_dict(
        {"attribute": [odd], "privacy": {"epsilon": 1}, "release": {"kind": "marginals", "parameters": tables_asked}}
    )
    assert from_dict(tomllib.loads(as_toml(spec))).hash == spec.hash


def test_error_is_the_plan_s() -> None:
    release = KINDS["two-way"]()
    said = error_words.accuracy(release)
    assert said.method == "marginals"
    assert "discrete Laplace noise of scale 3 (standard deviation 4.2)" in said.noise
    assert number(said.typical) == pytest.approx(release.planned.chosen.predicted_error**0.5, abs=0.05)
    assert number(said.bound) == pytest.approx(release.planned.lower_bound**0.5, abs=0.05)
    ratio = (release.planned.chosen.predicted_error / release.planned.lower_bound) ** 0.5
    assert number(said.ratio) == pytest.approx(ratio, abs=0.005)


def test_gaussian_noise_is_named() -> None:
    assert "discrete Gaussian noise with σ² = 5" in error_words.accuracy(make("histogram", [AGE], {"rho": 0.1})).noise


def test_the_example_query_is_answered_as_the_release_answers_it() -> None:
    release = KINDS["ranges"]()
    command, answer = error_words.example(release)
    assert command == "dpress query FOLDER 'age in 5..9'"
    assert number(answer.split(", 95")[0]) == pytest.approx(release.query("age in 5..9").value, abs=0.5)
