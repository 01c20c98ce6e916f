"""The page of a ledger: every charge, what is left, escaped, closed, and nothing that leaves it."""

import re
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest
from tests.kinds.reading import read, text

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.ledger import Ledger
from dpress.reporting.ledger_page import ledger_page, write_ledger_page

HOSTILE = "<script>alert(1)</script>\" onload='x"


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "budget.db", limit=PureDP(epsilon=3), unit=Unit())


def charge(ledger, epsilon, *, confirmed=True, **named):
    ticket = ledger.reserve(PureDP(epsilon=epsilon), Unit(), **{"label": "ages", "design": "d"} | named)
    if confirmed:
        ledger.spend(ticket, "")


def rows(html):
    """Return the cells of the table of charges."""
    body = re.search(r"<tbody>(.*)</tbody>", html, re.DOTALL)
    return [[text(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in body[1].split("</tr>")[:-1]]


def test_every_charge_says_who_when_what_and_what_it_left(ledger):
    charge(ledger, Fraction(1, 3), who="Ann", release="out/one", spec="0123456789")
    charge(ledger, 1, confirmed=False, partition="north")
    html, day = ledger_page(ledger.summary(), "budget.db"), ledger.summary().entries[0].time[:10]
    assert rows(html) == [
        ["1", day, "Ann", "ages", "out/one", "01234567", "yes", "ε = 0.3334", "ε = 2.666"],
        ["2", day, "–", "ages (part north)", "–", "–", "not known", "ε = 1", "ε = 1.666"],  # noqa: RUF001  # a dash
    ]
    shown = text(html)
    assert "ε = 3 may be spent on this table; ε = 1.334 is." in shown
    assert "Left ε = 1.666 rounded down Charges 2 1 of them not confirmed" in shown
    assert "Charges on different parts" in shown
    assert "All 4 entries are there" in shown
    assert ledger.summary().head in html


def test_a_budget_that_is_used_up_and_one_that_is_untouched(ledger):
    empty = text(ledger_page(ledger.summary(), "budget.db"))
    assert "ε = 3 may be spent on this table; nothing is." in empty
    assert "Nothing was charged yet." in empty
    charge(ledger, 3)
    full = ledger_page(ledger.summary(), "budget.db")
    assert "The budget is used up: ε = 3 may be spent on this table, and ε = 3 is." in text(full)
    assert "<title>Privacy ledger: ε = 0 left</title>" in full


def test_a_limit_of_two_parameters_and_of_persons(tmp_path):
    unit = Unit(relation=Relation.REPLACE_ONE, column="uid", rows=3)
    ledger = Ledger.create(tmp_path / "a.db", limit=ApproxDP(epsilon=2, delta="1e-6"), unit=unit)
    ledger.reserve(ApproxDP(epsilon=1, delta="5e-7"), unit, label="x", design="")
    shown = text(ledger_page(ledger.summary(), "a.db"))
    assert "a uid with at most 3 rows, under replace-one" in shown
    assert "the one is drawn of which the largest share is spent" in shown
    assert "ε = 1, δ = 5 × 10⁻⁷" in shown


def test_steps_end_at_the_share_that_is_spent(ledger):
    """The area's outline in the drawing: its highest point after each charge, of the height that is the limit."""
    for epsilon in (0.5, 1, 0.75):
        charge(ledger, epsilon)
    drawing = re.search(r'<svg class="chart wide".*?</svg>', ledger_page(ledger.summary(), "x"), re.DOTALL)[0]
    (outline,) = re.findall(r'<path[^>]* d="(M[^"]+Z)" fill="#2a64a8"|<path fill="#2a64a8"[^>]* d="(M[^"]+Z)"', drawing)
    points = [tuple(map(float, pair.split(","))) for pair in re.findall(r"[\d.]+,[\d.]+", "".join(outline))]
    bottom = max(y for _, y in points)
    heights = sorted({round(bottom - y, 1) for _, y in points} - {0.0})
    assert [height / heights[-1] for height in heights] == pytest.approx([0.5 / 2.25, 1.5 / 2.25, 1], abs=0.01)


def test_a_hostile_text_stays_text_and_nothing_leaves_the_page(ledger):
    charge(ledger, 0.5, label=HOSTILE, who=HOSTILE, release=HOSTILE, spec="<b>1</b>")
    html = ledger_page(ledger.summary(), HOSTILE)
    read(html)
    assert "<script" not in html
    assert "<b>1" not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 4
    assert "default-src 'none'" in html
    assert re.findall(r"""(?:src|href|action)\s*=|url\(|@import""", html) == []


def test_drawings_are_named_for_those_who_do_not_see_them(ledger):
    charge(ledger, 0.5)
    html = ledger_page(ledger.summary(), "x")
    drawings = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(drawings) == 2
    for one in drawings:
        assert ET.fromstring(one).get("role") == "img"  # noqa: S314  # our own page
        assert "The share of the limit that is spent, by charge" in one
    assert html.count("<caption>") == 1
    assert html.count('scope="col"') == 9


def test_the_page_is_written_over_an_older_one(ledger, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("older")
    assert write_ledger_page(ledger.summary(), "x", path) == path
    assert path.read_text(encoding="utf-8") == ledger_page(ledger.summary(), "x")


def test_what_is_not_installed_is_named(ledger, monkeypatch):
    from dpress.reporting import render

    monkeypatch.setattr(render, "load", lambda _name: (_ for _ in ()).throw(NotSupported("pip install")))
    render.environment.cache_clear()
    with pytest.raises(NotSupported, match="pip install"):
        ledger_page(ledger.summary(), "x")
