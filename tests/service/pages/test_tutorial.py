"""The page of the tutorial, as it is printed there, in a real browser and against a real service."""

import re
from pathlib import Path

import pytest

import dpress
from dpress.data.stored.store_url import open_store

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("client_built")]
TUTORIAL = Path(__file__).parents[3] / "docs" / "tutorial" / "ask-people.md"


def block(name):
    found = re.search(
        rf"<!-- file: {re.escape(name)} -->\n```\w+\n(.*?)^```$", TUTORIAL.read_text(), re.DOTALL | re.MULTILINE
    )
    return found[1]


def test_the_printed_page_asks_and_its_answer_is_counted_in_the_release(serve, open_page, elsewhere):
    design = dpress.plan(dpress.load_spec(block("app.toml"))).design
    service = serve(design, "--public")
    folder, address = elsewhere
    page = block("survey.html").replace("SERVICE", service.url.partition("/v1/")[0]).replace("COLLECTION", service.url)
    (folder / "index.html").write_text(page.replace("<meta", '<link rel="icon" href="data:,"><meta', 1))
    visitor = open_page(address)
    visitor.get_by_role("button", name="Answer").click()
    visitor.get_by_text("Thank you. These").wait_for()
    assert open_store(service.store).reports(0) == 1
    live = open_page(service.page)
    live.locator("#users").filter(has_text=re.compile("^1$")).wait_for()
