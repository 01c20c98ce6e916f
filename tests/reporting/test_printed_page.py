"""A printed page: no sheet for the footer alone, and long tables that go on under their heads; A4 and Letter."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.kinds.reading import KINDS, html_of_page, undrawn

from dpress.query.load import load_release

pytestmark = pytest.mark.slow
FEW = 50  # words; the footer has 27
PAPER = ("A4", "Letter")
SPACES = (98, 107, 116, 125)  # mm above the end of a page, of which some leave no room for its footer
LOOSE = "@media print { main * { break-after: auto !important; break-before: auto !important; } }"
STORED = Path(__file__).parents[1] / "formats" / "stored"
LONG = ("joint_pairs", "records_graphical", "marginals", "names", "statistics")
UNFOLD = "document.querySelectorAll('details').forEach((one) => (one.open = true))"
MOST = 8  # sheets of A4, of whatever kind
HEADS = "[...document.querySelectorAll('caption, h2, h3, summary')].map((one) => one.innerText)"
FREE = """@media print { caption, summary, h2, h3 { break-after: auto !important; }
  summary { padding-bottom: 0 !important; margin-bottom: 0 !important; }
  .scroll, figure, details { break-inside: auto !important; } }"""
WHOLE = "@media print { .scroll { break-inside: avoid !important; } }"


@pytest.fixture
def printed(open_page, tmp_path):
    """Print a part of a page below an empty space; return the texts of its sheets."""
    if shutil.which("pdftotext") is None:
        pytest.skip("needs Debian's package poppler-utils")
    (tmp_path / "page.html").write_text(undrawn(KINDS["ranges"]()), encoding="utf-8")
    page = open_page((tmp_path / "page.html").as_uri())

    def sheets(kept, space, paper, style="", then=""):
        page.reload()
        page.evaluate(
            """([kept, space, style]) => {
              document.querySelector("main").replaceChildren(...document.querySelectorAll(kept));
              const above = document.createElement("div"), rules = document.createElement("style");
              above.style.height = `${space}mm`;
              rules.textContent = style;
              document.querySelector("main").prepend(above);
              document.querySelectorAll("details").forEach((one) => (one.open = true));
              document.head.append(rules);
            }""",
            [kept, space, style],
        )
        if then:
            page.evaluate(then)
        page.pdf(path=tmp_path / "page.pdf", format=paper)
        read = subprocess.run(["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, check=True)
        return read.stdout.decode().split("\f")[:-1]

    return sheets


def words_at_the_end(printed, paper, style=""):
    """Return how many words stand on the second of two sheets."""
    found = [printed("details:has(+ footer), footer", space, paper, style) for space in SPACES]
    return [len(sheets[1].split()) for sheets in found if len(sheets) == 2]


@pytest.mark.parametrize("paper", PAPER)
def test_no_sheet_holds_the_footer_alone(printed, paper):
    assert min(words_at_the_end(printed, paper)) > FEW
    assert 0 < min(words_at_the_end(printed, paper, LOOSE)) < FEW


@pytest.mark.parametrize("paper", PAPER)
def test_a_table_goes_on_under_its_heads(printed, paper):
    long = ".scroll:has(tbody tr:nth-child(10))"
    first, second = printed(long, 220, paper)
    assert first.count("standard error") == second.count("standard error") == 1
    assert "standard error" not in printed(long, 220, paper, WHOLE)[0]


def ends_in_heads(page, place, space, paper):
    """Return the last lines of sheets that are headings or captions below so many millimetres, and the sheets."""
    page.evaluate(f"document.querySelector('main').firstChild.style.height = '{space}mm'")
    heads = {" ".join(head.split()) for head in page.evaluate(HEADS)} - {""}
    page.pdf(path=place, format=paper)
    read = subprocess.run(["pdftotext", "-layout", place, "-"], capture_output=True, check=True).stdout.decode()
    lasts = [" ".join(sheet.strip().splitlines()[-1].split()) for sheet in read.split("\f") if sheet.strip()]
    return [last for last in lasts if any(last == head or head.startswith(f"{last} ") for head in heads)], len(lasts)


@pytest.mark.parametrize("kind", LONG)
def test_no_sheet_ends_in_a_heading_or_a_caption(open_page, tmp_path, kind):
    if shutil.which("pdftotext") is None:
        pytest.skip("needs Debian's package poppler-utils")
    path, place = tmp_path / "page.html", tmp_path / "page.pdf"
    path.write_text(html_of_page(load_release(STORED / kind / "release")), encoding="utf-8")
    page = open_page(path.as_uri())
    page.evaluate(f"{UNFOLD}; document.querySelector('main').prepend(document.createElement('div'))")
    ends = [ends_in_heads(page, place, space, PAPER[space // 30 % 2]) for space in range(0, 240, 30)]
    assert [found for found, _ in ends] == [[]] * len(ends)
    assert sum(sheets for _, sheets in ends) > 20
    if kind == "joint_pairs":
        page.add_style_tag(content=FREE)
        assert any(ends_in_heads(page, place, space, "A4")[0] for space in range(0, 240, 10))


def sheets_of(page, place):
    page.pdf(path=place, format="A4")
    read = subprocess.run(["pdftotext", "-layout", place, "-"], capture_output=True, check=True)
    return read.stdout.decode().split("\f")[:-1]


@pytest.mark.parametrize("kind", LONG)
def test_what_is_folded_stays_folded_in_print_and_says_so(open_page, tmp_path, kind):
    if shutil.which("pdftotext") is None:
        pytest.skip("needs Debian's package poppler-utils")
    path, place = tmp_path / "page.html", tmp_path / "page.pdf"
    path.write_text(html_of_page(load_release(STORED / kind / "release")), encoding="utf-8")
    page = open_page(path.as_uri())
    sheets = sheets_of(page, place)
    assert len(sheets) <= MOST
    assert "(folded: it is on the page)" in "".join(sheets)
    assert "canonical form" not in "".join(sheets)
    page.evaluate(UNFOLD)
    unfolded = "".join(sheets_of(page, place))
    assert "canonical form" in unfolded
    assert "(folded: it is on the page)" not in unfolded


def test_a_printed_table_has_its_first_rows_and_says_where_the_rest_is(printed):
    rows = "document.querySelector('.scroll tbody')"
    more = f"{rows}.append(...Array.from({{ length: 30 }}, () => {rows}.rows[0].cloneNode(true)))"
    (sheet,) = printed(".scroll:has(tbody tr:nth-child(10))", 0, "A4", then=more)
    assert sheet.count("The first 20 rows are printed") == 1
    assert len([line for line in sheet.splitlines() if line.strip()]) < 20 + 15
