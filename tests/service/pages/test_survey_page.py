"""The survey in a real browser: nothing leaves it before it is sent, and what is sent is counted."""

import base64
import hashlib
import re
from pathlib import Path

import pytest
from tests.service.pages.conftest import TOKEN

import dpress.service
from dpress.data.stored.store_url import open_store

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("client_built")]


def posted(page):
    return [url for method, url in page.seen.requests if method == "POST"]


def test_an_answer_is_shown_as_it_would_leave_then_sent_and_counted(serve, open_page):
    service = serve("tables", "--public")
    page = open_page(service.survey)
    page.get_by_text("Contact: Ann").wait_for()
    page.get_by_label("Age").fill("33")
    page.get_by_label("sex").select_option("Female")
    page.get_by_role("button", name="Show what would leave this browser").click()
    page.get_by_text("a random answer about").wait_for()
    assert re.search(r"a random answer about (Age|sex|Age, sex);", page.locator("#sentence").inner_text())
    shown = bytes.fromhex(page.locator("#bytes").inner_text())
    assert shown[4:20].hex() == service.design.id[:32]
    assert posted(page) == []
    assert service.ask("/estimate")[1]["users"] == 0
    page.get_by_role("button", name="Send a report").click()
    page.get_by_text("Sent and counted.").wait_for()
    assert posted(page) == [f"{service.url}/reports"]
    assert open_store(service.store).reports(0) == 1
    (body,) = open_store(service.store).bodies(0)
    assert body[22:38] != shown[22:38]  # the preview's coins are not those that were sent
    page.get_by_text("1 of 1").wait_for()


def test_a_browser_answers_a_round_once_in_all_its_tabs(serve, open_page):
    service = serve("tables", "--public")
    page = open_page(service.survey)
    other = page.context.new_page()
    other.goto(service.survey)
    for tab in (page, other):
        tab.get_by_label("Age").fill("33")
        tab.get_by_label("sex").select_option("Female")
        tab.get_by_role("button", name="Show what would leave this browser").click()
        tab.get_by_text("a random answer about").wait_for()
    page.get_by_role("button", name="Send a report").click()
    page.get_by_text("Sent and counted.").wait_for()
    assert not page.locator("#survey").is_visible()
    other.get_by_role("button", name="Send a report").click()
    other.get_by_text("Not sent: answered already.").wait_for()
    other.reload()
    other.get_by_text("Answered: this browser has answered this round").wait_for()
    assert not other.locator("#survey").is_visible()
    assert open_store(service.store).reports(0) == 1


def test_every_round_is_answered_once_and_the_page_says_what_they_spend_together(serve, open_page, with_token):
    service = serve("tables", "--public", *with_token)
    page = open_page(service.survey)
    sentences = []
    for number in range(2):
        page.get_by_label("Age").fill("33")
        page.get_by_label("sex").select_option("Female")
        page.get_by_role("button", name="Show what would leave this browser").click()
        page.get_by_text("a random answer about").wait_for()
        sentences.append([page.locator(place).inner_text() for place in ("#several", "#sentence")])
        page.get_by_role("button", name="Send a report").click()
        page.get_by_text("Sent and counted.").wait_for()
        page.get_by_text(f"{number + 1} of {number + 1}").wait_for()
        for what in ("close", "next") if number == 0 else ():
            assert service.ask(f"/{what}", b"", token=TOKEN)[0] == 200
        page.reload()
    page.get_by_text("Answered: this browser has answered this round").wait_for()
    assert page.locator("#status dd").last.inner_text() == "epsilon 4"
    together = "Reports of the same values in all 2 rounds together: at most 54.6 times (epsilon 4)."
    later = "A round may be added later: it sends nothing unless you answer it, too, and would then add epsilon 2."
    assert [several for several, _ in sentences] == [
        f"A round is answered once. {words}" for words in (later, f"{together} {later}")
    ]
    assert "together" not in sentences[0][1]
    assert all(text.endswith("later and answered adds epsilon 2.00, without a limit.") for _, text in sentences)
    assert "of the same values in 2 rounds together: at most 54.6 times (epsilon 4.00)." in sentences[1][1]
    store = open_store(service.store)
    assert [store.reports(place) for place in (0, 1)] == [1, 1]


@pytest.mark.parametrize("value", ["85", "-1", "3.5"])
def test_a_number_that_is_not_asked_for_goes_nowhere(serve, open_page, value):
    service = serve("tables", "--public")
    page = open_page(service.survey)
    page.get_by_label("Age").fill(value)
    page.get_by_label("sex").select_option("Male")
    page.get_by_role("button", name="Show what would leave this browser").click()
    assert page.evaluate("document.querySelector('input').validity.valid") is False
    assert not page.locator("#preview").is_visible()
    assert posted(page) == []


