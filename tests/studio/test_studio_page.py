"""The studio in a real browser, from columns to a page: nothing typed is lost, and only `check` tells of rows."""

import datetime as dt
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.browser import RULES
from tests.studio.conftest import RARE

from dpress.studio.draft import Wish

pytestmark = pytest.mark.slow


FOCUSED = """(() => {
  const field = document.activeElement;
  const said = document.getElementById(field.getAttribute("aria-describedby"));
  return [field.closest("label")?.firstChild.textContent, field.getAttribute("aria-invalid"), said?.textContent];
})()"""  # its label, whether it is wrong, and the message that describes it


@pytest.fixture
def studio(open_studio, rows):
    """The address of a studio on made-up rows."""
    return open_studio(rows)


def column(page, name):
    page.get_by_label(f"use {name} (").check()
    return page.locator(f"fieldset[data-column={name}]")


def typed(page):
    """What all fields of the steps hold."""
    fields = "[...document.querySelectorAll('.steps :is(input, select, textarea)')]"
    return page.evaluate(f"{fields}.map((one) => [one.type, one.value, one.checked])")


def kept(page):
    """Wait until what was typed is kept."""
    with page.expect_response(lambda answer: answer.url.endswith("/work") and answer.request.method == "PUT"):
        pass


def describe(page):
    page.get_by_role("button", name="Look at its columns").click()
    ages = column(page, "age")
    for label, text in (("From", "0"), ("to", "99"), ("in so many bins", "10")):
        ages.get_by_label(label, exact=True).fill(text)
    column(page, "sex").get_by_label("Its values").fill("f = female\nm = male")
    pets = column(page, "pet")
    pets.get_by_label("Its values").fill("cat\ndog")
    pets.get_by_label("Anything else is counted as").fill("another")
    page.get_by_label("A person, with all of their rows").check()
    page.get_by_label("Whose row it is, says the column").select_option("uid")
    page.get_by_label("At most so many rows").fill("2")
    page.get_by_role("button", name="Tables").click()


def test_from_columns_to_a_published_page(studio, open_page, tmp_path):
    page, bodies = open_page(studio), {}

    def read(route):
        answer = route.fetch()
        bodies.setdefault(route.request.url.split("?")[0], []).append(answer.text())
        route.fulfill(response=answer)

    page.context.route("**/*", read)
    page.get_by_text("say whom you protect, and wish for something").wait_for()
    describe(page)
    plan = page.locator("#plan")
    plan.get_by_text("epsilon = 1 (proven)").wait_for()
    assert "10 in 10028 in 100" in plan.inner_text().replace("\t", "")
    plan.locator("svg.bars").wait_for()
    before = typed(page)
    page.reload()
    plan.locator("svg.bars").wait_for()
    assert typed(page) == before
    page.get_by_label("epsilon on a slider").fill("-100")
    plan.get_by_text("epsilon = 0.1 (proven)").wait_for()
    page.get_by_role("button", name="Check (for your eyes only)").click()
    assert RARE in page.get_by_label("What would be counted where").inner_text()
    spends = page.locator("#step-do .spends")
    assert spends.inner_text().startswith("This spends all of your budget: nothing else can be published after it.")
    page.get_by_role("button", name="Choose how much").click()
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    page.get_by_label("How much of the budget it spends").select_option("half")
    spends.get_by_text("Of epsilon 0.1 that is left this spends 0.05; 0.05 is left after it.").wait_for()
    spends.get_by_text("Its numbers will be off by ±").wait_for()
    page.get_by_label("How much of the budget it spends").select_option("all")
    page.get_by_role("button", name="Publish: spend epsilon 0.1").click()
    link = page.get_by_role("link", name="Its page")
    link.wait_for()
    assert "epsilon 0.1: 0.1 spent, 0 asked for" in page.locator("#step-do").inner_text()
    card = page.get_by_role("region", name="The budget is spent")
    assert card.get_by_role("link", name="all its files as a zip").get_attribute("download") == "marginals-1.zip"
    card.get_by_role("button", name="ask it").click()
    assert page.evaluate("document.activeElement.className") == "sql"
    card.get_by_role("button", name="made-up records").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save as CSV").click()
    assert Path(saved.value.path()).read_text("utf-8").startswith('"age","sex","pet"')
    with page.context.expect_page() as opened:
        link.click()
    opened.value.get_by_role("heading", level=1).wait_for()
    assert opened.value.locator("#query").count() == 1
    assert (tmp_path / "work/marginals-1/release.json").exists()
    told = {url.rpartition("/")[2] for url, answers in bodies.items() for one in answers if RARE in one}
    assert told == {"check"}
    here = studio.split("?")[0]
    assert all(url.startswith((here, "data:")) for _, url in page.seen.requests)
    assert len(bodies) > 8


