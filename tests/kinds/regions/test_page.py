"""The page of regions: what stands in it, the release's numbers, levels that do not fit, harmless words."""

import json
import re
import shlex

import numpy as np
import pytest
from tests.kinds import test_pages
from tests.kinds.reading import html_of_page, read, text
from tests.kinds.regions.towns import MARKUP, release_in

from dpress.inference.regions.variances import space_variances
from dpress.kinds.regions import page_levels, page_text
from dpress.kinds.regions.answers import ANSWERING
from dpress.kinds.regions.page import TEMPLATE, context, page
from dpress.kinds.regions.page_levels import page_levels as levels_of
from dpress.kinds.regions.region_counts import RegionCounts
from dpress.reporting.added_noise import added_noise
from dpress.reporting.facts import facts
from dpress.reporting.promise import promise
from dpress.reporting.render import rendered
from dpress.reporting.rounding import error, interval, number, unit_for


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_in(tmp_path_factory.mktemp("towns"))


def data_of(html):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html)[1])


def unpacked(values):
    from base64 import b64decode

    return np.array(values) if isinstance(values, list) else np.frombuffer(b64decode(values), dtype="<f8")


def test_the_data_are_the_counts_and_the_errors_of_the_release(release):
    answers, data = ANSWERING.of(release), data_of(html_of_page(release))
    assert [level["name"] for level in data["levels"]] == ["total", "state", "county", "town"]
    assert [level["tables"] for level in data["levels"]] == [[[], [1], [0, 1]]] * 4
    for place, level in enumerate(data["levels"]):
        (stored,) = level["stored"]
        assert stored["axes"] == [0, 1]
        assert np.array_equal(unpacked(stored["counts"]), answers.table(place, (0, 1)).ravel())
        for space in level["spaces"]:
            wanted = space_variances(answers.queries.measured, tuple(space["axes"]))[place]
            assert np.array_equal(unpacked(space["variances"]), wanted)
    assert data["levels"][2]["codes"] == ["A1", "A2", "B1"]
    assert data["levels"][2]["names"] == [MARKUP, "Hill", "Coast"]
    assert data["levels"][1]["starts"] == [0, 2, 3]
    assert data["levels"][1]["place"] == [[1.4, 1.7], [52.0, 50.2]]
    assert data["missing"] == []


def test_without_the_script_the_page_says_the_tables_of_the_upper_levels(release):
    answers, html = ANSWERING.of(release), html_of_page(release)
    said = text(html)
    for level, table in ((2, ()), (2, (1,)), (0, (0, 1))):
        counts = answers.table(level, table).ravel()
        spread = np.sqrt(next(each for each in answers.errors if (each.level, each.table) == (level, table)).variances)
        unit = unit_for(float(np.sqrt((spread**2).mean())))
        assert f" {number(float(counts[-1]), unit)} " in said
    total = release.query("total")
    whole = max(1.0, unit_for(total.standard_error))  # as everywhere on the page
    assert f"in all: {number(total.value, whole)}, 95 % interval " in said
    assert interval(*total.interval, whole) in said
    for each in answers.errors:
        assert f"± {error(np.sqrt(each.variances.mean()))}" in said
    assert "Tables of 5 regions by state, county and town" in said
    assert "All levels and tables are in this page." in said
    assert "town.parquet" in said


def test_the_page_is_made_as_all_pages_are(release):
    test_pages.test_every_table_says_what_it_shows(release)
    test_pages.test_no_page_asks_for_anything(release)
    headings = ["Results", "Error predicted before publishing", *test_pages.BELOW]
    html = html_of_page(release)
    places = [html.index(f"<h2>{heading}</h2>") for heading in headings]
    assert places == sorted(places)
    assert "How to read them" in read(html).text


def test_the_commands_answer(release):
    answers = ANSWERING.of(release)
    queries = [shlex.split(command)[-1] for command in page_text.commands(answers)]
    assert queries == ["count by town where county = A1", "town = A1x and sex = f"]
    towns = [result.value for result in release.results(queries[0])]
    assert towns[:2] == pytest.approx(answers.table(3, ())[:2])
    assert release.query(queries[1]).value == pytest.approx(answers.table(3, (0, 1))[0, 0].sum())


