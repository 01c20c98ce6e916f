"""The pages of the documentation opened from disk: both colour modes, coloured code, a copy button, the version."""

import shutil

import pytest
import yaml

pytestmark = pytest.mark.slow
OPTION = "--lines-a-second-and-no-more"
TABLE = f"| option | meaning |\n|---|---|\n| `run [{OPTION} N] <FILE>` | {'many words of it ' * 12}|\n"
PAGE = f"# Home\n\n```bash\necho one # two\n```\n```text\none\n```\n\n{TABLE}"
BACKGROUND = "getComputedStyle(document.querySelector('.highlight')).backgroundColor"
COMMENT = "getComputedStyle(document.querySelector('.highlight .c1')).color"


@pytest.fixture(scope="module")
def site(tmp_path_factory, pytestconfig):
    mkdocs = pytest.importorskip("mkdocs.config")
    from mkdocs.commands.build import build

    root, folder = pytestconfig.rootpath, tmp_path_factory.mktemp("docs")
    for name in ("hooks", "theme"):
        shutil.copytree(root / "docs" / name, folder / "docs" / name)
    (folder / "docs/index.md").write_text(PAGE)
    shutil.copy(root / "pyproject.toml", folder)
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_constructor("!relative", lambda _loader, _node: ".")
    told = yaml.load((root / "mkdocs.yml").read_text(), loader)  # noqa: S506  # our own file
    own = {key: told[key] for key in ("site_name", "hooks", "theme", "extra_javascript", "use_directory_urls")}
    extensions = [one for one in told["markdown_extensions"] if "pymdownx.snippets" not in one]
    own |= {"markdown_extensions": extensions, "exclude_docs": "hooks/\ntheme/\n", "plugins": ["search"]}
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(own))
    build(mkdocs.load_config(str(folder / "mkdocs.yml")))
    return folder / "site"


def test_both_modes_colour_the_code_and_no_mode_asks_another_host(site, open_page):
    seen = {}
    for mode in ("light", "dark"):
        page = open_page((site / "index.html").as_uri(), color_scheme=mode)
        assert page.evaluate("document.documentElement.dataset.bsTheme") == mode
        seen[mode] = (page.evaluate(BACKGROUND), page.evaluate(COMMENT))
        assert all(address.startswith("file:") for _, address in page.seen.requests)
    assert seen["light"][0] != seen["dark"][0]
    assert len({colour for both in seen.values() for colour in both}) == 4


def test_the_switch_changes_the_mode_of_the_code_too(site, open_page):
    page = open_page((site / "index.html").as_uri(), color_scheme="light")
    before = page.evaluate(BACKGROUND)
    page.click("#theme-menu")
    page.click("[data-bs-theme-value=dark]")
    assert page.evaluate("document.documentElement.dataset.bsTheme") == "dark"
    assert page.evaluate(BACKGROUND) != before


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_names_of_options_in_tables_are_not_broken_and_tables_scroll_in_their_box(site, open_page, width):
    page = open_page((site / "index.html").as_uri(), viewport={"width": width, "height": 800})
    code = page.locator("td code")
    assert code.inner_text().split() == ["run", f"[{OPTION}", "N]", "<FILE>"]
    lines = "(one) => [...one.querySelectorAll('span')].map((word) => word.getClientRects().length)"
    assert code.evaluate(lines) == [1] * 4
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.add_style_tag(content=".word { white-space: normal !important; } td { max-width: 5rem; }")
    assert code.evaluate(lines)[1] > 1  # a name that could be broken is


def test_the_button_copies_the_block_and_outputs_have_none(site, open_page):
    page = open_page((site / "index.html").as_uri(), permissions=["clipboard-read", "clipboard-write"])
    assert page.locator(".highlight").count() == 2
    page.click(".copy")  # an error if there were two
    page.wait_for_function("document.querySelector('.copy').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()").strip() == "echo one # two"


def test_the_footer_states_the_version(site, open_page):
    import dpress

    page = open_page((site / "index.html").as_uri())
    assert f"dpress {dpress.__version__}" in page.inner_text("footer")
