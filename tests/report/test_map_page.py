# Greek letters and signs as the page shows them
"""The page of a map: what is drawn is what was answered, and what is promised fits positions."""

import functools
import re
from pathlib import Path

import pytest

from dpress.core.errors import NotSupported
from dpress.release.release import Release
from dpress.report import error_words, map_page, map_parts, map_words, views, words
from dpress.report.page import page, write_report
from dpress.report.rounding import MINUS

from .conftest import KINDS, mapped, mapped_table
from .test_page import read

LOCAL, CENTRAL = ("gtr_top_down", "gtr", "qt_krr", "krr", "psda"), ("quadtree", "uniform_grid", "adaptive_grid")
TWO = ("lon in -74.1..-73.9 and lat in 40.6..40.8", "lat < 40.9")


@functools.cache
def made(method: str) -> Release:
    """Return the map of one method, made once."""
    return mapped(method) if method in LOCAL else mapped_table(method)


def part(release: Release, *queries: str) -> map_page.MapPart:
    found = map_page.map_part(release, views.published(release), queries)
    assert found is not None
    return found


@pytest.mark.parametrize("method", LOCAL + CENTRAL)
def test_every_method_has_a_page_in_the_words_of_maps(method: str) -> None:
    release = made(method)
    text = read(page(release)).text
    assert method in text
    assert "values" not in words.said(release).neighbours
    for wrong in ("combinations of values", "all values", "the attribute asked for", "No other method serves"):
        assert wrong not in text
    assert "over rectangles of 1 to 25 % of the box" in text
    assert "Lower bound" not in text
    assert text.count("The 10 fullest of") == 1


def test_what_is_drawn_is_the_release_s_own_answer() -> None:
    release = made("gtr_top_down")
    html = page(release, queries=TWO)
    found = part(release, *TWO)
    for text, row in zip(TWO, found.answers.rows, strict=True):
        answer = release.query(text)
        assert row[0] == text
        assert float(row[1].replace(",", "")) == pytest.approx(answer.value, abs=answer.standard_error)
        assert html.count(f">{row[1]}</text>") == 2  # wide and narrow
    assert html.count('class="query"') == 4
    assert found.example == ""


def test_without_queries_the_middle_ninth_is_drawn_and_can_be_typed() -> None:
    release = made("gtr_top_down")
    found = part(release)
    text = map_words.middle(release)
    assert text == "lon in -74.1..-73.9 and lat in 40.6..40.8"
    assert [row[0] for row in found.answers.rows] == [text]
    assert found.example == f"dpress report FOLDER --query '{text}'"
    assert release.query(text).note is None


def test_a_rectangle_beyond_the_box_says_so_once() -> None:
    release = made("gtr_top_down")
    found = part(release, "lon in -80..-74", "lat in 40.9..50")
    assert found.answers.note == "The part of the rectangle outside the box counts nobody."


def test_queries_need_a_map_and_there_are_not_too_many(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="only a map"):
        write_report(KINDS["ranges"](), tmp_path / "r.html", queries=TWO)
    with pytest.raises(NotSupported, match="at most 12"):
        page(made("gtr_top_down"), queries=("total",) * 13)
    with pytest.raises(ValueError, match="cannot read"):
        write_report(made("gtr_top_down"), tmp_path / "r.html", queries=("nowhere",))
    assert not list(tmp_path.iterdir())


def test_a_promise_within_safe_regions_is_never_worded_as_one_of_any_two_positions() -> None:
    text = read(page(made("psda"))).text
    assert "ONLY WITHIN SAFE REGIONS" in text
    assert text.count("is NOT protected") == 2  # on top, and under what is not promised
    assert "two positions of the same safe region only" in text
    assert "From one report any two positions in the box" not in text
    assert "permanent" not in text
    other = read(page(made("gtr_top_down"))).text
    assert "safe region" not in other
    assert "From one report any two positions in the box must be hard to tell apart." in other


def test_one_region_of_everybody_is_a_promise_of_any_two_positions() -> None:
    mechanism = mapped("psda", region_levels=[0]).planned.chosen.mechanism
    assert map_parts.between(mechanism) == "any two positions"
    assert not map_parts.within_regions(mechanism)


def test_counts_below_zero_and_bias_are_said_of_the_maps_that_have_them() -> None:
    for method in LOCAL + CENTRAL:
        release = made(method)
        said, below = part(release).made, int((release.density.counts < 0).sum())  # type: ignore[attr-defined]
        assert ("No count is below zero" in said) == (method in {"gtr_top_down", "quadtree"})
        assert (f"{below:,} of" in said) == bool(below)


def test_an_empty_cell_is_not_sold_as_certain() -> None:
    release = made("gtr_top_down")
    assert (release.density.counts == 0).any()  # type: ignore[attr-defined]
    assert "where the map says 0 there may be somebody" in part(release).made
    assert release.density.cell_variances().min() > 0  # type: ignore[attr-defined]


def test_the_questions_of_every_level_are_listed() -> None:
    rows = part(made("gtr_top_down")).asked
    assert rows is not None
    assert [row[:2] for row in rows.rows] == [("1", "2 × 2"), ("2", "4 × 4"), ("3", "8 × 8")]
    assert sum(float(row[3].removesuffix(" %")) for row in rows.rows) == pytest.approx(100, abs=0.2)
    assert part(made("krr")).asked is None
    assert part(made("quadtree")).asked is None


def test_the_fullest_cells_are_those_of_the_map() -> None:
    release = made("gtr_top_down")
    rows = part(release).cells.rows
    counts = sorted(release.density.counts.ravel(), reverse=True)[:10]  # type: ignore[attr-defined]
    shown = [float(row[2].replace(",", "")) for row in rows]
    assert len(rows) == 10
    assert all(abs(one - other) <= 50 for one, other in zip(shown, counts, strict=True))
    assert re.fullmatch(rf"{MINUS}74\.\d+ to {MINUS}\d\d\.\d+", rows[0][0])


def test_what_was_dropped_is_private() -> None:
    text = read(page(mapped_table(outside="drop"))).text
    assert "Positions outside the box were left out; how many is private" in text
    assert "how many is private" not in read(page(made("quadtree"))).text


def test_the_total_of_a_collection_is_its_number_of_reports() -> None:
    assert error_words.total(made("gtr_top_down")) == "900"
    assert error_words.total(made("gtr")) == "900"
    assert "standard error" in error_words.total(made("quadtree"))
