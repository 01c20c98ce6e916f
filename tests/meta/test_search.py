"""The documentation is searched from disk: by scripts alone, in a real browser where there is one."""

import shutil
import subprocess

import pytest

pytestmark = pytest.mark.slow
ASK = """
document.addEventListener("DOMContentLoaded", function () {
  var input = document.getElementById("mkdocs-search-query");
  input.value = "marmalade";
  input.dispatchEvent(new Event("input"));
});
"""
CONFIG = """
site_name: test
docs_dir: pages
use_directory_urls: false
theme: {{name: mkdocs, font: false, highlightjs: false}}
hooks: [{hook}]
plugins: [search]
extra_javascript: [search/main.js, ask.js]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory, pytestconfig):
    mkdocs = pytest.importorskip("mkdocs.config")
    from mkdocs.commands.build import build

    folder = tmp_path_factory.mktemp("docs")
    (folder / "pages").mkdir()
    (folder / "pages/index.md").write_text("# Home\n\nNothing.\n")
    (folder / "pages/jam.md").write_text("# Jam\n\nOf oranges: marmalade.\n")
    (folder / "pages/ask.js").write_text(ASK)
    hook = pytestconfig.rootpath / "docs/hooks/search_from_disk.py"
    (folder / "mkdocs.yml").write_text(CONFIG.format(hook=hook))
    config = mkdocs.load_config(str(folder / "mkdocs.yml"))
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    return folder / "site"


def test_no_page_needs_a_worker_or_json(site):
    assert not (site / "search/worker.js").exists()
    script = (site / "search/main.js").read_text()
    assert "Worker" not in script
    assert "fetch" not in script
    assert (site / "search/search_index.js").read_text().startswith("var search_index = {")


def test_a_word_is_found_on_a_page_from_disk(site):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no browser")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]
    shown = subprocess.run(
        [browser, *options, (site / "index.html").as_uri()], capture_output=True, text=True, check=False
    ).stdout
    results = shown.partition('id="mkdocs-search-results"')[2].partition("</article>")[0]
    assert 'href="./jam.html' in results
    assert "Of oranges: marmalade" in results
