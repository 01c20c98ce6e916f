"""The first page: what is public, or where to go from here; all pages also under a path of a proxy."""

import urllib.parse

import pytest
from litestar.testing import TestClient
from tests.service.pages.collections_of import designed
from tests.service.pages.conftest import TOKEN
from tests.service.pages.proxy_of_path import proxied
from tests.service.pages.test_readable import ENOUGH, NAMELESS, PHONE, contrasts

from dpress.data.stored.store_url import open_store
from dpress.service import round_changes
from dpress.service.app import Settings, app
from dpress.service.served import Collections

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def listed(tmp_path, **settings):
    """Return the status and the JSON of the list, of two collections, the first of which is in its second round."""
    url = f"sqlite:///{tmp_path}/reports.db"
    collections = Collections(open_store(url, create=True))
    first = collections.add(designed("tables"))
    collections.add(designed("maps"))
    round_changes.close(collections, first)
    round_changes.begin_next(collections, collections.served(first.round.ask), url)
    with TestClient(app(collections.store, collections, Settings(url=url, **settings))) as client:
        answers = [client.get("/v1/collections", headers=given) for given in ({}, {"Authorization": f"Bearer {TOKEN}"})]
        assert client.get("/").headers["content-type"].startswith("text/html")
    return [(one.status_code, one.json()) for one in answers]


def test_everybody_sees_what_is_public(tmp_path):
    (status, said), _ = listed(tmp_path, public=True)
    assert status == 200
    tables, maps = designed("tables").id, designed("maps").id
    assert [(one["id"], one["title"], one["round"], one["open"]) for one in said["collections"]] == [
        (tables, "Who rides", 1, True),
        (maps, "Pick-up", 0, True),
    ]


def test_what_is_not_public_is_listed_for_the_token_alone(tmp_path):
    (refused, said), (status, own) = listed(tmp_path, token=TOKEN)
    assert (refused, status, len(own["collections"])) == (401, 200, 2)
    assert designed("maps").id not in str(said)


def test_without_a_token_nobody_sees_what_is_not_public(tmp_path):
    assert [status for status, _ in listed(tmp_path)] == [404, 404]


def first_page(service):
    return urllib.parse.urljoin(service.url, "/")


@pytest.mark.slow
def test_the_first_page_leads_to_the_collection(serve, open_page):
    service = serve("tables", "--public")
    page = open_page(first_page(service))
    page.get_by_role("link", name="The estimate so far").click()
    page.get_by_role("heading", name="Who rides").wait_for()
    assert page.url == service.page


@pytest.mark.slow
@pytest.mark.usefixtures("client_built")
def test_of_a_round_that_is_closed_no_link_says_so_far(serve, open_page, with_token):
    service = serve("tables", "--public", *with_token)
    survey = open_page(service.survey)
    survey.locator("#live", has_text="The estimate so far").wait_for()
    assert service.ask("/close", b"", token=TOKEN)[0] == 200
    page = open_page(first_page(service))
    page.locator("dd", has_text="Closed").wait_for()
    assert page.get_by_role("link").all_inner_texts() == ["The estimate"]
    survey.reload()
    survey.get_by_role("heading", name="Who rides").wait_for()
    assert survey.locator("#live").inner_text() == "The estimate"


@pytest.mark.slow
def test_the_first_page_says_where_to_go(serve, open_page, with_token):
    service = serve("tables", *with_token)
    page = open_page(first_page(service), expected=("401",))
    page.get_by_text("Where to go from here").wait_for()
    assert service.design.id not in page.content()
    page.get_by_label("The administrator's token").fill("no token at all, but long")
    page.get_by_role("button", name="List").click()
    page.get_by_text("That was not the token.").wait_for()
    page.get_by_label("The administrator's token").fill(TOKEN)
    page.get_by_role("button", name="List").click()
    page.get_by_text("Who rides").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("public", [True, False])
def test_everybody_can_read_the_first_page(serve, open_page, with_token, axe, scheme, public):
    service = serve("tables", *(("--public",) if public else with_token))
    page = open_page(first_page(service), color_scheme=scheme, viewport=PHONE, expected=("401",))
    page.get_by_text("Who rides" if public else "Where to go from here").wait_for()
    assert page.evaluate(NAMELESS) == []
    assert [(one["id"], one["nodes"][0]["html"]) for one in axe(page, RULES)["violations"]] == []
    assert [text for ratio, text in contrasts(page) if ratio < ENOUGH] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.slow
@pytest.mark.usefixtures("client_built")
def test_all_works_under_a_path_of_a_proxy(serve, open_page, reports, with_token):
    service = serve("tables", "--public", *with_token)
    service.send(reports("tables", 100))
    with proxied(urllib.parse.urlsplit(service.url).port) as address:
        page = open_page(address)
        page.get_by_role("link", name="The estimate so far").click()
        page.locator("body[data-users='100']").wait_for()
        page.get_by_role("button", name="Administrator").click()
        page.locator("#token").fill(TOKEN)
        page.get_by_role("button", name="Look").click()
        page.locator("#administration:not([hidden])").wait_for()
        page.locator("#snippet", has_text=f'open("{address}v1/collections/').wait_for()
        page.get_by_role("link", name="Answer it in this browser").click()
        page.get_by_label("Age").fill("33")
        page.get_by_label("sex").select_option("Female")
        page.get_by_role("button", name="Show what would leave this browser").click()
        page.get_by_role("button", name="Send a report").click()
        page.get_by_text("Sent and counted.").wait_for()
        assert {url for _, url in page.seen.requests if not url.startswith((address, "data:"))} == set()
    assert open_store(service.store).reports(0) == 101
