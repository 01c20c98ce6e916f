"""A page in use, in a real browser: it answers, shows, sorts and saves; everybody can read it; it asks nobody."""

import csv
import io
import json
import math
import re
import shlex
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from tests.browser import RULES
from tests.kinds.conftest import AGE, KINDS, REGION, SEX, make
from tests.kinds.reading import html_of_page

from dpress.query.boxes import rectangles
from dpress.query.load import load_release
from dpress.reporting.accuracy import answered
from dpress.reporting.page import page as html

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

    def opening(of=release, boundaries=None, **options):
        path = tmp_path / "report.html"
        text = html_of_page(of) if boundaries is None else html(of, boundaries=boundaries)
        path.write_text(text, encoding="utf-8")
        return open_page(path.as_uri(), **options)

    return opening


@pytest.fixture
def districts(tmp_path):
    """A file of two areas side by side."""
    features = [
        {
            "type": "Feature",
            "properties": {"name": name},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[x, y] for x, y in ((a, 40.5), (b, 40.5), (b, 40.8), (a, 40.8))]],
            },
        }
        for name, a, b in (("West", -74.2, -74.0), ("East", -74.0, -73.8))
    ]
    path = tmp_path / "districts.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


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


def test_a_wrong_query_is_told_what_it_was_probably_meant_as(opened):
    page = opened()
    for text, hint in {
        "agee = 3": "; did you mean 'age'?",
        "sex = femal": "; did you mean 'Female'?",
        "ag <> 3": "; the operators are =, !=, <, <=, >, >= and in",
        "sex is null": "; write `NAME is missing`",
    }.items():
        assert hint in asked(page, text), text
    assert "did you mean" not in asked(page, "sex = nobody")


@pytest.mark.parametrize(("kind", "query", "why"), [
    ("joint_pairs", "{0} and {1} and {2}", "No table has these attributes together"),
    ("ranges_privelet", "mean {0}", "for the mean use this command"),
    ("local_ranges", "median {0}", "for the quantile use this command"),
    ("local_pgr", "share {0}", "does not know the error"),
])  # fmt: skip
def test_what_the_command_answers_and_the_page_does_not_is_told_with_the_command(opened, kind, query, why):
    release = load_release(STORED / kind / "release")
    names = [attribute.name for attribute in release.schema.tabular]
    firsts = [f'{name} = "{release.schema.tabular[place].labels[0]}"' for place, name in enumerate(names)]
    text = query.format(*(names if query.startswith("me") else firsts))
    told = asked(opened(release), text)
    assert why in told
    command = told.rpartition(": ")[2]
    assert command == f"dpress query FOLDER {shlex.quote(text)}"
    assert math.isfinite(release.query(shlex.split(command)[-1]).value)  # which it is


@pytest.mark.parametrize("kind", ["ranges_binary_tree", "local_statistics"])
def test_a_page_that_answers_nothing_says_which_command_does(opened, kind):
    release = load_release(STORED / kind / "release")
    page = opened(release)
    assert page.locator("#query").count() == 0
    commands = [text for text in page.locator("pre").all_text_contents() if text.startswith("dpress query FOLDER ")]
    assert math.isfinite(release.query(shlex.split(commands[0])[-1]).value)


def test_a_table_is_sorted_whole_and_saved(opened, release):
    page = opened()
    page.get_by_label("and by", exact=True).select_option("all")
    page.locator(".rows th button", has_text="count").click()
    counts = next(iter(release.answers.published())).adjusted
    first = page.locator(".rows tbody tr:visible").nth(0).locator("td").nth(3).text_content()
    assert first == f"{counts.max():,.1f}"
    assert page.locator(".rows th").nth(3).get_attribute("aria-sort") == "descending"
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert len(rows) == counts.size
    assert sum(float(row["count"]) for row in rows) == pytest.approx(counts.sum())
    with page.expect_download() as saved:
        page.get_by_role("button", name="JSON").click()
    assert len(json.loads(saved.value.path().read_text(encoding="utf-8"))) == counts.size


def test_names_stand_by_count_are_searched_and_saved(opened):
    counted = {f"name {place:02}": 100 + 10 * place for place in range(40)}
    rows = pa.table({"name": [name for name, count in counted.items() for _ in range(count)]})
    column = {"name": "name", "kind": "categorical", "values": "discover", "title": "First name"}
    release = make("names", [column], {"epsilon": 1.0, "delta": 1e-6}, data=rows)
    page = opened(release)
    first = page.locator("[data-list] tbody tr[aria-rowindex] td")
    assert first.nth(0).text_content() == "name 39"
    found = release.query('name = "name 39"')
    assert [float(first.nth(place).text_content()) for place in (1, 2, 3)] == pytest.approx(
        [found.value, *found.interval], abs=0.11
    )  # a tenth: ends are rounded outward
    page.get_by_label("Search First name").fill("NAME 0")
    assert page.locator("[data-list] caption").text_content() == "Counts by First name: 10 of 41 rows"
    assert first.nth(0).text_content() == "name 09"
    page.get_by_role("button", name="First name").click()
    assert first.nth(0).text_content() == "name 09"  # in the order of the list
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    kept = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert [row["First name"] for row in kept] == [f"name {place:02}" for place in range(9, -1, -1)]
    page.get_by_label("Search First name").fill("nobody")
    assert page.locator("[data-list] caption").text_content() == "Counts by First name: 0 of 41 rows"


