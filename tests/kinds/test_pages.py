"""The page: complete, closed, harmless, small, offline."""

import importlib
import importlib.resources
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.kinds.conftest import KINDS, SEX, claiming, make
from tests.kinds.reading import html_of, html_of_page, read, undrawn

from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import from_dict
from dpress.ledger.ledger import Ledger
from dpress.query.release import Release
from dpress.reporting import charts
from dpress.reporting.page import page, write_report
from dpress.reporting.render import environment

CENTRAL, LOCAL = "Error predicted before publishing", "Error predicted, and what it rests on"
MAP = "Typical error, and what it rests on"  # of its own answers
BELOW = ["What is promised", "Budget spent", "Provenance"]  # how it was made
HOSTILE = '<script>alert("1")</script>'
HOSTILE_LABEL = "</text></svg><img src=x onerror=alert(2)>"


def test_nesting_check_finds_an_element_that_is_not_closed() -> None:
    with pytest.raises(AssertionError):
        read("<div><p>text</div>")


def test_a_report_is_the_page_in_a_file_and_replaces_an_older_one(tmp_path: Path) -> None:
    release, path = KINDS["ranges"](), tmp_path / "report.html"
    path.write_text("older")
    assert write_report(release, path) == path
    assert path.read_text(encoding="utf-8") == html_of_page(release)


def test_every_page_is_nested_complete_and_small(release: Release) -> None:
    html = html_of_page(release)
    parsed = read(html)
    local = release.design.local
    heading = MAP if release.kind == "spatial" else LOCAL if local else CENTRAL
    sections = ["At a glance", "Results", heading, *BELOW]
    places = [html.index(f"<h2>{section}</h2>") for section in sections]
    assert places == sorted(places)
    assert len(html.encode()) < 1_000_000
    assert from_dict(release.design.specification).hash in parsed.text
    assert release.method in parsed.text
    assert next(iter(release.answers.tables)) in parsed.text
    assert ("keeps no ledger" if local else "No ledger was used") in parsed.text
    assert parsed.tags.count("title") == 1
    assert "svg" in parsed.tags
    assert "nan" not in re.findall(r"\w+", parsed.text)


def test_every_table_says_what_it_shows(release: Release) -> None:
    html = html_of_page(release)
    captions = re.findall(r"<table[ >][^<]*(?:<caption>([^<]+)</caption>)?", html)
    assert len(re.findall("<table[ >]", html)) == len(captions) >= 3
    assert all(captions)


def test_no_page_asks_for_anything(release: Release) -> None:
    html = html_of_page(release)
    parsed = read(html)
    assert parsed.tags.count("script") in (0, 2)  # its data, and what reads them
    assert not {"link", "img", "iframe", "object", "use", "base", "form"} & set(parsed.tags)
    links = {"src", "href", "xlink:href", "srcset", "action", "data", "background", "poster"}
    found = [(tag, name, value) for tag, name, value in parsed.attributes if name in links]
    within = {f"#{value}" for _, name, value in parsed.attributes if name == "id"}
    found = [one for one in found if one[0] != "a" or one[2] not in within]  # of the page itself
    drawn = release.kind == "spatial"
    pictures = [one for one in found if one[:2] == ("image", "href") and one[2].startswith("data:image/png;base64,")]
    assert found == pictures
    assert ("image" in parsed.tags) == bool(pictures) == drawn
    assert ("img-src data:" in html) == drawn
    assert not [found for found in parsed.attributes if found[1].startswith("on")]
    assert "url(" not in html
    assert "@import" not in html
    assert not re.findall(r"https?://(?!www\.w3\.org/)", html)
    assert "default-src 'none'" in html


@pytest.mark.parametrize("kind", list(KINDS))
def test_stamp_stands_where_it_must_and_nowhere_else(kind: str) -> None:
    html = html_of(kind)
    assert ("NOT PRIVATE" in html) == (kind == "seeded")
    assert ('class="stamp"' in html) == (kind == "seeded")
    assert ("can conclude" in html) == (kind != "seeded")
    assert "NOT PROVEN" not in html


def test_unproven_release_is_stamped_and_its_odds_are_conditional() -> None:
    text = read(undrawn(claiming(KINDS["ranges"](), proven=None))).text
    assert "NOT PROVEN" in text
    assert "NOT PRIVATE" not in text
    assert "If the published claim is right: " in text
    assert "There is no promise to rely on." in text
    assert "Proven differential privacy" not in text


