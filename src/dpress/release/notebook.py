"""What a notebook shows of a plan, a release, a table or an answer: small pieces of HTML.

header, rows, lines -> HTML in which every text is escaped.
"""

from collections.abc import Sequence
from html import escape


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """Return a table; the columns listed in `numbers` are aligned right.

    >>> table(["a"], [["<1"]], numbers=[0])[-64:]
    '<tr><td style="text-align:right">&lt;1</td></tr></tbody></table>'
    """
    head = "".join(f"<th{_side(place, numbers)}>{escape(name)}</th>" for place, name in enumerate(header))
    lines = ("".join(f"<td{_side(place, numbers)}>{escape(one)}</td>" for place, one in enumerate(row)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def line(text: str, *, strong: bool = False) -> str:
    """Return a line of text."""
    return f"<p><b>{escape(text)}</b></p>" if strong else f"<p>{escape(text)}</p>"


def _side(place: int, numbers: Sequence[int]) -> str:
    return f' style="text-align:{"right" if place in numbers else "left"}"'
