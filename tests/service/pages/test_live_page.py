"""The live page in a real browser: its numbers, its intervals, what it asks for, and what an administrator does."""

import re
from datetime import date

import pytest
from tests.service.pages.collections_of import packed, people
from tests.service.pages.conftest import TOKEN

from dpress.data.stored.store_url import open_store
from dpress.release.devices.next_round import next_design
from dpress.service.live_figures import figures

pytestmark = pytest.mark.slow


def users_are(page, users):
    page.locator(f"body[data-users='{users}']").wait_for()


def cells(page):
    """Return count and interval of every row of every bar chart."""
    rows = page.locator(".bars tbody tr").all()
    return [[float(row.get_attribute(f"data-{name}")) for name in ("count", "low", "high")] for row in rows]


@pytest.mark.parametrize("kind", ["tables", "joint"])
def test_the_numbers_are_those_of_dpress_estimate(kind, serve, reports, open_page):
    service = serve(kind, "--public")
    service.send(reports(kind, 2500))
    page = open_page(service.page)
    users_are(page, 2500)
    own = [one for one in figures(service.estimate())["tables"] if len(one["axes"]) == 1]
    assert cells(page) == [list(row) for one in own for row in zip(one["count"], one["low"], one["high"], strict=True)]
    first = own[0]["count"][0]
    shown = page.locator(".bars tbody tr").first.inner_text()
    assert f"{first:,.0f}" in shown
    assert f"{100 * first / 2500:.1f} %" in shown
    if kind != "joint":  # of which the report says more, once it is fitted
        assert page.locator("#opening").inner_text() == " ".join(figures(service.estimate())["opening"])
    assert page.locator("#opening").inner_text().startswith("2,500 people reported. The median of Age is ")
    assert page.locator("#sure").inner_text().endswith("sees it go wrong more often.")


def test_a_map_is_drawn_and_its_fullest_cells_are_those_of_dpress_estimate(serve, reports, open_page):
    service = serve("maps", "--public")
    service.send(reports("maps", 5000))
    page = open_page(service.page)
    users_are(page, 5000)
    (own,) = figures(service.estimate())["tables"]
    assert page.locator(".heat rect").count() == len(own["count"])
    page.locator(".heat summary").click()
    largest = max(own["count"])
    assert f"{largest:,.0f} (" in page.locator(".heat tbody tr").first.inner_text()
    shades = page.evaluate(
        "[...document.querySelectorAll('.heat rect')].map((one) => +one.getAttribute('fill-opacity'))"
    )
    assert own["count"][shades.index(max(shades))] == largest


