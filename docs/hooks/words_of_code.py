"""Words of code in tables stay whole at every width: a browser breaks `--lines-a-second` at its hyphens otherwise."""

# ruff: noqa: INP001  # mkdocs runs it by its path

import re
from typing import Any

CELL = re.compile(r"<t[dh]\b.*?</t[dh]>", re.DOTALL)
CODE = re.compile(r"(<code>)(.*?)(</code>)", re.DOTALL)
WORD = re.compile(r"[^\s<>]+(?![^<]*>)")


def on_page_content(html: str, **_: Any) -> str:
    """Return a page whose words of code in cells are each in a span, which the style does not break."""
    return CELL.sub(lambda cell: CODE.sub(_words, cell[0]), html)


def _words(code: re.Match[str]) -> str:
    return code[1] + WORD.sub(lambda word: f'<span class="word">{word[0]}</span>', code[2]) + code[3]
