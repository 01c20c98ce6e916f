"""Whatever an app can call, set or read of the browser client has its line on the page."""

import re

import pytest
from tests.client.devices import ROOT

PAGE = (ROOT / "docs" / "tutorial" / "in-a-browser.md").read_text(encoding="utf-8")
SOURCES = ROOT / "clients" / "js" / "src"


def public(file, interface):
    """Return the fields of an interface, or the public methods of a class."""
    text = (SOURCES / file).read_text(encoding="utf-8")
    body = text.split(f"export {interface} {{", 1)[1].split("\n}", 1)[0]
    pattern = r"^  readonly (\w+)\??:" if "interface" in interface else r"^  (?:static )?(?:async )?(\w+)\("
    return set(re.findall(pattern, body, re.MULTILINE)) - {"constructor"}


def missing(names, page):
    return sorted(name for name in names if not re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`|\b{name}\(", page))


@pytest.mark.parametrize(
    ("file", "interface", "least"),
    [
        ("options.ts", "interface Options", 6),
        ("collection.ts", "interface Outcome", 3),
        ("collection.ts", "interface Status", 8),
        ("collection.ts", "class Collection", 6),
        ("account.ts", "interface Account", 3),
        ("account.ts", "interface Line", 4),
        ("preview.ts", "interface Preview", 2),
    ],
)
def test_every_name_is_on_the_page(file, interface, least):
    names = public(file, interface)
    assert len(names) >= least
    assert missing(names, PAGE) == []
    assert missing(names, "") == sorted(names)


def test_every_export_is_on_the_page():
    text = (SOURCES / "index.ts").read_text(encoding="utf-8")
    names = {
        name for part in re.findall(r"export \{(.+?)\}", text) for name in re.findall(r"(?<!type )\b[a-zA-Z]+", part)
    }
    assert missing({"Collection", "indexed", "local", "memory"} & names, PAGE) == []
    assert {"Collection", "indexed", "local", "memory"} <= names
