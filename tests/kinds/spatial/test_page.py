# Greek letters and signs as the page shows them
"""The page of a map: what is drawn is what was answered, and what is promised fits positions."""

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.conftest import KINDS, mapped, mapped_table
from tests.kinds.reading import html_of_page, read, undrawn

from dpress.core.basics.errors import NotSupported
from dpress.kinds.spatial import text as phrases
from dpress.kinds.spatial.page import context, map_of, middle
from dpress.query.release import Release
from dpress.reporting.facts import facts
from dpress.reporting.page import page, write_report
from dpress.reporting.rounding import MINUS

pytestmark = pytest.mark.slow

LOCAL, CENTRAL = ("gtr_top_down", "gtr", "qt_krr", "krr", "psda"), ("quadtree", "uniform_grid", "adaptive_grid")
TWO = ("lon in -74.1..-73.9 and lat in 40.6..40.8", "lat < 40.9")


def made(method: str) -> Release:
    """Return the map of one method, made once."""
    return mapped(method) if method in LOCAL else mapped_table(method)


@functools.cache
def shown(method: str) -> str:
    """Return the text of the page of one method, drawn once."""
    return read(html_of_page(made(method))).text


def context_of(release: Release, *queries: str) -> dict[str, Any]:
    return context(facts(release), map_of(release), queries)


@pytest.mark.parametrize("method", LOCAL + CENTRAL)
def test_every_method_has_a_page_in_the_words_of_maps(method: str) -> None:
    text = shown(method)
    assert method in text
    for wrong in (
        "any two values",
        "combinations of values",
        "all values",
        "the attribute asked for",
        "No other method serves",
    ):
        assert wrong not in text
    assert "over rectangles of 1 to 25 % of the box" in text
    assert "Lower bound" not in text
    assert ("most crowded of" in text) != ("The noise hides them: no part of the map" in text)
    assert "_side" not in text
    assert "lonnumeric" in text
    assert "Typical error±" in text
    assert "Error predicted" not in text


def test_what_is_drawn_is_the_release_s_own_answer() -> None:
    release = made("gtr_top_down")
    html = page(release, queries=TWO)
    found = context_of(release, *TWO)
    for text, row in zip(TWO, found["answers"].rows, strict=True):
        answer = release.query(text)
        assert row[0] == text
        assert float(row[1].replace(",", "")) == pytest.approx(answer.value, abs=answer.standard_error)
        assert html.count(f">{row[1]}</text>") == 2  # wide and narrow
    assert html.count('class="query"') == 4
    assert found["typed"] == ""


def test_without_queries_the_middle_ninth_is_drawn_and_can_be_typed() -> None:
    release = made("gtr_top_down")
    found = context_of(release)
    text = middle(release.schema.names, map_of(release).box)
    assert text == "lon in -74.1..-73.9 and lat in 40.6..40.8"
    assert [row[0] for row in found["answers"].rows] == [text]
    assert found["typed"] == f"dpress report FOLDER --query '{text}'"
    assert release.query(text).note is None


def test_a_rectangle_beyond_the_box_says_so_once() -> None:
    release = made("gtr_top_down")
    html = page(release, queries=("lon in -80..-74", "lat in 40.9..50"))
    assert html.count("The part of the rectangle outside the box counts nobody.") == 1


def test_queries_need_a_map_and_there_are_not_too_many(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="only a map"):
        write_report(KINDS["ranges"](), tmp_path / "r.html", queries=TWO)
    with pytest.raises(NotSupported, match="at most 12"):
        page(made("gtr_top_down"), queries=("total",) * 13)
    with pytest.raises(ValueError, match="cannot read"):
        write_report(made("gtr_top_down"), tmp_path / "r.html", queries=("nowhere",))
    assert not list(tmp_path.iterdir())


def test_a_promise_within_safe_regions_is_never_worded_as_one_of_any_two_positions() -> None:
    text = shown("psda")
    assert "ONLY WITHIN SAFE REGIONS" in text
    assert text.count("is NOT protected") == 2  # on top, and under what is not promised
    assert "two positions of the same safe region only" in text
    assert "From one report any two positions in the box" not in text
    assert "permanent" not in text
    other = shown("gtr_top_down")
    assert "safe region" not in other
    assert "From one report any two positions in the box must be hard to tell apart." in other


def test_one_region_of_everybody_is_a_promise_of_any_two_positions() -> None:
    mechanism = mapped("psda", region_levels=[0]).mechanism
    assert phrases.between(mechanism) == "any two positions"
    assert not phrases.within_regions(mechanism)


