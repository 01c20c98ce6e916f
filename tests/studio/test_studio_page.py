"""The studio in a real browser, from columns to a page: nothing typed is lost, and only `check` tells of rows."""

from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from tests.browser import RULES
from tests.studio.conftest import RARE

from dpress.studio.draft import Wish

pytestmark = pytest.mark.slow


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
    page.get_by_role("button", name="Publish: spend epsilon 0.1").click()
    link = page.get_by_role("link", name="Its page")
    link.wait_for()
    assert "epsilon 0.1: 0.1 spent, 0 asked for" in page.locator("#step-do").inner_text()
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
    assert page.get_by_role("button", name="Publish").is_disabled()
    page.get_by_label("File, folder or DATABASE#TABLE").fill("/no/such.parquet")
    page.get_by_role("button", name="Look at its columns").click()
    page.get_by_role("alert").wait_for()
    assert "no such file" in page.get_by_role("alert").inner_text().lower()
    assert page.locator("fieldset[data-column=age]").get_by_label("From").input_value() == "0"


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
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    found = axe(page, RULES)
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 10
    assert page.evaluate("document.documentElement.scrollWidth") <= width


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
