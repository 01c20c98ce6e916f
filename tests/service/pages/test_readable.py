"""Everybody can read the pages: names for what is operated, contrast in light and dark, phones, a keyboard alone."""

import pytest

pytestmark = pytest.mark.slow

ENOUGH = 4.5  # contrast of text, as WCAG 2.2 AA asks
PHONE = {"width": 360, "height": 740}
NAMELESS = """[...document.querySelectorAll('input, select, button, a, [role=img], pre[tabindex]')]
    .filter((one) => one.checkVisibility())
    .filter((one) => ![...(one.labels ?? [])].some((own) => own.textContent.trim()))
    .filter((one) => !one.getAttribute('aria-label') && !(one.matches('button, a') && one.textContent.trim()))
    .map((one) => one.outerHTML)"""
FAINT = """(() => {
    const drawn = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const mixed = (colours) => {
        drawn.clearRect(0, 0, 1, 1);
        for (const one of colours) { drawn.fillStyle = one; drawn.fillRect(0, 0, 1, 1); }
        return [...drawn.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (rgb) => rgb.map((one) => one / 255)
        .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (one) => one ? [...behind(one.parentElement), getComputedStyle(one).backgroundColor] : ['white'];
    const texts = [...document.querySelectorAll('main *')].filter((one) => one.checkVisibility() && !one.disabled &&
        [...one.childNodes].some((own) => own.nodeType === 3 && own.textContent.trim()));
    return texts.map((one) => {
        const paper = behind(one), ink = getComputedStyle(one).color;
        const [a, b] = [light(mixed(paper)), light(mixed([...paper, ink]))];
        return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.outerHTML.slice(0, 120)];
    });
})()"""


def contrasts(page):
    return page.evaluate(FAINT)


@pytest.fixture
def looked_at(serve, reports, open_page, with_token, request):
    """Open a page of a collection that has reports."""

    def opened(kind, address, **options):
        if address == "survey":
            request.getfixturevalue("client_built")
        service = serve(kind, "--public", *with_token)
        service.send(reports(kind, 800))
        page = open_page(getattr(service, address), **options)
        page.locator("body[data-users='800']" if address == "page" else "#survey:not([hidden])").wait_for()
        return page

    return opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("kind", "address"), [("joint", "page"), ("maps", "page"), ("tables", "survey")])
def test_all_has_a_name_and_all_text_is_readable(looked_at, kind, address, scheme):
    page = looked_at(kind, address, color_scheme=scheme)
    assert page.evaluate(NAMELESS) == []
    assert page.locator("h1").count() == 1
    assert page.locator("html[lang=en]").count() == 1
    found = contrasts(page)
    assert len(found) > 10
    assert [text for ratio, text in found if ratio < ENOUGH] == []


def test_what_is_nameless_or_faint_would_be_found(looked_at):
    page = looked_at("tables", "page")
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<input><p id=faint>faint</p>')")
    page.evaluate("document.getElementById('faint').style.color = '#999'")
    assert page.evaluate(NAMELESS) == ["<input>"]
    assert [text for ratio, text in contrasts(page) if ratio < ENOUGH] == [
        '<p id="faint" style="color: rgb(153, 153, 153);">faint</p>'
    ]


@pytest.mark.parametrize(("kind", "address"), [("joint", "page"), ("maps", "page"), ("maps", "survey")])
def test_a_phone_shows_it_without_moving_sideways(looked_at, kind, address):
    page = looked_at(kind, address, viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_survey_is_answered_with_the_keyboard_alone(looked_at):
    page = looked_at("tables", "survey")
    keys = page.keyboard
    keys.press("Tab")
    keys.type("33")
    keys.press("Tab")
    keys.type("Male")
    keys.press("Tab")
    keys.press("Enter")
    page.get_by_text("a random answer about").wait_for()
    assert page.evaluate("document.activeElement.id") == "preview-title"
    for _ in range(2):
        keys.press("Tab")
    assert page.evaluate("document.activeElement.id") == "send"
    keys.press("Enter")
    page.get_by_text("Sent and counted.").wait_for()