def test_a_long_axis_has_its_largest_values_the_rest_a_search_and_levels(opened):
    values = [f"v{place:02}" for place in range(60)]
    levels = [[value, f"part {place % 3}"] for place, value in enumerate(values)]
    column = {"name": "job", "kind": "categorical", "values": values, "hierarchy": levels}
    data = pa.table({"job": [value for place, value in enumerate(values) for _ in range(5 * place)]})
    release = make("histogram", [column], data=data)
    page = opened(release)
    shown, cells = page.locator(".explore figcaption"), page.locator(".explore tbody tr[aria-rowindex] td")
    ranked = sorted(values, key=lambda value: -release.query(f"job = {value}").value)
    rest = release.query(f"job in ({', '.join(ranked[20:])})")
    said = f"the rest (40 values) together: {answered(rest)}."
    assert "Shown are the 20 largest of 60 values of job" in shown.text_content()
    assert said in shown.text_content()
    assert page.locator(".explore th").nth(1).get_attribute("aria-sort") == "descending"
    assert cells.nth(0).text_content() == ranked[0]
    page.get_by_label("Search job").fill("V1")
    assert {cells.nth(4 * place).text_content() for place in range(10)} == {f"v1{place}" for place in range(10)}
    assert "Shown are" not in shown.text_content()
    page.get_by_label("Search job").fill("nobody")
    assert "No value" in page.locator(".explore").text_content()
    page.get_by_label("Search job").fill("")
    assert said in shown.text_content()
    page.get_by_label("job: show").select_option(label="level 1 (3, such as part 0)")
    found = release.query('job = "part 0"')
    assert cells.nth(0).text_content() == "part 0"
    assert cells.nth(1).text_content() == f"{found.value:,.0f}"


TALLEST = 6000  # px of a page of ten attributes on a phone, before anything is unfolded