def test_counts_below_zero_and_bias_are_said_of_the_maps_that_have_them() -> None:
    for method in LOCAL + CENTRAL:
        release = made(method)
        said, below = shown(method), int((release.answers.density.counts < 0).sum())
        assert ("No count is below zero" in said) == (method in {"gtr_top_down", "quadtree"})
        assert (f"{below:,} of" in said) == bool(below)


def test_whose_error_is_stated_is_said_of_adjusted_maps() -> None:
    for method in LOCAL + CENTRAL:
        beside = "those of the unbiased answer that the same noisy counts give" in shown(method)
        assert beside == (method in {"gtr_top_down", "quadtree"})
        assert beside == (made(method).query(TWO[0]).unbiased is not None)


def place_of(row: tuple[str, ...]) -> str:
    """Return the query of a row of the fullest places."""
    ends = [text.replace(MINUS, "-").replace(" to ", "..") for text in row[:2]]
    return " and ".join(f"{name} in {end}" for name, end in zip(("lon", "lat"), ends, strict=True))


def test_the_fullest_places_are_answers_told_from_nobody() -> None:
    release = made("quadtree")
    rows = context_of(release)["fullest"].rows
    assert 1 <= len(rows) <= 10
    for row in rows:
        answer = release.query(place_of(row))
        count, low, high = (
            float(text.replace(",", "").replace(MINUS, "-")) for text in (row[2], *row[3].split(" to "))
        )
        assert (count, low, high) == pytest.approx((answer.value, *answer.interval), abs=20)
        assert low > 0


def test_an_empty_cell_is_not_sold_as_certain() -> None:
    release = made("gtr_top_down")
    assert (release.answers.density.counts == 0).any()
    assert "where the map says 0 there may be somebody" in shown("gtr_top_down")
    assert release.answers.density.cell_variances().min() > 0


def test_the_report_types_of_every_level_are_listed() -> None:
    rows = context_of(made("gtr_top_down"))["levels"].rows
    assert [row[:2] for row in rows] == [("1", "2 × 2"), ("2", "4 × 4"), ("3", "8 × 8")]
    assert sum(float(row[3].removesuffix(" %")) for row in rows) == pytest.approx(100, abs=0.2)
    assert "share of devices" in shown("gtr_top_down")
    assert "share of devices" not in shown("krr")
    assert "share of devices" not in shown("quadtree")


def test_a_page_lists_all_of_its_tiles_and_no_cell_of_noise() -> None:
    release = made("quadtree")
    tiles = map_of(release).tiles
    (listed,) = json.loads(context_of(release)["data"])["lists"]
    assert listed["rows"] == tiles.partition.rows < release.answers.density.counts.size


def test_what_was_dropped_is_private() -> None:
    text = read(undrawn(mapped_table(outside="drop"))).text
    assert "Positions outside the box were left out; how many is private" in text
    assert "how many is private" not in shown("quadtree")


def test_the_total_of_a_collection_is_its_number_of_reports() -> None:
    assert "public and exact): 900." in shown("gtr_top_down")
    assert "public and exact): 900." in shown("gtr")
    assert re.search(
        r"Rows counted, in all: 9\d\d, 95 % interval [^.]*, standard error|Rows counted, in all: 8", shown("quadtree")
    )


def test_a_map_of_oue_reports_by_least_squares_shows_the_bound_of_its_rectangles() -> None:
    """Theorem 5 is for GT-R: other reports, or counts held above zero, have no such bound."""
    release = made("gtr")
    found = context_of(release, *TWO)
    bound = map_of(release).bound
    assert bound is not None
    assert sum(bound.users) == release.users
    assert len(bound.users) == len(release.mechanism.types)  # type: ignore[attr-defined]  # a collection
    for text, row in zip(TWO, found["answers"].rows, strict=True):
        answer = release.query(text)
        wide = float(row[-1].replace(",", ""))
        assert 1.5 * answer.standard_error < wide < 6 * answer.standard_error
    assert "does so for certain" in shown("gtr")
    flat = map_of(mapped("n_gtr")).bound
    assert flat is not None
    assert (flat.users, len(flat.noise.levels)) == ((mapped("n_gtr").users,), 1)
    for method in LOCAL:
        if method != "gtr":
            assert map_of(made(method)).bound is None
            assert "Bernstein" not in shown(method)
