"""A browser that looks at pages, and keeps what they complain of and ask for."""

import shutil
from dataclasses import dataclass, field

import pytest

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PATIENCE = 600_000  # milliseconds that a browser waits, on a machine however loaded


@dataclass
class Seen:
    """What a page said and asked for.

    Args:
        faults: errors and warnings of its console.
        requests: addresses with their method.
    """

    faults: list = field(default_factory=list)
    requests: list = field(default_factory=list)


@pytest.fixture(scope="module")
def chromium():
    """A browser without a window."""
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright, of the extra [dev]")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("needs Debian's package chromium")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Open a page in a context of its own; all that any page complained of is checked at the end."""
    contexts, everything = [], []

    def opened(address, *, expected=(), **options):
        context = chromium.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page, seen = context.new_page(), Seen()
        page.seen = seen
        everything.append((seen, expected))
        page.on("console", lambda said: said.type in {"error", "warning"} and seen.faults.append(said.text))
        page.on("pageerror", lambda error: seen.faults.append(str(error)))
        page.on("request", lambda asked: seen.requests.append((asked.method, asked.url)))
        page.goto(str(address))
        return page

    yield opened
    for context in contexts:
        context.close()
    for seen, expected in everything:
        assert [fault for fault in seen.faults if not any(one in fault for one in expected)] == []


@pytest.fixture
def axe(pytestconfig):
    """Check a page by some rules."""
    program = pytestconfig.rootpath / "clients/js/node_modules/axe-core/axe.min.js"
    if not program.is_file():
        pytest.skip("needs axe-core: npm install in clients/js")

    def found(page, rules):
        page.evaluate(program.read_text(encoding="utf-8"))
        return page.evaluate("(rules) => axe.run({ runOnly: rules })", rules)

    return found