@pytest.mark.parametrize("kind", ["joint", "microdata"])
def test_a_page_of_ten_attributes_is_short_on_a_phone_until_it_is_unfolded(opened, kind):
    columns = [{"kind": "integer", "name": f"q{i}", "bounds": [0, 3], "title": f"Answer to question {i}"}
               for i in range(10)]  # fmt: skip
    data = pa.table({f"q{i}": [row // 4 ** (i % 6) % 4 for row in range(4096)] for i in range(10)})
    page = opened(
        make(kind, columns, {"epsilon": 2.0, "delta": 1e-6}, data=data), viewport={"width": 390, "height": 900}
    )
    height = "document.documentElement.scrollHeight"
    assert page.evaluate(height) < TALLEST
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert page.evaluate(height) > 1.5 * TALLEST


@pytest.mark.parametrize("kind", ["joint", "histogram"])
def test_no_list_of_long_titles_is_wider_than_a_phone(opened, kind):
    title = "How often do you go to the doctor in a year that is usual for you, part"
    columns = [{"kind": "integer", "name": f"q{i}", "bounds": [0, 1], "title": f"{title} {i}"} for i in range(3)]
    data = pa.table({f"q{i}": [row >> i & 1 for row in range(4096)] for i in range(3)})
    page = opened(make(kind, columns, {"epsilon": 2.0}, data=data), viewport={"width": 390, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    widths = "[...document.querySelectorAll('select')].map((one) => one.getBoundingClientRect().right)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert 300 < max(page.evaluate(widths)) <= 390
    page.evaluate(
        "document.querySelectorAll('.held').forEach((one) => (one.style = 'min-width: auto; max-width: none'))"
    )
    assert max(page.evaluate(widths)) > 390  # the negative control


def test_a_figure_is_read_by_keys_alone(opened, release):
    page = opened()
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    found = release.query("age = 1 and region = North")
    told = page.locator(".pointed").text_content()
    assert told.startswith(f"region North, age 1: {found.value:,.1f}, 95 % interval ".replace("-", "\N{MINUS SIGN}"))


def test_without_script_all_tables_stand_there(opened):
    page = opened(java_script_enabled=False)
    picture, tables = page.locator(".unscripted").all()
    assert picture.is_visible()
    assert tables.is_visible()
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


def test_a_click_on_a_map_says_how_many_its_tile_holds(opened):
    release = KINDS["map"]()
    page = opened(release)
    drawing = page.locator("#map svg.map.wide image.light").first
    drawing.scroll_into_view_if_needed()
    place = drawing.bounding_box()
    page.mouse.click(place["x"] + 0.45 * place["width"], place["y"] + 0.55 * place["height"])
    told = page.locator("#live output").filter(has_text=" rows (").text_content().replace("\u2212", "-")
    across, up = re.fullmatch(r"lon (\S+ to \S+), lat (\S+ to \S+): .*", told).groups()
    query = " and ".join(f"{name} in {ends.replace(' to ', '..')}" for name, ends in (("lon", across), ("lat", up)))
    answer = release.query(query)
    west, east = map(float, across.split(" to "))
    assert west <= -74.3 + 0.45 * 0.6 < east
    count = float(re.search(r": (-?[\d,]+) rows \(", told)[1].replace(",", ""))
    assert count == pytest.approx(answer.value, abs=answer.standard_error)
    assert ("cannot be told from nobody" in told) == (answer.interval[0] <= 0)


def test_a_map_is_asked_by_its_columns_and_by_the_name_of_its_place(opened):
    page = opened(KINDS["map"]())
    box, said, command = page.get_by_label("Ask of place"), page.locator("#live output").last, page.locator("#live pre")
    for text, asked in (
        ("place in (-74.1..-74, 40.6..40.7)", "lon in -74.1..-74 and lat in 40.6..40.7"),
        ("lat in 40.55..40.6", "lon in -74.3..-73.7 and lat in 40.55..40.6"),
        ("lat in 40.5..40.6 and lon in -99..-74", "lon in -74.3..-74 and lat in 40.5..40.6"),
    ):
        box.fill(text)
        page.keyboard.press("Enter")
        assert f"dpress query FOLDER '{asked}'" in command.text_content()
        assert said.text_content() == "It is drawn on the map; the commands below count it."
    for wrong in ("Old town", "lon in 3", "lon in 5..4", "place in (1..2)", "lon in -74.1..-74 or lat in 40.6..40.7"):
        box.fill(wrong)
        page.keyboard.press("Enter")
        assert said.text_content().startswith("Write place in (-74.3..-73.7, 40.4..41)"), wrong
        assert asked in command.text_content()


def test_an_area_on_a_map_is_chosen_by_a_click_or_by_keys_and_says_its_count(opened, axe, districts):
    release = KINDS["map"]()
    page = opened(release, boundaries=districts)
    west, east = (release.query(f"lon in {ends} and lat in 40.5..40.8") for ends in ("-74.2..-74", "-74..-73.8"))
    said = page.locator("#live output").first
    drawing = page.locator("#map svg.map.wide")
    assert drawing.locator("> text", has_text=re.compile("^(West|East)$")).all_text_contents() == ["West", "East"]
    assert page.get_by_label("Ask of place").get_attribute("placeholder") == "West"
    rectangle, commands = drawing.locator("> rect[stroke='var(--less)']"), page.locator("#live pre")
    assert (rectangle.is_visible(), commands.is_visible()) == (False, False)
    drawing.scroll_into_view_if_needed()
    place = drawing.locator(".area").nth(1).bounding_box()
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    assert said.text_content().startswith(f"East: {east.value:,.0f} rows (")
    assert drawing.locator(".area.chosen title").text_content().startswith("East: ")
    page.get_by_label("Place on the map").focus()
    page.keyboard.press("ArrowUp")
    assert said.text_content().startswith(f"West: {west.value:,.0f} rows (")
    page.get_by_label("Ask of place").fill("east")
    page.keyboard.press("Enter")
    assert said.text_content().startswith("East: ")
    page.get_by_label("Place on the map").select_option("West")
    page.get_by_label("Ask of place").fill("place in (-74.1..-74, 40.6..40.7)")
    page.keyboard.press("Enter")
    assert (rectangle.is_visible(), commands.is_visible()) == (True, True)
    page.get_by_role("button", name="Draw a rectangle").click()
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    assert said.text_content().startswith("West: ")
    assert [(one["id"], one["nodes"][0]["html"]) for one in axe(page, RULES)["violations"]] == []


def test_statistics_and_records_are_listed_whole_sorted_and_saved_as_they_are_released(opened):
    release = LISTED["statistics"]()
    page = opened(release)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    own = page.locator("[data-list]").nth(0)
    with page.expect_download() as saved:
        own.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    table = release.tables["sex"].to_pandas().query("statistic == 'count' and sex.notna()").sort_values("value")[::-1]
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


def test_examples_are_questions_that_make_sense_by_the_labels_of_values(opened):
    labels = {"Female": "Women", "Male": "Men"}
    page = opened(make("histogram", [SEX | {"labels": labels}, AGE]))
    shown = page.locator(".ask .note button").all_inner_texts()
    assert shown == [
        "sex = Women and age in 5..9",
        "share sex = Women where age in 5..9",
        "count sex = Women - count sex = Men",
    ]
    for text in shown:
        page.get_by_role("button", name=text, exact=True).click()
        assert "95 % interval" in page.locator(".ask .answer").inner_text()
    ages = opened(make("histogram", [AGE]))
    assert ages.locator(".ask .note button").last.inner_text() == "count age in 0..9 - count age in 10..19"
