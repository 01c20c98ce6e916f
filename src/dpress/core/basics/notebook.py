"""What a notebook shows of a specification, a plan, a release, a table or an answer: small pieces of HTML.

header, rows, lines -> HTML in which every text is escaped.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, LABEL, STEP = 460, 150, 20  # pixels of a figure, of its labels, and from bar to bar


class Bar(NamedTuple):
    """A value with its interval; without one both ends are the value."""

    label: str
    value: float
    low: float
    high: float


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """Return a table; the columns listed in `numbers` are aligned right.

    >>> table(["a"], [["<1"]], numbers=[0])[-64:]
    '<tr><td style="text-align:right">&lt;1</td></tr></tbody></table>'
    """
    head = "".join(f"<th{_side(place, numbers)}>{escape(name)}</th>" for place, name in enumerate(header))
    lines = (
        "".join(f"<td{_side(place, numbers)}>{escape(cell)}</td>" for place, cell in enumerate(row)) for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def bars(drawn: Sequence[Bar], words: str = "with 95 % intervals") -> str:
    """Return bars from zero as a drawing, each with its interval; nothing for none. What lies below zero is cut.

    >>> bars([Bar("a", 2.0, 1.0, 3.0)]).count("<rect")
    1
    """
    widest = max((bar.high for bar in drawn), default=0.0)
    if not widest > 0:
        return ""
    room = WIDTH - LABEL - 10

    def across(value: float) -> str:
        return f"{LABEL + room * min(max(value, 0.0), widest) / widest:.1f}"

    marks = []
    for place, bar in enumerate(drawn):
        middle, top = STEP * place + STEP / 2, STEP * place + 3
        width = float(across(bar.value)) - LABEL
        marks += [
            f'<text x="{LABEL - 6}" y="{middle + 4}" text-anchor="end" fill="currentColor">{escape(bar.label[:24])}',
            "</text>",
            f'<rect x="{LABEL}" y="{top}" width="{width:.1f}" height="{STEP - 6}" fill="#7d9cc4"/>',
            f'<path d="M{across(bar.low)} {middle}H{across(bar.high)}" stroke="currentColor" stroke-width="2"/>',
        ]
    size = f'width="{WIDTH}" height="{STEP * len(drawn)}"'
    return f'<svg {size} font-size="12" role="img" aria-label="Bars {escape(words)}">{"".join(marks)}</svg>'


def line(words: str, *, strong: bool = False) -> str:
    """Return a line of text."""
    return f"<p><b>{escape(words)}</b></p>" if strong else f"<p>{escape(words)}</p>"


def text(lines: str) -> str:
    """Return lines as they stand, in letters of one width.

    >>> text("a < 1")
    '<pre>a &lt; 1</pre>'
    """
    return f"<pre>{escape(lines)}</pre>"


def _side(place: int, numbers: Sequence[int]) -> str:
    return f' style="text-align:{"right" if place in numbers else "left"}"'
