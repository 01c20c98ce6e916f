"""The page of a series in a browser: no label on another, tables that sort and are saved, periods that are links."""

import csv
import datetime as dt
import io
import json

import pyarrow as pa
import pytest
from tests.browser import RULES
from tests.reporting.few_months import COST, SEX, STATISTICS, VISITED, WARD, series_of, spec, table

from dpress import report
from dpress.data.specification.spec import from_dict
from dpress.reporting.series_page import write_series_page

pytestmark = pytest.mark.slow
OVERLAPPING = """() => [...document.querySelectorAll("svg.chart")].flatMap((svg) => {
  if (!svg.checkVisibility()) return [];
  const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  return boxes.flatMap(([name, box], i) =>
    boxes.slice(i + 1).filter(([, other]) => over(box, other)).map(([other]) => `${name} on ${other}`));
})"""
BESIDE = """() => [...document.querySelectorAll("svg.chart")].flatMap((svg) => {
  if (!svg.checkVisibility()) return [];
  const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const near = (a, b) => Math.abs(a.top - b.top) < 2 && a.left < b.left && b.left < a.right + 4;
  return boxes.flatMap(([name, a]) => boxes.filter(([, b]) => near(a, b)).map(([other]) => `${name} beside ${other}`));
})"""
ENLARGED = "() => document.querySelectorAll('svg.chart text').forEach((text) => text.setAttribute('font-size', '40'))"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Pages with what is hardest: many days with large counts, and statistics of groups."""
    folder = tmp_path_factory.mktemp("series")
    days = VISITED | {"bounds": [dt.date(2024, 1, 1), dt.date(2024, 2, 29)], "cells": "day"}
    plain = {"privacy": {"epsilon": 1.0}, "periods": {"attribute": "visited"}, "release": {"kind": "histogram"}}
    dates = [dt.date(2024, 1, 1) + dt.timedelta(row % 60) for row in range(90_000)]
    rows = pa.table({"visited": dates, "ward": [WARD["values"][row % 3] for row in range(90_000)]})
    months = spec([WARD, SEX, COST], 14, kind="statistics", parameters=STATISTICS)
    every = {
        "days": series_of(folder / "days", from_dict({"attribute": [days, WARD], **plain}), rows),
        "statistics": series_of(folder / "statistics", months, table(*[(40, 30 + month, 20) for month in range(14)])),
    }
    pages = {name: write_series_page(series, series.folder / "report.html") for name, series in every.items()}
    month = every["statistics"].releases[every["statistics"].spans[-1]]
    return pages | {"month": report(month, folder / "month.html")}


@pytest.mark.parametrize("name", ["days", "statistics"])
@pytest.mark.parametrize("width", [1400, 390])
def test_no_label_of_a_drawing_lies_on_another(open_page, written, name, width):
    page = open_page(written[name].as_uri(), viewport={"width": width, "height": 900})
    assert page.locator("svg.chart text").count() > 20
    assert page.evaluate(OVERLAPPING) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.evaluate(ENLARGED)
    assert page.evaluate(OVERLAPPING) != []  # the negative control


@pytest.mark.parametrize("name", ["days", "statistics", "month"])
def test_numbers_of_an_axis_stand_apart_on_a_phone(open_page, written, name):
    page = open_page(written[name].as_uri(), viewport={"width": 390, "height": 900})
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => (each.open = true))")
    assert page.evaluate(BESIDE) == []
    page.evaluate(ENLARGED.replace("40", "140"))
    assert page.evaluate(BESIDE) != []  # the negative control


def test_values_and_their_intervals_are_seen_together_on_a_phone(open_page, written):
    page = open_page(written["month"].as_uri(), viewport={"width": 390, "height": 900})
    table = page.locator(".glance")
    assert table.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    cells = table.locator("tbody tr").first.locator("td").all()
    assert [cell.is_visible() for cell in cells] == [True, True, True, False]
    assert all(cell.bounding_box()["x"] >= 0 and cell.bounding_box()["x"] < 390 for cell in cells[:3])
    page.set_viewport_size({"width": 1400, "height": 900})
    assert cells[3].is_visible()  # the standard error, where there is room


def test_a_table_of_groups_is_sorted_and_saved_and_its_periods_are_links(open_page, written):
    page = open_page(written["statistics"].as_uri())
    for fold in page.locator("main > section > details > summary").all():
        fold.click()
    lists = json.loads(page.locator("#data").text_content())["lists"]
    place = next(at for at, each in enumerate(lists) if each["title"] == "Count (rows) by Ward by month")
    rows = page.locator(f'[data-list="{place}"]')
    rows.locator("th button", has_text="count (rows)").click()
    cells = rows.locator("tbody tr:visible td:nth-child(3)").all_text_contents()
    assert [*map(float, cells)] == sorted(map(float, cells), reverse=True)
    with page.expect_download() as saved:
        rows.get_by_role("button", name="CSV").click()
    table = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert [*table[0]] == ["month", "Ward", "count (rows)", "95 % from", "95 % to", "standard error"]
    assert len(table) == 14 * 3
    link = rows.locator("tbody a").first
    period = link.text_content()
    link.click()
    assert page.url.endswith(f"#period-{period}")
    assert page.locator(f"#period-{period}").is_visible()


@pytest.mark.parametrize(("name", "scheme", "width"), [("days", "light", 390), ("statistics", "dark", 1400)])
def test_everybody_can_read_a_series(open_page, written, axe, name, scheme, width):
    page = open_page(written[name].as_uri(), color_scheme=scheme, viewport={"width": width, "height": 900})
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => (each.open = true))")
    found = axe(page, RULES)
    assert [fault["id"] for fault in found["violations"]] == []
    assert len(found["passes"]) > 10


def test_without_script_a_series_says_the_same(open_page, written):
    page = open_page(written["days"].as_uri(), java_script_enabled=False)
    assert page.locator(".unscripted:visible table").count() == 1
    assert page.locator(".rows").count() == 0
