"""The page of a series: its groups with titles and units, tables, links and commands."""

import datetime as dt
import json
import re
import shlex
from html import unescape

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.kinds.reading import Nesting, text
from tests.reporting.few_months import COST, RISING, SEX, STATISTICS, WARD, series_of, spec, table

from dpress import catalog
from dpress.cli.main import cli
from dpress.core.basics.rng import seeded
from dpress.release.periods.period_numbers import Change
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series
from dpress.reporting import group_bars, small_multiples
from dpress.reporting import series_page as pages
from dpress.reporting.charts import LETTER
from dpress.reporting.series_page import series_page, write_series_page
from dpress.reporting.series_parts import parts
from dpress.reporting.series_tables import change_table
from dpress.reporting.time_lines import GAP, apart


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """Make pages with nothing drawn, which takes most of their time."""

    def named(draw, label):
        return f'<svg class="{bool(draw)}" aria-label="{label}"></svg>'

    for module in (pages, small_multiples, group_bars):
        monkeypatch.setattr(module, "both", named)


def html_of(folder, plan, rows):
    return unescape(series_page(series_of(folder, plan, rows)))


def lists_of(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, flags=re.DOTALL)[1])["lists"]


def test_a_page_has_every_group_by_title_with_what_changed(tmp_path):
    html = html_of(tmp_path / "out", spec([WARD, SEX]), RISING)
    shown = text(html)
    for heading in ("Count (rows)", "Count (rows) by Ward", "Count (rows) by sex", "Count (rows) by Ward and sex"):
        assert f"<h2>{heading}</h2>" in html
    assert "Since 2024-02 the count rises in hearts; in 2 of 3 groups the noise hides whether it does." in shown
    assert re.search("the count rises in (Women and Men|Men and Women)", shown)
    assert "The intervals of all 11 changes of groups on this page hold together with 95 %" in shown
    assert shown.index("In 2024-03: ") < shown.index("It protects nobody") < shown.index("Count (rows) by Ward")
    Nesting(html)


def test_a_page_of_statistics_has_titles_and_units_everywhere(tmp_path):
    html = html_of(tmp_path / "out", spec([WARD, SEX, COST], kind="statistics", parameters=STATISTICS), RISING)
    assert "<h2>Mean of Cost of a visit (EUR) by Ward</h2>" in html
    titles = {each["title"]: each for each in lists_of(html)}
    mean = titles["Mean of Cost of a visit (EUR) by Ward by month"]
    assert mean["heads"]["value"] == "mean of Cost of a visit (EUR)"
    assert [column["name"] for column in mean["labels"]] == ["month", "Ward"]
    assert "mean cost" not in text(html)


def test_periods_lead_to_their_reports_or_to_their_sections(tmp_path):
    series = series_of(tmp_path / "out", spec([WARD]), RISING)
    (tmp_path / "out" / "2024-02" / "report.html").write_text("")
    html = series_page(series)
    assert '<a href="2024-02/report.html">2024-02</a>' in html
    assert '<a href="#period-2024-03">2024-03</a>' in html
    assert '<p id="period-2024-03">It has no report yet' in html
    write_series_page(series, tmp_path / "page.html")
    assert '<a href="out/2024-02/report.html">2024-02</a>' in (tmp_path / "page.html").read_text()