def test_the_intervals_shrink_as_reports_arrive(serve, reports, open_page):
    service = serve("tables", "--public")
    page, all_reports = open_page(service.page), reports("tables", 6000)
    page.get_by_text("There is no estimate yet: there are no reports of this collection.").wait_for()
    assert not page.locator("#sure").is_visible()

    def widths(sent):
        users_are(page, sent)
        page.wait_for_timeout(600)  # the lines move to their places
        found = page.evaluate(
            "[...document.querySelectorAll('.interval')].map((one) => one.getBoundingClientRect().width)"
        )
        typical = float(page.locator("#uncertainty").inner_text().removeprefix("± "))
        return sorted(found)[len(found) // 2], typical

    service.send(all_reports[:300])
    line, typical = widths(300)
    service.send(all_reports[300:])
    later_line, later_typical = widths(6000)
    assert later_typical == pytest.approx(typical / 20**0.5, rel=0.25)
    assert later_line < line / 2


def test_an_interval_beyond_the_axis_ends_in_an_arrow_that_says_how_far(serve, reports, open_page):
    service = serve("tables", "--public")
    every = reports("tables", 6000)
    service.send(every[:60])
    page = open_page(service.page)
    users_are(page, 60)
    rows = page.evaluate(
        """[...document.querySelectorAll('.bars tbody tr')].map((row) => ({
            low: +row.dataset.low, high: +row.dataset.high,
            end: parseFloat(row.closest('table').querySelector('.axis span:last-child').textContent) / 100,
            cut: [...row.querySelectorAll('.cut')].map((one) =>
                one.getAttribute('visibility') === 'visible' && one.querySelector('title').textContent),
        }))"""
    )
    for row in rows:
        beyond = [row["low"] < 0, row["high"] / 60 > row["end"] + 1e-9]
        assert [bool(text) for text in row["cut"]] == beyond, row
        ends = (row["low"], row["high"])
        told = [
            text and abs(float(re.search(r"[\d.]+", text)[0]) / 100 - abs(end) / 60)
            for text, end in zip(row["cut"], ends, strict=True)
        ]
        assert all(far is False or far < 0.006 for far in told), row
    assert any(row["cut"][0] for row in rows)
    assert any(row["cut"][1] for row in rows)
    service.send(every[60:])
    users_are(page, 6000)
    assert page.locator(".bars .cut[visibility=visible]").count() < sum(
        bool(text) for row in rows for text in row["cut"]
    )


def test_a_round_whose_reports_were_deleted_does_not_say_that_there_were_none(serve, reports, open_page, with_token):
    service = serve("tables", "--public", *with_token)
    service.send(reports("tables", 200))
    assert service.ask("/close", b"", token=TOKEN)[0] == 200
    store = open_store(service.store)
    store.expire([0])
    (ended,) = {day.ended for day in store.rounds()}
    page = open_page(service.page)
    page.locator("#users").get_by_text("deleted").wait_for()
    assert page.get_by_text("Contact: Ann").is_visible()
    assert page.locator("#estimate-title").inner_text() == "The estimate"
    day = f"{date.fromisoformat(ended):%B %-d, %Y}"
    assert page.locator("#left-out").inner_text() == (
        f"its 200 reports were deleted on or after {day}, when the round ended"
    )
    assert "200 reports were deleted" in page.locator("#waiting").inner_text()


def test_no_request_leaves_the_service(serve, reports, open_page):
    service = serve("tables", "--public")
    service.send(reports("tables", 100))
    page = open_page(service.page)
    users_are(page, 100)
    origin = re.match(r"http://[^/]+/", service.url)[0]
    assert page.seen.requests
    assert [url for _, url in page.seen.requests if not url.startswith(origin)] == []
    policy = page.evaluate("fetch(location.href).then((one) => one.headers.get('content-security-policy'))")
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
    blocked = page.evaluate(
        """new Promise((done) => {
            addEventListener("securitypolicyviolation", (event) => done(event.violatedDirective));
            const one = document.createElement("script");
            one.textContent = "window.ran = 1";
            document.head.append(one);
        })"""
    )
    assert blocked.startswith("script-src")
    assert page.evaluate("window.ran") is None
    page.seen.faults.clear()  # this violation was asked for


def test_without_public_the_page_asks_for_the_token(serve, reports, open_page, with_token):
    service = serve("tables", *with_token)
    service.send(reports("tables", 200))
    page = open_page(service.page, expected=("401",))
    page.get_by_text("Who rides").wait_for()
    page.get_by_text("Whoever runs this collection lets nobody look without it.").wait_for()
    assert page.locator("#users").inner_text() == "not known"
    page.locator("#token").fill("a wrong one, but long enough")
    page.get_by_role("button", name="Look").click()
    page.get_by_text("That was not the token.").wait_for()
    assert page.locator(".bars").count() == 0
    page.locator("#token").fill(TOKEN)
    page.get_by_role("button", name="Look").click()
    users_are(page, 200)
    assert page.locator("#administration").is_visible()
    assert page.evaluate("sessionStorage.length") == 1
    assert page.evaluate("localStorage.length") == 0
    assert TOKEN not in " ".join(url for _, url in page.seen.requests)


def test_an_administrator_closes_a_round_and_begins_the_next(serve, reports, open_page, with_token):
    service = serve("tables", "--public", *with_token)
    sent = reports("tables", 150)
    service.send([*sent, *[one[:-1] + b"\xff" for one in sent[:1]]])
    page = open_page(service.page)
    assert not page.locator("#administration").is_visible()
    page.get_by_role("button", name="Administrator").click()
    page.locator("#token").fill(TOKEN)
    page.get_by_role("button", name="Look").click()
    page.locator("#estimate-title", has_text="The estimate so far").wait_for()
    page.get_by_role("button", name="Close this round").click()
    assert page.get_by_role("link", name="Answer it in this browser").is_visible()
    page.get_by_text("Closed: nothing more is accepted.").wait_for()
    assert page.locator("#sure").inner_text().endswith("is wrong is 5 % at most.")
    assert not page.get_by_role("link", name="Answer it in this browser").is_visible()
    assert "shrinks" not in page.locator("#keys").inner_text()
    assert service.ask("/reports", sent[0])[0] == 409
    row = page.locator("#rounds tr").first.inner_text()
    assert row.split("\t")[:3] == ["1", "closed", "150"]
    assert row.split("\t")[3].endswith(": 1")
    page.get_by_role("button", name="Begin the next round").click()
    page.locator("#rounds tr").nth(1).wait_for()
    assert service.ask()[1]["round"] == 1
    assert service.ask("/rounds", token=TOKEN)[1]["rounds"][1]["reports"] == 0
    page.locator("#round").get_by_text("2", exact=False).wait_for()
    page.get_by_text("Open: reports are accepted.").wait_for()


def test_means_are_told_of_all_and_of_every_group_and_the_groups_drawn(serve, reports, open_page):
    service = serve("numbers", "--public")
    service.send(reports("numbers", 900))
    page = open_page(service.page)
    users_are(page, 900)
    told = page.locator("#remarks li").inner_text()
    assert re.fullmatch(
        r"With 95 % intervals, the mean of Age \(years\) is \d+\.\d \(\d+\.\d to \d+\.\d\); "
        r"Female \d+\.\d \(.* to .*\), Male .*, else .*\.",
        told,
    ), told
    assert page.locator(".bars tbody th").all_inner_texts() == ["Female", "Male", "else"]


def test_of_what_is_not_there_the_page_shows_no_empty_promise(serve, open_page):
    service = serve("tables", "--public")
    page = open_page(service.page[:-4] + "0000", expected=("404",))
    page.get_by_text("There is nothing to show").wait_for()
    assert page.locator("main section:visible, #keys:visible").count() == 0


def test_a_service_without_an_administrator_says_so(serve, open_page):
    service = serve("tables", "--public")
    page = open_page(service.page, expected=("404",))
    page.get_by_role("button", name="Administrator").click()
    page.locator("#token").fill(TOKEN)
    page.get_by_role("button", name="Look").click()
    page.get_by_text("This service was started without an administrator.").wait_for()
    page.get_by_text("There is no estimate yet").wait_for()
    assert page.evaluate("sessionStorage.length") == 0


def test_the_page_is_there_again_when_the_service_comes_back(serve, reports, open_page):
    service = serve("tables", "--public")
    page = open_page(service.page, expected=("net::ERR", "Failed to load"))
    service.send(reports("tables", 100))
    users_are(page, 100)
    service.stop()
    page.get_by_text("The service does not answer; trying again.").wait_for()
    assert cells(page)


def test_the_next_round_of_a_map_is_another_page_that_goes_on_from_this_one(
    serve, reports, open_page, with_token, tmp_path
):
    service = serve("rounds", "--public", *with_token)
    sent = reports("rounds", 8000)
    service.send(sent)
    page = open_page(service.page)
    page.get_by_role("button", name="Administrator").click()
    page.locator("#token").fill(TOKEN)
    page.get_by_role("button", name="Look").click()
    page.locator("body[data-users]").wait_for()
    counted = int(page.locator("body").get_attribute("data-users"))
    page.locator("#estimate-title", has_text="The estimate so far").wait_for()
    page.get_by_role("button", name="Close this round").click()
    page.get_by_role("button", name="Begin the next round").click()
    page.wait_for_url(lambda url: url != service.page)
    page.get_by_text("2 of 3").wait_for()
    page.get_by_text("There is no estimate yet: there are no reports of this collection.").wait_for()
    following = next_design(service.estimate())
    assert page.url.endswith(following.id)
    service.url = service.url.replace(service.design.id, following.id)
    service.send(packed(following, people("rounds", 8000), tmp_path, seed=6))
    page.get_by_text(f"{counted:,} of them in earlier rounds").wait_for()
    assert int(page.locator("body").get_attribute("data-users")) > counted
    earlier = open_page(service.page.replace(following.id, service.design.id))
    earlier.get_by_text("Closed: nothing more is accepted.").wait_for()
    earlier.get_by_role("link", name="another one").click()
    earlier.wait_for_url(page.url)