def test_a_value_that_may_be_missing_may_be_left_out(serve, open_page):
    service = serve("gaps", "--public")
    for choice in ("else", "unsaid"):
        page = open_page(service.survey)
        page.get_by_text("from 0 to 84, or leave it empty").wait_for()
        assert page.locator("option").all_inner_texts() == ["Choose", "Female", "Male", "else", "unsaid"]
        page.get_by_label("sex").select_option(choice)
        page.get_by_role("button", name="Show what would leave this browser").click()
        page.get_by_role("button", name="Send a report").click()
        page.get_by_text("Sent and counted.").wait_for()
    assert open_store(service.store).reports(0) == 2


def test_a_date_is_chosen_within_its_bounds(serve, open_page):
    service = serve("days", "--public")
    page = open_page(service.survey)
    page.get_by_text("from 2024-01-10 to 2024-12-31, or leave it empty").wait_for()
    visited, born = page.get_by_label("visited"), page.get_by_label("Born on a")
    assert [one.get_attribute("type") for one in (visited, born)] == ["date", "date"]
    show = page.get_by_role("button", name="Show what would leave this browser")
    visited.fill("2025-01-01")
    born.fill("1969-12-31")
    show.click()
    assert visited.evaluate("own => own.validity.rangeOverflow") is True
    assert not page.locator("#preview").is_visible()
    visited.fill("2024-12-31")
    show.click()
    page.get_by_role("button", name="Send a report").click()
    page.get_by_text("Sent and counted.").wait_for()
    empty = open_page(service.survey)
    empty.get_by_label("Born on a").fill("2024-02-29")
    empty.get_by_role("button", name="Show what would leave this browser").click()
    empty.get_by_role("button", name="Send a report").click()
    empty.get_by_text("Sent and counted.").wait_for()
    assert open_store(service.store).reports(0) == 2


def test_a_place_is_clicked_or_written(serve, open_page):
    service = serve("maps", "--public")
    page = open_page(service.survey)
    page.locator(".place").click(position={"x": 10, "y": 10})
    lon, lat = (float(page.get_by_label(name).input_value()) for name in ("lon", "lat"))
    assert -74.03 < lon < -74.01
    assert 40.88 < lat < 40.90
    page.get_by_label("lon").fill("-73.8")
    page.get_by_role("button", name="Show what would leave this browser").click()
    page.get_by_role("button", name="Send a report").click()
    page.get_by_text("Sent and counted.").wait_for()
    assert open_store(service.store).reports(0) == 1


def test_a_closed_collection_offers_no_survey(serve, open_page, with_token):
    service = serve("tables", "--public", *with_token)
    assert service.ask("/close", b"", token=TOKEN)[0] == 200
    page = open_page(service.survey)
    page.get_by_text("Nothing can be reported: the collection is closed.").wait_for()
    assert not page.locator("#survey").is_visible()


def test_the_snippet_works_in_an_app_elsewhere_and_states_the_hash_of_the_client(
    serve, open_page, with_token, elsewhere
):
    service = serve("tables", "--public", *with_token)
    page = open_page(service.page)
    page.get_by_role("button", name="Administrator").click()
    page.locator("#token").fill(TOKEN)
    page.get_by_role("button", name="Look").click()
    page.get_by_text("dpress.Collection.open").wait_for()
    snippet = page.locator("#snippet").inner_text()
    script = (Path(dpress.service.__file__).with_name("client") / "client.js").read_bytes()
    assert base64.b64encode(hashlib.sha384(script).digest()).decode() in snippet
    folder, address = elsewhere
    asked = snippet.replace("report({ /* a value for every attribute */ })", "report({ age: 40, sex: 'F' })")
    assert asked != snippet
    (folder / "index.html").write_text(
        '<link rel="icon" href="data:,">' + asked.replace("refused } =", "refused } = window.outcome =")
    )
    app = open_page(address)
    app.wait_for_function("window.outcome")
    assert app.evaluate("window.outcome.sent") is True
    assert open_store(service.store).reports(0) == 1


def test_a_client_that_was_changed_is_refused_by_the_browser(serve, open_page, elsewhere):
    service = serve("tables", "--public")
    folder, address = elsewhere
    source = service.url.partition("/v1/")[0] + "/client.js"
    wrong = "sha384-" + base64.b64encode(hashlib.sha384(b"another script").digest()).decode()
    (folder / "index.html").write_text(
        f'<link rel="icon" href="data:,"><script src="{source}" integrity="{wrong}" crossorigin="anonymous"></script>'
    )
    app = open_page(address, expected=("integrity",))
    app.wait_for_timeout(300)
    assert app.evaluate("typeof dpress") == "undefined"
    assert app.seen.faults
