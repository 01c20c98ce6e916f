"""A page in use, in a real browser: it answers, shows, sorts and saves; everybody can read it; it asks nobody."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest
from tests.browser import RULES
from tests.kinds.conftest import AGE, KINDS, REGION, SEX, make
from tests.kinds.reading import html_of_page

from dpress.query.boxes import rectangles
from dpress.query.load import load_release

pytestmark = pytest.mark.slow
STORED = Path(__file__).parents[1] / "formats" / "stored"
LISTED = {
    name: partial(load_release, STORED / name / "release") for name in ("strings_1", "statistics", "records_graphical")
}
AXE = [("two-way", "dark", 390), ("local joint", "light", 1280), ("map", "dark", 390), ("strings_1", "light", 390),
       ("statistics", "dark", 1280)]  # fmt: skip


@pytest.fixture(scope="module")
def release():
    return make("histogram", [AGE, REGION, SEX])


@pytest.fixture
def opened(release, open_page, tmp_path):
    """Open the page of a release."""

    def opening(of=release, **options):
        path = tmp_path / "report.html"
        path.write_text(html_of_page(of), encoding="utf-8")
        return open_page(path.as_uri(), **options)

    return opening


def asked(page, text):
    page.locator("#query").fill(text)
    return page.locator(".answer").text_content()


def test_a_query_is_answered_on_the_page_as_the_release_answers_it(opened, release):
    page = opened()
    found = release.query("age in 5..9 and sex = Female")
    told = asked(page, "age in 5..9 and sex = Female")
    assert told.startswith(f"{found.value:,.0f}, 95 % interval {found.interval[0]:,.0f} to {found.interval[1]:,.0f}")
    assert "no value" in asked(page, "sex = nobody")
    assert "dpress query FOLDER 'sex = nobody'" in page.locator(".ask pre").text_content()
    page.locator(".ask summary").click()
    page.get_by_label("age, from").fill("7")
    assert page.locator("#query").input_value() == "age in 7..19"
    assert [address for _, address in page.seen.requests if not address.startswith(("file:", "data:"))] == []


def test_a_table_is_sorted_whole_and_saved(opened, release):
    page = opened()
    page.get_by_label("and by", exact=True).select_option("all")
    page.locator(".rows th button", has_text="count").click()
    counts = next(iter(release.answers.published())).count
    first = page.locator(".rows tbody tr:visible").nth(0).locator("td").nth(3).text_content()
    assert first == f"{counts.max():,.0f}"
    assert page.locator(".rows th").nth(3).get_attribute("aria-sort") == "descending"
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert len(rows) == counts.size
    assert sum(float(row["count"]) for row in rows) == pytest.approx(counts.sum())
    with page.expect_download() as saved:
        page.get_by_role("button", name="JSON").click()
    assert len(json.loads(saved.value.path().read_text(encoding="utf-8"))) == counts.size


def test_a_figure_is_read_by_keys_alone(opened, release):
    page = opened()
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    found = release.query("age = 1 and region = North")
    told = page.locator(".pointed").text_content()
    assert told.startswith(f"region North, age 1: {found.value:,.0f}, 95 % interval ".replace("-", "\N{MINUS SIGN}"))


def test_without_script_all_tables_stand_there(opened):
    page = opened(java_script_enabled=False)
    assert page.locator(".unscripted").is_visible()
    assert page.locator(".unscripted table").count() == 1
    assert page.locator("canvas").count() == 0


def test_a_rectangle_drawn_on_a_map_is_a_query(opened):
    release = KINDS["map"]()
    page = opened(release)
    page.get_by_role("button", name="Draw a rectangle").click()
    drawing = page.locator("#map svg.map.wide")
    drawing.scroll_into_view_if_needed()
    place = drawing.bounding_box()
    page.mouse.move(place["x"] + 200, place["y"] + 150)
    page.mouse.down()
    page.mouse.move(place["x"] + 300, place["y"] + 260)
    page.mouse.up()
    command = page.locator("#live pre").text_content().splitlines()[0]
    query = command.removeprefix("dpress query FOLDER '").removesuffix("'")
    (west, east), (south, north) = rectangles(release.schema, query)[0]
    assert -74.3 < west < east < -73.7
    assert 40.4 < south < north < 41.0
    whole = drawing.get_attribute("viewBox")
    page.get_by_role("button", name="Enlarge").click()
    assert drawing.get_attribute("viewBox") != whole
    page.get_by_role("button", name="Whole map").click()
    assert drawing.get_attribute("viewBox") == whole
    page.get_by_label("lon, from").fill("-74.25")
    page.keyboard.press("Tab")
    assert "lon in -74.25.." in page.locator("#live pre").text_content()


def test_statistics_and_records_are_listed_whole_sorted_and_saved_as_they_are_released(opened):
    release = LISTED["statistics"]()
    page = opened(release)
    own = page.locator("[data-list]").nth(0)
    with page.expect_download() as saved:
        own.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    table = release.tables["sex"].to_pandas().query("statistic == 'count' and sex.notna()")
    for name in ("value", "low", "high", "standard_error"):
        assert [float(row[name]) for row in rows] == pytest.approx(table[name].tolist(), rel=1e-12)
    assert [row["sex"] for row in rows] == table["sex"].tolist()
    own.get_by_role("button", name="value").click()
    assert own.locator("tbody tr[aria-rowindex] td").nth(0).text_content() == "Male"

    records = LISTED["records_graphical"]()
    page = opened(records)
    with page.expect_download() as saved:
        page.get_by_role("button", name="JSON").click()
    listed = json.loads(saved.value.path().read_text(encoding="utf-8"))
    assert listed == [{name: str(one) for name, one in row.items()} for row in records.answers.made.table.to_pylist()]
    page.get_by_role("button", name="age").click()
    shown = page.locator("tbody tr[aria-rowindex]")
    ages = [int(shown.nth(place).locator("td").nth(0).text_content()) for place in range(4)]
    assert ages == sorted(int(row["age"]) for row in listed)[:4]


@pytest.mark.parametrize(("kind", "scheme", "width"), AXE)
def test_axe_finds_nothing_wrong(opened, axe, kind, scheme, width):
    page = opened((KINDS | LISTED)[kind](), color_scheme=scheme, viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    found = axe(page, RULES)
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 10
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_finds_a_field_without_a_name(opened, axe):
    page = opened()
    page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    assert "label" in {one["id"] for one in axe(page, ["label"])["violations"]}