def test_many_groups_are_drawn_up_to_twenty_with_the_rest(tmp_path):
    names = [f"w{number}" for number in range(30)]
    days = [dt.date(2024, 1 + row % 3, 2) for row in range(900)]
    rows = pa.table({"visited": days, "ward": [names[row * row // 900 % 30] for row in range(900)]})
    series = series_of(tmp_path / "out", spec([WARD | {"values": names}]), rows)
    _, wards = parts(series).shown
    assert np.all(np.diff(wards.numbers.value.mean(axis=1)) <= 0)  # the largest first
    assert wards.rest is not None
    assert np.allclose(wards.rest.value[0], wards.numbers.value[20:].sum(axis=0))
    assert np.allclose(wards.rest.error[0], np.sqrt(10) * wards.numbers.error[0])
    shown = text(series_page(series))
    assert "Shown are the 20 largest of 30 groups and the rest together; the table has all." in shown


def test_what_a_page_has_no_room_for_is_left_to_the_command_that_answers_it(tmp_path, monkeypatch):
    monkeypatch.setattr("dpress.reporting.series_parts.MOST_NUMBERS", 21)
    html = html_of(tmp_path / "out", spec([WARD, SEX]), RISING)
    commands = re.findall("dpress query FOLDER '(.*)'", html)
    assert commands[0] == "count by ward, sex"
    assert "The first 1 of these is of groups too many for a page." in text(html)
    for command in commands:
        done = CliRunner().invoke(cli, ["query", str(tmp_path / "out"), command])
        assert done.exit_code == 0, done.output
    assert len(commands) == 4


def test_the_page_of_one_period_opens_with_what_was_found_in_it(tmp_path):
    plan = spec([WARD, SEX, COST], 3, kind="statistics", parameters=STATISTICS)
    about = {"source": "The wards", "contact": "a@example.org", "license": "CC0"}
    plan = replace(plan, release=replace(plan.release, **about))
    publish_period(plan, "2024-01", RISING, out=tmp_path / "out", rng=seeded(1))
    series = load_series(tmp_path / "out")
    (release,) = series.releases.values()
    html = unescape(series_page(series))
    shown = text(html)
    sentences = catalog.room("statistics").page.opening(release)
    assert len(sentences) > 1
    assert " ".join(sentences) in shown
    assert "1 month, January 2024. Source: The wards. Contact: a@example.org. Licence: CC0" in shown
    assert "All rows together statistic value 95 % interval standard error mean of Cost of a visit (EUR) " in shown
    headings = re.findall("<h2>(.*?)</h2>(.{400})", html, flags=re.DOTALL)
    groups = [(heading, behind) for heading, behind in headings if "by Ward" in heading]
    assert len(groups) == 4
    assert all("<svg" in behind for _, behind in groups)  # no heading is empty
    assert "Since " not in shown
    Nesting(html)


def test_one_period_of_a_number_without_groups_has_a_page(tmp_path):
    shown = text(html_of(tmp_path / "out", spec([], 1), RISING))
    assert "1 month, 1 to 28 January 2024" in shown
    assert re.search(r"All rows together statistic value 95 % interval standard error count \(rows\) \d", shown)


def test_the_page_of_two_periods_draws_both_and_says_which_change_is_significant(tmp_path):
    plan = spec([WARD, COST], 2, kind="statistics", parameters={"by": ["ward"], "mean": ["cost"]})
    html = html_of(tmp_path / "out", plan, table((400, 300, 20), (400, 300, 20)))
    assert re.search(
        r"That is 9\.9 EUR more than in 2024-01 \(9\.5 to 10\.3\)", text(html)
    )  # a visit costs 10 more by month
    behind = re.findall("<h2>[^<]*(?:rows|EUR)[^<]*</h2>(.*?)</(?:section|details)>", html, flags=re.DOTALL)
    assert len(behind) == 6  # mean, count and sum, of all rows and by ward
    assert all(re.search('<svg [^>]*aria-label="[^"]* over time', each) for each in behind)
    assert "The noise hides whether that is more or fewer than in 2024-01." in text(html)  # as many visits
    assert re.search(r"The sum of Cost of a visit in 2024-02 is .*? EUR more than in 2024-01", text(html))


@given(st.lists(st.integers(1, 400), min_size=2, max_size=200), st.integers(4, 22), st.floats(160.0, 800.0))
def test_labels_of_dates_lie_apart(steps, letters, length):
    begins, wide = np.cumsum(steps), letters * LETTER
    shown = apart(begins, ["2" * letters] * len(steps), length)
    middles = length * (begins[shown] - begins[0]) / (begins[-1] - begins[0])
    lefts = np.minimum(np.maximum(0.0, middles - wide / 2), length - wide)
    assert len(shown) >= 1
    assert np.all(np.diff(lefts) >= wide + GAP - 1e-9)


def test_every_command_that_a_page_names_is_answered(tmp_path):
    named = WARD | {"name": "home ward", "values": ["left wing", "right"], "other": "drop", "column": "ward"}
    age = {"name": "cost", "kind": "integer", "bounds": [0, 89]}
    for kind, plan in (
        ("counts", spec([named, age])),
        ("tree", spec([named], counter="tree")),
        ("statistics", spec([named, SEX, COST], kind="statistics", parameters=STATISTICS | {"by": ["home ward"]})),
    ):
        html = html_of(tmp_path / kind, plan, RISING)
        commands = [
            shlex.split(line)[3]
            for line in re.findall("^(?:<pre>)?(dpress query FOLDER [^<\n]*)", html, flags=re.MULTILINE)
        ]
        assert len(commands) == {"counts": 4, "tree": 2, "statistics": 1}[kind]
        for command in commands:
            done = CliRunner().invoke(cli, ["query", str(tmp_path / kind), command])
            assert done.exit_code == 0, (command, done.output)


def test_a_page_says_how_far_odds_can_change_over_all_periods_before_epsilon(tmp_path):
    publish_period(spec([WARD], epsilon=1.0), "2024-01", RISING, out=tmp_path / "out")
    shown = text(series_page(load_series(tmp_path / "out")))
    odds = (
        "a given row is in the data change by a factor of at most 2.72: whoever was 50 % sure before is at most 73.2 %"
    )
    assert shown.index(odds) < shown.index("Proven differential privacy with ε = 1 for a row: every row is in one")


def test_of_very_many_periods_the_latest_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "MOST_POINTS", 4)
    drawn = []
    monkeypatch.setattr(pages, "_figure", lambda panels, _: drawn.extend(panels))
    html = html_of(tmp_path / "out", spec([WARD], 6), table(*[(40, 30, 20)] * 6))
    assert [view.axes[0].labels for _, view in drawn] == [("2024-03", "2024-04", "2024-05", "2024-06")] * 4
    assert {view.count.size for _, view in drawn} == {4}
    assert "2024-01" in html


def test_changes_that_are_significant_stand_first(tmp_path):
    """Of three wards the smallest alone changes; the other two are larger, and come after it."""
    series = series_of(tmp_path / "out", spec([WARD], 2), table((400, 300, 20), (400, 300, 220)))
    part = next(each for each in parts(series).shown if each.axes)
    nothing, clear = np.zeros(3), np.array([0.0, 0.0, 200.0])
    change = Change(value=clear, low=clear - 50, high=clear + 50)
    rows = change_table(part, change, series.periods).rows
    assert [row[0] for row in rows] == [part.names[2], part.names[0], part.names[1]]
    assert [row[-1] for row in rows] == ["rises", "the noise hides it", "the noise hides it"]
    hidden = change_table(part, Change(value=nothing, low=nothing - 50, high=nothing + 50), series.periods).rows
    assert [row[0] for row in hidden] == [*part.names]
