# Greek letters and signs as the page shows them
"""Views, tables and figures: the numbers are the release's own, and nothing is left out without a word."""

import functools
import re
import tomllib
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from tests.kinds.conftest import AGE, KINDS, REGION, make
from tests.kinds.reading import text_of, text_of_page
from tests.reporting.macros import sentence

from dpress.attributes.listed.attribute import Categorical
from dpress.data.specification.spec import as_dict, from_dict
from dpress.data.specification.toml import as_toml
from dpress.kinds.tables.page import derived_views
from dpress.query.release import Release
from dpress.reporting import counts, figures, long_axes, page_tables, views
from dpress.reporting.accuracy import accuracy, answered, example, query_of
from dpress.reporting.facts import facts
from dpress.reporting.figures import Figure
from dpress.reporting.views import View


def published(release: Release) -> list[View]:
    return facts(release).views


def figure_of(release: Release) -> Figure:
    return figures.figure(published(release)[0], facts(release).range_variances)


def caption(figure: Figure) -> str:
    return sentence("reporting/elements.html.j2", "caption", figure.facts)


def note(view: View) -> str:
    return sentence("reporting/elements.html.j2", "excerpt", page_tables.table(view).excerpt)


def sums(release: Release) -> list[View]:
    return derived_views(facts(release), published(release))


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").replace(",", ""))


@pytest.mark.parametrize("kind", ["two-way", "two-way sums", "three-way"])
def test_every_cell_equals_the_release_s_own_answer(kind: str) -> None:
    release = KINDS[kind]()
    for view in published(release) + sums(release):
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
    assert [view.name for view in sums(release)] == ["age × region", "age × sex", "region × sex"]
    assert "all are in age-region.parquet" in note(sums(release)[0])
    older = replace(release, with_asked=False)
    assert "the rest follow from age-region-sex.parquet" in note(sums(older)[0])
    whole = page_tables.Excerpt(shown=4, cells=4, file="table.parquet", derived=True, unit=None)
    assert sentence("reporting/elements.html.j2", "excerpt", whole) == "All 4 cells, added up from table.parquet."
    assert sums(KINDS["two-way"]()) == []
    assert sums(KINDS["ranges"]()) == []


def test_a_long_axis_is_grouped_in_words_and_exactly() -> None:
    release = KINDS["large"]()
    view = published(release)[0]
    groups = views.grouped(view, facts(release).range_variances)
    assert groups.group == 64
    assert groups.count.size == 64
    answer = release.query("pay in 64..128")
    assert groups.count[1] == pytest.approx(answer.value)
    assert groups.low[1] == pytest.approx(answer.interval[0])
    assert groups.count.sum() == pytest.approx(view.count.sum())
    shown = caption(figure_of(release))
    assert "The table has 4,096 cells; each bar is the sum of 64 adjacent cells." in shown


def test_labels_of_a_very_long_axis_are_made_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    release = make("ranges", [{**AGE, "bounds": [0, 19_999], "null": "Unknown"}])
    long = published(release)[0]
    monkeypatch.setattr(views, "LONGEST", 1 << 20)
    short = published(release)[0]
    assert long.axes[0].labels == ()
    assert len(short.axes[0].labels) == long.axes[0].size == 20_001
    assert page_tables.table(long) == page_tables.table(short)
    assert (
        views.grouped(long, facts(release).range_variances).axes
        == views.grouped(short, facts(release).range_variances).axes
    )
    assert [long.axes[0].tick(cell) for cell in (0, 12_345, 20_000)] == ["0", "12,345", "Unknown"]


def test_groups_keep_the_cell_for_missing_values_apart() -> None:
    release = make("ranges", [{**AGE, "bounds": [0, 199], "null": "Unknown"}])
    view = published(release)[0]
    groups = views.grouped(view, facts(release).range_variances)
    assert groups.axes[0].labels[-1] == "Unknown"
    assert groups.count[-1] == pytest.approx(view.count[-1])
    assert groups.count.sum() == pytest.approx(view.count.sum())
    assert "(the last of" not in caption(figure_of(release))