def test_a_release_without_any_claim_shows_no_odds() -> None:
    text = read(undrawn(claiming(KINDS["ranges"](), proven=None, published=None))).text
    assert "NOT PROVEN" in text
    assert "can conclude" not in text


@pytest.mark.parametrize("kind", ["histogram", "marginals"])
def test_hostile_names_and_labels_are_harmless(kind: str) -> None:
    attribute = {
        "kind": "categorical",
        "name": HOSTILE,
        "values": [HOSTILE_LABEL, "\"'&"],
        "other": "</style>{{ 7*7 }}",
    }
    data = pa.table({HOSTILE: ["\"'&"] * 9, "sex": ["Male"] * 9})
    html = page(make(kind, [attribute, SEX], data=data))
    parsed = read(html)
    assert HOSTILE not in html
    assert HOSTILE_LABEL not in html
    assert parsed.tags.count("script") == 2
    assert "img" not in parsed.tags
    assert HOSTILE in parsed.text
    assert HOSTILE_LABEL in parsed.text
    assert "{{ 7*7 }}" in parsed.text
    assert not [found for found in parsed.attributes if found[1].startswith("on")]


def test_column_names_of_the_result_can_be_attributes() -> None:
    attribute = {"kind": "categorical", "name": "a.b[0]:Q", "values": ["p", "q"]}
    data = pa.table({"a.b[0]:Q": ["p"] * 30 + ["q"] * 9})
    assert "a.b[0]:Q" in read(page(make("histogram", [attribute], data=data))).text


def test_ledger_head_is_shown(tmp_path: Path) -> None:
    from dpress.core.basics.claim import Unit
    from dpress.core.basics.losses.pure import PureDP

    ledger = Ledger.create(tmp_path / "ledger.sqlite", limit=PureDP(epsilon=2), unit=Unit())
    release = make("ranges", [{"kind": "integer", "name": "age", "bounds": [0, 19]}], ledger=ledger)
    text = read(undrawn(release)).text
    assert release.ledger_head is not None
    assert release.ledger_head in text
    assert "No ledger was used" not in text
    assert "no ledger used" not in text


@pytest.mark.parametrize("missing", ["altair", "vl_convert", "jinja2", "markupsafe"])
def test_missing_extra_is_named_and_nothing_is_written(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == missing:
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    environment.cache_clear()
    with pytest.raises(NotSupported, match=re.escape("the report needs: pip install 'dpress[report]'")):
        write_report(KINDS["ranges"](), tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_importing_the_page_imports_nothing_of_the_extra() -> None:
    import subprocess
    import sys

    code = (
        "import sys, dpress.reporting.page; print({'altair', 'jinja2', 'vl_convert', 'markupsafe'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_colour_of_a_chart_follows_the_page() -> None:
    html = html_of("two-way")
    style = html[: html.index("</style>")]
    used = set(re.findall(r'(?:fill|stroke)="(#\w+)"', html[html.index("</style>") :]))
    assert used <= set(charts.VARIABLES)
    for name in charts.VARIABLES.values():
        assert style.count(f"--{name}:") == 3  # light, dark and print


def test_print_keeps_headings_with_their_figures_and_tables_whole() -> None:
    style = (importlib.resources.files("dpress") / "reporting/page.css").read_text(encoding="utf-8")
    printed = style.partition("@media print")[2]
    assert re.search(r"h2, h3, summary, caption,[^{]*\{ break-after: avoid; \}", printed)
    assert re.search(r"figure,[^{]*\.scroll,[^{]*\{ break-inside: avoid; \}", printed)
    height = re.search(r"\.chart \{ max-height: (\d+)cm; \}", printed)
    assert height is not None
    assert int(height[1]) <= 18  # of the 25 of a page: a heading and a caption have room beside it


def test_a_wide_table_on_a_phone_shows_that_there_is_more_of_it() -> None:
    style = (importlib.resources.files("dpress") / "reporting/page.css").read_text(encoding="utf-8")
    phone = style.partition("@media (max-width: 620px)")[2].partition("@media print")[0]
    assert "position: sticky" in phone
    assert ".scroll { background: linear-gradient" in phone