def test_beside_public_totals_the_page_promises_what_can_then_be_hidden(tmp_path):
    """A row changes within its state alone: two rows that come and go, so 4 rho, and no presence."""
    release = release_in(tmp_path, '[release.parameters.invariants]\nstate = "rows"\n')
    promised, shown = promise(facts(release)), text(html_of_page(release))
    assert (promised.proven, promised.changed, promised.converted) == ("ρ = 0.5", "ρ = 2", "ρ = 2")
    assert promised.groups == ((2, "ρ = 8"), (4, "ρ = 32"), (10, "ρ = 200"))
    assert "with ρ = 0.5 for every single row, given the public totals of every state;" in shown
    assert "between these the loss is at most ρ = 2, that of a group of two" in shown
    assert "some statement about one row is true that the public numbers leave open" in shown
    assert "is in the data" not in shown
    assert "when its presence is known" not in shown
    assert "What is given has none: it is exact." in shown


def test_records_are_told_of_where_there_are_any(release):
    answers = ANSWERING.of(release)
    assert "made-up row" not in text(html_of_page(release))
    context_of_page = context(facts(release), answers) | {"records": "records.parquet"}
    assert "The file records.parquet has one made-up row" in text(rendered(TEMPLATE, context_of_page))


def test_many_scales_of_noise_are_told_by_their_range(release):
    noise = added_noise(release.mechanism.noisy)
    deviations = [distribution.deviation for distribution in noise.distributions]
    assert len(deviations) > 3
    wanted = f"standard deviation {error(min(deviations))} to {error(max(deviations))}, drawn independently"
    assert wanted in text(html_of_page(release))


def test_a_name_is_no_markup(release):
    html = html_of_page(release)
    assert MARKUP not in html
    assert MARKUP in read(html).text


def test_counts_below_zero_are_counted(release):
    answers = ANSWERING.of(release)
    levels = levels_of(answers)
    cells = [answers.table(shown.level, (0, 1)) for shown in levels]
    below = sum(int((counts < 0).sum()) for counts in cells)
    assert page_text.below_zero(answers, levels) == (below, 8 * (1 + 2 + 3 + 5))


class Unread:
    """A table that must not be read."""

    def __getitem__(self, nodes):
        raise AssertionError("a level that is not in the page was read")


def test_levels_that_do_not_fit_are_not_read_and_named(release, monkeypatch):
    monkeypatch.setattr(page_levels, "MOST_BYTES", 700)
    answers = ANSWERING.of(release)
    shown = levels_of(answers)
    assert [(each.name, each.tables) for each in shown] == [
        ("total", ((), (1,), (0, 1))),
        ("state", ((), (1,), (0, 1))),
    ]
    counts = answers.counts
    unread = [dict.fromkeys(level, Unread()) if place > 1 else level for place, level in enumerate(counts.estimates)]
    object.__setattr__(release, "detail", RegionCounts(estimates=unread))
    try:
        facts_of_page = context(facts(release), answers)
        html = page(release)
    finally:
        object.__setattr__(release, "detail", counts)
    assert not facts_of_page["whole"]
    assert facts_of_page["shown"].rows[2:] == (("county", "3", "nothing"), ("town", "5", "nothing"))
    assert data_of(html)["missing"] == ["county", "town"]
    assert "dpress query FOLDER 'count by town where county = A1'" in html.replace("&#39;", "'")
    assert "The page holds the upper levels" in html


def test_a_table_that_does_not_fit_leaves_the_smaller_ones(release, monkeypatch):
    sizes = {}
    for most in range(100, 4000, 50):
        monkeypatch.setattr(page_levels, "MOST_BYTES", most)
        shown = levels_of(ANSWERING.of(release))
        sizes[most] = [len(each.tables) for each in shown]
        assert sizes[most] == sorted(sizes[most], reverse=True)
        assert len(json.dumps([each.words for each in shown])) < most
    assert [3, 3, 3, 1] in sizes.values() or [3, 3, 3, 2] in sizes.values()
    assert sizes[3950] == [3, 3, 3, 3]
    assert sizes[100] == [1]


def test_a_level_of_too_many_cells_is_not_in_the_page(release, monkeypatch):
    monkeypatch.setattr(page_levels, "MOST_READ", 3 * 8)
    assert [each.name for each in levels_of(ANSWERING.of(release))] == ["total", "state", "county"]
