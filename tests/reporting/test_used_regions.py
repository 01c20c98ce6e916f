"""A page of regions in use, in a real browser: found, read beside others, on the map, listed and saved."""

import csv
import io

import pytest
from tests.browser import RULES
from tests.kinds.reading import html_of_page
from tests.kinds.regions.towns import MARKUP, release_in

from dpress.kinds.regions.answers import ANSWERING
from dpress.reporting.rounding import MINUS, interval, number, unit_for

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_in(tmp_path_factory.mktemp("towns"))


@pytest.fixture
def opened(release, open_page, tmp_path):
    """Open the page."""

    def opening(of=release, **options):
        path = tmp_path / "report.html"
        path.write_text(html_of_page(of), encoding="utf-8")
        return open_page(path.as_uri(), **options)

    return opening


def chosen(page):
    return page.locator(".regions h4").text_content()


def rows(page):
    """Return the texts of the table that is read."""
    lines = page.locator(".regions .scroll tbody tr")
    return [line.locator("td").all_text_contents() for line in lines.all()]


def search(page, text):
    page.get_by_label("Name or code").fill(text)
    return page.locator("#suggestions:visible [role=option]").all_text_contents()


def test_a_region_is_found_by_name_and_by_code_with_the_keys_alone(opened):
    page = opened()
    assert chosen(page) == "all of place"
    assert search(page, "coa") == ["Coast (county B1) in South"]
    assert search(page, "b1") == ["Coast (county B1) in South", "town B1x in Coast, South", "town B1y in Coast, South"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.get_by_role("combobox").first.get_attribute("aria-activedescendant") == "suggestion1"
    page.keyboard.press("Enter")
    assert chosen(page) == "town B1x"
    assert page.locator(".regions nav button").all_text_contents() == ["all of place", "South", "Coast", "B1x"]
    assert search(page, "nowhere") == []
    search(page, "North")
    page.keyboard.press("Escape")
    assert page.get_by_role("listbox").is_hidden()
    page.keyboard.press("ArrowDown")
    page.locator("#suggestions [role=option]").click()
    assert chosen(page) == "North (state A)"
    assert [address for _, address in page.seen.requests if not address.startswith(("file:", "data:"))] == []


def test_down_the_levels_stand_the_counts_and_the_way_back(opened, release):
    page = opened()
    page.get_by_role("button", name="North").click()
    page.get_by_role("button", name=MARKUP).focus()
    page.keyboard.press("Enter")
    assert chosen(page) == f"{MARKUP} (county A1)"
    assert page.evaluate("document.activeElement.textContent") == MARKUP
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").startswith("A1x")
    counts = ANSWERING.of(release).table(3, ())
    assert page.locator(".children small").all_text_contents() == [number(count) for count in counts[:2]]
    assert page.locator(".regions pre").text_content().splitlines() == [
        "dpress query FOLDER 'county = A1'",
        "dpress query FOLDER 'count by age where county = A1'",
        "dpress query FOLDER 'count by town where county = A1'",
    ]
    queries = ("county = A1", "count by age where county = A1", "count by town where county = A1")
    assert {round(sum(result.value for result in release.results(query)), 6) for query in queries} == {
        round(release.query("county = A1").value, 6)
    }
    page.locator(".regions nav button", has_text="all of place").click()
    assert chosen(page) == "all of place"


def share(release, query):
    """Return a share and its interval in percent, as the page rounds them."""
    told = release.query(query)
    unit = max(unit_for(100 * told.standard_error), 0.01)
    return f"{number(100 * told.value, unit)} %", f"{interval(*(100 * end for end in told.interval), unit)} %"


def test_a_table_has_the_counts_and_shares_of_the_release(opened, release):
    page = opened()
    search(page, "B1y")
    page.keyboard.press("Enter")
    told = release.query("place = B1y and age = 2")
    unit = unit_for(told.standard_error)
    shares = share(release, "share age = 2 where place = B1y")
    assert rows(page)[2][:5] == [
        "2", number(told.value, unit), interval(*told.interval, unit), *shares
    ]  # fmt: skip
    assert page.locator(".regions .scroll th").nth(6).text_content() == "in Coast"
    finest = max(unit_for(100 * release.query("share age = 2 where place = B1y").standard_error), 0.01)
    above = release.query("share age = 2 where place in (B1x, B1y)").value
    assert rows(page)[2][6] == f"{number(100 * above, finest)} %"


def test_of_a_region_that_may_be_empty_no_share_is_told(opened):
    page = opened()
    search(page, "B1x")
    page.keyboard.press("Enter")
    assert {tuple(line[3:5]) for line in rows(page)} == {("not known", "0.00 to 100.00 %")}
    page.get_by_role("button", name="Coast").click()
    assert page.locator("circle.unsure").count() == 1


def test_of_a_table_of_several_attributes_one_is_held_or_added_up(opened, release):
    page = opened()
    search(page, "A2x")
    page.keyboard.press("Enter")
    page.get_by_label("Table", exact=True).select_option(label="sex × age")
    assert len(rows(page)) == 4
    page.get_by_label("sex", exact=True).first.select_option(label="m")
    told = release.query("place = A2x and age = 1 and sex = m")
    unit = unit_for(told.standard_error)
    wanted = share(release, "share age = 1 where place = A2x and sex = m")
    assert rows(page)[1][:5] == ["1", number(told.value, unit), interval(*told.interval, unit), *wanted]
    assert "Shares are of those with sex m." in page.locator(".regions .note").all_text_contents()[0]
    page.get_by_label("and by", exact=True).select_option(label="sex")
    told = release.query("place = A2x and age = 3 and sex = f")
    assert rows(page)[6][:3] == ["3", "f", number(told.value, unit_for(told.standard_error))]
    page.get_by_label("by", exact=True).select_option(label="sex")
    page.get_by_label("age, to").first.fill("1")
    told = release.query("place = A2x and age in 0..1 and sex = m")
    unit = unit_for(told.standard_error)
    assert rows(page)[1][:3] == ["m", number(told.value, unit), interval(*told.interval, unit)]


def test_the_map_tells_of_its_points_and_a_point_is_chosen(opened, release):
    page = opened()
    page.get_by_role("button", name="North").click()
    points = page.locator(".places circle")
    assert points.count() == 2
    points.first.hover()
    page.locator("svg.places").focus()
    told = page.locator(".pointed.note").text_content()
    page.keyboard.press("ArrowRight")
    assert page.locator(".pointed.note").text_content() != told
    assert {told.split(":")[0], page.locator(".pointed.note").text_content().split(":")[0]} == {
        f"{MARKUP} (county A1)", "Hill (county A2)"
    }  # fmt: skip
    widths = sorted(float(point.get_attribute("r")) for point in points.all())
    counts = sorted(ANSWERING.of(release).table(2, ())[:2])
    assert widths[0] / widths[1] == pytest.approx((counts[0] / counts[1]) ** 0.5, rel=0.02)
    shades = [point.evaluate("(own) => own.style.fill") for point in points.all()]
    assert len({*shades}) == 2
    page.get_by_label("Share of", exact=True).select_option(label="sex × age")
    assert "share of sex f" in page.locator(".legend").last.text_content()
    page.locator("svg.places").focus()
    page.keyboard.press("Enter")
    assert chosen(page) in {f"{MARKUP} (county A1)", "Hill (county A2)"}


def listed(page):
    """Return the rows in sight, which a page makes once it is laid out."""
    lines = page.locator(".rows tbody tr[aria-rowindex]")
    lines.first.wait_for()
    return [line.locator("td").all_text_contents() for line in lines.all()]


def test_places_are_listed_sorted_and_saved(opened, release):
    page = opened()
    search(page, "B1y")
    page.keyboard.press("Enter")
    assert [line[0] for line in listed(page)] == ["B1x", "B1y"]
    page.get_by_label("List", exact=True).select_option(label="all 5 of the level town")
    counts = ANSWERING.of(release).table(3, ())
    page.locator(".rows th button", has_text="count").click()
    order = sorted(range(5), key=lambda town: -counts[town])
    codes = ["A1x", "A1y", "A2x", "B1x", "B1y"]
    assert [line[0] for line in listed(page)] == [codes[town] for town in order]
    page.locator(".rows th button", has_text="town").click()
    assert [line[0] for line in listed(page)] == codes
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    table = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert [float(line["count"]) for line in table] == pytest.approx(counts.tolist(), rel=1e-12)
    for line in table:
        told = release.query(f"place = {line['town']}")
        assert float(line["standard_error"]) == pytest.approx(told.standard_error)
        assert (float(line["low"]), float(line["high"])) == pytest.approx(told.interval)
    assert table[0]["in"] == f"{MARKUP}, North"
    assert listed(page)[0][3] == interval(*release.query("place = A1x").interval, 0.1).replace("-", MINUS)


def test_hidden_cells_are_marked_and_counts_rounded(opened, tmp_path):
    rules = 'hide = ["cv > 0.05", "count < 100"]\nround = 5\n'
    release = release_in(tmp_path, rules=rules)
    page = opened(release)
    page.get_by_label("List", exact=True).select_option(label="all 5 of the level town")
    page.get_by_label("Share of", exact=True).select_option(label="age")
    counts = ANSWERING.of(release).table(3, ())
    shown = [".." if count < 100 else number(5 * round(count / 5), 5) for count in counts]
    assert ([line[2] for line in listed(page)], shown[3]) == (shown, "..")
    assert "(rounded numbers, nothing is sent)" in page.locator(".regions").text_content()
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    table = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert [line["count"] and float(line["count"]) % 5 for line in table] == [0, 0, 0, "", 0]
    search(page, "B1y")
    page.keyboard.press("Enter")
    page.get_by_label("Table", exact=True).select_option(label="sex \N{MULTIPLICATION SIGN} age")
    page.get_by_label("by", exact=True).select_option(label="age")
    page.get_by_label("and by", exact=True).select_option(label="sex")
    told = [release.query(f"town = B1y and age = {age} and sex = {sex}") for age in range(4) for sex in "fm"]
    assert {(answer.note or "").startswith("The release's tables hide") for answer in told} == {True, False}
    for line, answer in zip(rows(page), told, strict=True):
        assert (line[2:6] == [".."] * 4) == (answer.note is not None)


def test_a_public_total_is_told_as_it_is(opened, tmp_path):
    page = opened(release_in(tmp_path, 'invariants = { state = "rows" }\n'))
    assert [line[2:5] for line in listed(page)] == [["2,143", "2,143 to 2,143", "0"], ["857", "857 to 857", "0"]]


def test_without_script_the_upper_tables_stand_there(opened):
    page = opened(java_script_enabled=False)
    assert page.locator(".unscripted").is_visible()
    assert page.locator(".unscripted table").count() == 11
    assert page.locator("svg.places").count() == 0


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_wrong(opened, axe, scheme, width):
    page = opened(color_scheme=scheme, viewport={"width": width, "height": 800})
    page.get_by_role("button", name="North").click()
    search(page, "A")
    found = axe(page, RULES)
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 10
    assert page.evaluate("document.documentElement.scrollWidth") <= width