def test_a_long_list_says_how_much_of_it_is_drawn() -> None:
    attribute = {"kind": "categorical", "name": "sex", "values": ["Female", "Male", *(f"v{i}" for i in range(70))]}
    release = make("histogram", [attribute, {**AGE, "bounds": [0, 1]}])
    (view,), about = published(release), facts(release)
    assert "Shown are the 20 largest of 72 values of sex." in caption(figure_of(release))
    shown = figures.figure(view, about.range_variances, functools.partial(counts.together, about))
    (rest,) = shown.facts["rests"]
    largest = np.argsort(-view.count.sum(axis=1), kind="stable")
    others = release.query(f"sex in ({', '.join(view.axes[0].labels[place] for place in largest[20:])})")
    assert f"the rest (52 values) together: {answered(others)}." in caption(shown)
    assert float(rest.answer.split(",")[0].replace("\N{MINUS SIGN}", "-")) == pytest.approx(others.value, abs=1)
    assert others.standard_error > 5 * view.error.max()  # as of 104 cells, not of one
    drawn = {text for text in re.findall(r"<text[^>]*>([^<]*)</text>", shown.drawing) if text in view.axes[0].labels}
    assert drawn == {view.axes[0].labels[place] for place in largest[:20]}


def test_an_axis_in_order_is_drawn_in_its_order_however_long() -> None:
    release = make("histogram", [{"kind": "ordinal", "name": "age", "values": list(range(60))}])
    (view,) = published(release)
    assert long_axes.shortened(view, None) == (view, ())
    assert long_axes.largest_first(view) is view


def test_a_table_too_large_to_draw_says_so() -> None:
    release = make("histogram", [{**AGE, "bounds": [0, 99]}, {**AGE, "name": "pay", "bounds": [0, 4000], "bins": 200}])
    shown = figure_of(release)
    assert shown.drawing is None
    assert caption(shown) == "No figure: 100 × 200 cells are too many to draw legibly."


def test_a_hundred_times_a_hundred_cells_are_drawn_where_they_are_clearly_above_zero() -> None:
    release = make("histogram", [{**AGE, "bounds": [0, 99]}, {**AGE, "name": "pay", "bounds": [0, 4000], "bins": 100}])
    (view,), shown = published(release), figure_of(release)
    assert shown.drawing is not None
    wide = shown.drawing[: shown.drawing.index("</svg>")]
    assert len(re.findall(r"M\d+ \d+\.5h1", wide)) == np.count_nonzero(view.low > 0) == 10_000 - view.unclear > 0
    assert f"Blank are the {view.unclear:,} of 10,000 cells" in caption(shown)
    row, column = np.argwhere(view.low > 0)[0]
    assert f"M{column} {row}.5h1" in wide
    assert len(shown.drawing) < 100_000


def test_heat_maps_count_the_cells_that_may_be_empty() -> None:
    release = make("histogram", [AGE, REGION], {"epsilon": 0.2})
    view = published(release)[0]
    shown = figure_of(release)
    unclear = int(np.sum(view.low <= 0))
    assert 0 < unclear < 120
    assert f"{unclear} of 120 cells" in caption(shown)
    assert shown.drawing is not None
    wide = shown.drawing[: shown.drawing.index("</svg>")]
    assert len(re.findall(r"<path[^>]*fill=\"#2a64a8\"", wide)) == 120 - unclear