def test_a_fault_stands_at_its_column_and_a_half_typed_one_is_kept(studio, open_page):
    page = open_page(studio, expected=["400 (Bad Request)"])
    describe(page)
    page.locator("fieldset[data-column=age]").get_by_label("to", exact=True).fill("ninety")
    wrong = page.locator("fieldset[data-column=age] .wrong-line")
    wrong.wait_for()
    assert "expected an integer, got 'ninety'" in wrong.inner_text()
    page.get_by_label("use sex (").uncheck()
    kept(page)
    page.get_by_label("use sex (").check()
    assert page.locator("fieldset[data-column=sex]").get_by_label("Its values").input_value() == "f = female\nm = male"
    page.get_by_role("button", name="Publish").click()
    page.locator(":focus[aria-invalid]").wait_for()
    assert page.evaluate(FOCUSED) == ["to", "true", "expected an integer, got 'ninety'"]
    page.get_by_label("File, folder or DATABASE#TABLE").fill("/no/such.parquet")
    page.get_by_role("button", name="Look at its columns").click()
    page.get_by_role("alert").wait_for()
    assert "no such file" in page.get_by_role("alert").inner_text().lower()
    assert page.locator("fieldset[data-column=age]").get_by_label("From").input_value() == "0"
    assert "No such file" in page.evaluate(FOCUSED)[2]


def test_empty_fields_are_named_where_they_are_once_somebody_was_there(studio, open_page, axe):
    page = open_page(studio)
    page.get_by_role("button", name="Look at its columns").click()
    ages, plan = column(page, "age"), page.locator("#plan")
    ages.get_by_label("What it is").select_option("categorical")
    page.get_by_role("button", name="Tables").click()
    plan.get_by_role("button", name="Whom do you protect").wait_for()
    assert page.locator(".steps .field > .wrong-line").count() == 0
    ages.get_by_label("Its values").focus()
    page.keyboard.press("Tab")
    assert page.locator(".steps .field > .wrong-line").all_inner_texts() == ["list its values, one a line"]
    page.get_by_role("button", name="Publish").click()
    page.locator(":focus[aria-invalid]").wait_for()
    named = ["Its values, one a line; “value = label” names it", "true", "list its values, one a line"]
    assert page.evaluate(FOCUSED) == named
    whom = page.get_by_role("radiogroup", name="Whom do you protect?")
    assert whom.get_attribute("aria-invalid") == "true"
    plan.get_by_role("button", name="Whom do you protect").click()
    assert page.evaluate("document.activeElement.type") == "radio"
    assert axe(page, RULES)["violations"] == []
    page.keyboard.press("Space")
    plan.get_by_role("button", name="Whom do you protect").wait_for(state="detached")
    assert whom.get_attribute("aria-invalid") is None


