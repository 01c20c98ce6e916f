"""A page as a reader sees it: its text, with every element closed in order."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from tests.kinds.conftest import KINDS

from dpress.query.release import Release
from dpress.reporting import figures
from dpress.reporting.page import page

VOID = {"meta", "br", "hr", "img", "input", "link"}
DRAWN: dict[int, tuple[Release, str]] = {}  # the release is kept, so that no other one gets its identity


def html_of_page(release: Release) -> str:
    """Return the page of a release, drawn once."""
    if id(release) not in DRAWN:
        DRAWN[id(release)] = release, page(release)
    return DRAWN[id(release)][1]


def html_of(kind: str) -> str:
    """Return the page of one of `KINDS`, drawn once."""
    return html_of_page(KINDS[kind]())


def text_of(kind: str) -> str:
    """Return the text of the page of one of `KINDS`."""
    return text(html_of(kind))


def text(html: str) -> str:
    """Return a page's text in one line, without its style and what is typed in a shell."""
    html = re.sub(r"<style.*?</style>|<script.*?</script>|<pre.*?</pre>", "", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def undrawn(release: Release) -> str:
    """Return the page of a release with nothing drawn, which takes most of its time: for tests of its words."""
    figure = figures.beliefs_figure.__wrapped__  # what is not drawn is not kept for other pages
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "both", lambda draw, label: f'<svg class="undrawn {bool(draw and label)}"></svg>')
        patch.setattr(figures, "beliefs_figure", figure)
        return page(release)


def text_of_page(release: Release) -> str:
    """Return the text of a release's page, without that of its drawings."""
    return text(undrawn(release))


class Nesting(HTMLParser):
    """Checks that every element is closed in order; keeps tags, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if self.open[-1:] not in (["style"], ["script"]) else ""


def read(html: str) -> Nesting:
    parsed = Nesting(html)
    assert not parsed.open
    parsed.text = re.sub(r"\s+", " ", parsed.text)
    return parsed