def test_heat_map_rows_keep_their_order() -> None:
    release = make("histogram", [AGE, REGION], {"epsilon": 0.05})
    drawing = figure_of(release).drawing
    assert drawing is not None
    wide = drawing[: drawing.index("</svg>")]
    labels = [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", wide)]
    rows = [label for label in labels if label in {*REGION["values"], "X"}]
    columns = [int(label) for label in labels if label.isdigit() and int(label) < 20]
    assert rows == [*REGION["values"], "X"]
    assert columns[: len(set(columns))] == sorted(set(columns))


def test_tables_are_cut_with_a_sentence() -> None:
    view = published(KINDS["two-way"]())[0]
    shown = page_tables.table(view)
    assert len(shown.rows) == page_tables.ROWS
    assert note(view).startswith("The 10 largest of 120 cells; all are in age-region.parquet.")
    counts = [number(row[2]) for row in shown.rows]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == pytest.approx(float(view.count.max()), abs=1)


def test_short_ordered_tables_are_shown_whole_and_in_order() -> None:
    (view,) = published(KINDS["ranges"]())
    shown = page_tables.table(view)
    assert [row[0] for row in shown.rows] == [str(age) for age in range(20)]
    assert note(view) == "All 20 cells, in age.parquet. Counts are rounded to 0.1, intervals outward."


def test_attributes_say_what_happened_to_other_values() -> None:
    release = make("histogram", [{**AGE, "outside": "drop"}, REGION])
    (_, _, _, outside, missing), (*_, other, null) = page_tables.attributes(release.schema, "central").rows
    assert outside == "outside 0 to 19: their rows were left out"
    assert missing == "refused (none occurred)"
    assert other == null == "counted in the cell “X”"


@pytest.mark.parametrize("kind", list(KINDS))
def test_specification_reads_back_to_the_same_hash(kind: str) -> None:
    plain = KINDS[kind]().design.specification
    assert from_dict(tomllib.loads(as_toml(plain))).hash == from_dict(plain).hash


def test_specification_with_odd_names_reads_back() -> None:
    odd = {"kind": "categorical", "name": 'a"b\\c', "values": ["é", "\t", "]", '"\\c\x7f\n'], "other": "x"}
    tables_asked = {"tables": [['a"b\\c']], "shares": [1]}
    spec = from_dict(
        {"attribute": [odd], "privacy": {"epsilon": 1}, "release": {"kind": "marginals", "parameters": tables_asked}}
    )
    assert from_dict(tomllib.loads(as_toml(as_dict(spec)))).hash == spec.hash


def test_error_is_the_plan_s() -> None:
    release = KINDS["two-way"]()
    said = accuracy(facts(release))
    assert said.method == "marginals"
    assert "discrete Laplace noise of scale 3 (standard deviation 4.2)" in text_of("two-way")
    assert number(said.typical) == pytest.approx(release.predicted**0.5, abs=0.05)
    assert number(said.bound) == pytest.approx(release.lower_bound**0.5, abs=0.05)
    ratio = (release.predicted / release.lower_bound) ** 0.5
    assert number(said.ratio) == pytest.approx(ratio, abs=0.005)


def test_gaussian_noise_is_named() -> None:
    assert "discrete Gaussian noise with σ² = 5" in text_of_page(make("histogram", [AGE], {"rho": 0.1}))


def test_the_example_query_is_answered_as_the_release_answers_it() -> None:
    release = KINDS["ranges"]()
    shown = example(facts(release), query_of(release.schema.tabular[:1]))
    assert shown.command == "dpress query FOLDER 'age in 5..9'"
    assert number(shown.answer.split(", 95")[0]) == pytest.approx(release.query("age in 5..9").value, abs=0.5)


def test_the_example_names_values_by_their_labels_where_these_are_clear() -> None:
    labels = {"f": "Women", "m": "Men"}
    sex = Categorical(name="sex", values=["f", "m"], value_labels=labels)
    assert query_of([sex]) == "sex = Women"
    assert query_of([Categorical(name="sex", values=["f", "m"], value_labels=labels | {"f": "Two words"})]) == (
        'sex = "Two words"'
    )


def test_a_cell_of_next_to_no_error_does_not_decide_how_all_are_rounded() -> None:
    """One cell whose standard error is 1e-8 had all counts printed with eight decimals."""
    axis = views.Axis(name="a", labels=("x", "y", "z"), ticks=("x", "y", "z"), ordered=0)
    spread = np.array([1e-8, 4.0, 5.0])
    view = View(axes=(axis,), count=np.array([0.123456789, 17.4321, 20.98765]), half=2 * spread, error=spread, file="f")
    first, second, _ = page_tables.table(view).rows
    assert first == ("x", "0", "0 to 1", "< 0.01")
    assert second == ("y", "17", "9 to 26", "4.0")
    exact = page_tables.table(replace(view, error=np.zeros(3), half=np.zeros(3)))
    assert exact.rows[1][3] == "0"


def test_panels_in_which_nothing_is_clearly_above_zero_are_left_out_by_name() -> None:
    (view,) = published(make("histogram", [REGION, AGE], postprocess=[]))
    some = replace(view.transposed((0, 1)), count=np.where(np.arange(6)[:, None] < 2, 100.0, 0.0) + 0 * view.count)
    first = replace(some.axes[0], labels=some.axes[0].labels[:3], ticks=some.axes[0].ticks[:3])
    few = replace(some, axes=(first, some.axes[1]), count=some.count[:3], half=some.half[:3], error=some.error[:3])
    shown = figures.figure(few, lambda _, ranges: np.ones(ranges.size))
    assert shown.facts["empty"] == ["East"]
    assert "Left out, as hardly an interval lies above zero, no more than chance makes: East." in caption(shown)
    nothing = replace(few, count=0 * few.count)
    assert figures.figure(nothing, lambda _, ranges: np.ones(ranges.size)).facts["empty"] == []


def test_the_specification_on_a_page_says_how_its_file_is_written() -> None:
    plain = {**make("histogram", [AGE]).design.specification, "data": {"separator": ";"}}
    assert from_dict(plain).data.separator == ";"
    assert from_dict(tomllib.loads(as_toml(plain))).hash == from_dict(plain).hash