def test_a_folder_that_somebody_else_wrote_publishes_nothing_by_itself(session, open_studio, open_page):
    names = ["fine", "fine/publish?", "../wishes/publish#", "fine%2fpublish%3f", "publish"]
    wishes = [Wish(name=name, attributes=["age"], epsilon=f"0.1{place}") for place, name in enumerate(names)]
    session.keep(msgspec.structs.replace(session.draft, wishes=wishes))
    page = open_page(open_studio(session.draft.source))
    page.locator("#plan section:has(svg.bars), #plan section:has(.wrong-line)").nth(len(names) - 1).wait_for()
    asked = {urlsplit(url).path for method, url in page.seen.requests if method == "POST"}
    assert asked == {"/wishes/forecast", "/wishes/preview"}
    assert sorted(one.name for one in session.folder.iterdir()) == ["studio.json"]
    for link, name in zip(page.get_by_role("link", name="The whole page").all(), names, strict=True):
        (found,) = parse_qs(urlsplit(link.get_attribute("href")).query)["name"]
        assert found == name


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_wrong(studio, open_page, axe, scheme, width):
    page = open_page(studio, color_scheme=scheme, viewport={"width": width, "height": 800})
    describe(page)
    page.get_by_role("button", name="One full table").click()
    page.locator("svg.bars").nth(1).wait_for()
    figures = [text for text in page.locator("svg.bars text").all_text_contents() if "±" in text]
    assert len(figures) > 20
    assert all(re.fullmatch(r"-?[\d,]+ ± [\d,]+", figure) for figure in figures)  # no digit that is noise
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    found = axe(page, RULES)
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 10
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_file_with_a_title_is_proposed_looked_at_and_counted(open_studio, open_page, axe, tmp_path):
    text = f"Visits, of 2024\nGröße;Haustier\n170;{RARE}\n180;cat\nSource: the town\n"
    (tmp_path / "visits.csv").write_bytes(text.encode("latin-1"))
    page = open_page(open_studio(tmp_path / "visits.csv"), viewport={"width": 390, "height": 800})
    page.get_by_role("button", name="Propose it from its first bytes").click()
    page.get_by_text("windows-1252 with semicolons between fields and the names in line 2").wait_for()
    shown = [
        page.get_by_label(label).input_value()
        for label in ("Between fields", "Encoding", "Lines before", "Lines behind")
    ]
    assert shown == [";", "windows-1252", "1", "1"]
    assert RARE not in page.content()
    page.get_by_label("Its first line").check()
    page.get_by_role("button", name="Look at its columns").click()
    page.get_by_label("use Größe").check()
    size = page.locator("fieldset[data-column=Größe]")
    size.get_by_label("What it is").select_option("integer")
    for label, typing in (("Name in queries", "size"), ("From", "0"), ("to", "200"), ("Title for people", "Size")):
        size = page.locator("fieldset", has_text="use Größe").last
        size.get_by_label(label, exact=True).fill(typing)
    page.get_by_label("A row").check()
    page.get_by_role("button", name="Ranges").click()
    page.locator("svg.bars").wait_for()
    assert page.locator("[data-wish=ranges-1]").get_by_label("size").count() == 1
    page.get_by_role("button", name="Check (for your eyes only)").click()
    assert "2 rows; 2 would be counted" in page.get_by_label("What would be counted where").inner_text()
    assert axe(page, RULES)["violations"] == []


def test_months_are_published_one_after_the_other(open_studio, open_page, axe, tmp_path):
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=one % 90) for one in range(300)]
    pq.write_table(pa.table({"visited": days, "cost": [one % 50 for one in range(300)]}), tmp_path / "visits.parquet")
    page = open_page(open_studio(tmp_path / "visits.parquet"), viewport={"width": 390, "height": 800})
    page.get_by_role("button", name="Look at its columns").click()
    visited = column(page, "visited")
    for label, text in (("First day", "2024-01-01"), ("Last day", "2024-03-31"), ("Title for people", "Day of visit")):
        visited.get_by_label(label).fill(text)
    visited.get_by_label("Counted by").select_option("month")
    page.get_by_label("A row").check()
    page.get_by_role("button", name="One full table").click()
    wish, step, plan = (page.locator(place) for place in ("[data-wish=histogram-1]", "#step-do", "#plan"))
    assert wish.get_by_label("Day of visit (visited)").count() == 1
    wish.locator("label", has_text="Published").get_by_role("combobox").select_option("visited")
    wish.get_by_label("How much of the budget it spends").select_option("half")
    plan.get_by_text("over all of them a row loses epsilon = 0.5").wait_for()
    plan.get_by_label("What counts over several periods err").wait_for()
    plan.locator("svg.bars").wait_for()
    step.get_by_label("Period").select_option("2024-02")
    step.get_by_role("button", name="Publish 2024-02").click()
    step.get_by_role("button", name="Publish 2024-03").click()
    step.get_by_text("Published: 2024-02, 2024-03.").wait_for()
    step.get_by_text("All its periods are published.").wait_for()
    assert "epsilon 1: 0.5 spent" in step.inner_text()
    assert axe(page, RULES)["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Its page").click()
    opened.value.get_by_text("2 months, 2024-02 to 2024-03").wait_for()


def test_it_works_by_keys_alone(studio, open_page):
    page = open_page(studio)
    page.get_by_role("button", name="Look at its columns").focus()
    page.keyboard.press("Enter")
    page.get_by_label("use sex (").wait_for()
    page.get_by_label("use sex (").focus()
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.type") == "checkbox"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
