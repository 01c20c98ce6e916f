"""The documents hang together: links lead somewhere, figures are small, pages stay here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpress.data.specification.spec import load_spec
from dpress.release.plan.plan import plan

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
LARGEST_FIGURE = 300_000


def dead_links(page: Path, text: str) -> list[str]:
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in link]
    return [link for link in links if link and not (page.parent / link).exists()]


def test_every_link_to_a_file_leads_to_one() -> None:
    found = {str(page.relative_to(ROOT)): dead_links(page, page.read_text(encoding="utf-8")) for page in PAGES}
    assert len(found) > 40
    assert {page: links for page, links in found.items() if links} == {}
    assert dead_links(PAGES[0], "see [here](no/such/page.md#part)") == ["no/such/page.md"]


def test_figures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in (ROOT / "docs" / "images").glob("*.png")}
    assert sizes
    assert {name: size for name, size in sizes.items() if size > LARGEST_FIGURE} == {}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.toml")), ids=lambda path: path.name)
def test_every_example_can_be_planned(path: Path) -> None:
    planned = plan(load_spec(path))
    assert planned.chosen.predicted_error >= planned.lower_bound > 0


@pytest.mark.slow
def test_no_page_of_the_site_asks_another_host(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    subprocess.run(command, cwd=ROOT, check=True)
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(list((ROOT / "docs").rglob("*.md"))) - 1
    loads = re.compile(r"""<(?:script|img|iframe|link(?![^>]*rel="canonical"))[^>]*(?:src|href)="(?:https?:)?//[^"]+""")
    assert [page.name for page in pages if loads.search(page.read_text(encoding="utf-8"))] == []
