"""Examples of docstrings are code on the pages of the API: as quotes they were wider than a phone."""

import importlib.util
import inspect

import pytest

import dpress


@pytest.fixture(scope="module")
def as_code(pytestconfig):
    pytest.importorskip("griffe", reason="needs mkdocstrings, of the extra [docs]")
    place = importlib.util.spec_from_file_location(
        "doctest_blocks", pytestconfig.rootpath / "docs/hooks/doctest_blocks.py"
    )
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module.as_code


def quotes(text):
    markdown = pytest.importorskip("markdown", reason="needs mkdocs, of the extra [docs]")
    return markdown.markdown(text, extensions=["fenced_code"]).count("<blockquote>")


def test_no_example_of_the_api_is_a_quote(as_code, pytestconfig):
    texts = {name: inspect.getdoc(getattr(dpress, name)) or "" for name in dpress.__all__}
    assert sum(quotes(text) > 0 for text in texts.values()) > 3
    assert [name for name, text in texts.items() if quotes(as_code(text))] == []
    assert "docs/hooks/doctest_blocks.py" in (pytestconfig.rootpath / "mkdocs.yml").read_text(encoding="utf-8")


def test_what_stands_behind_an_example_is_no_part_of_it(as_code):
    text = "Adds.\n\n>>> add(1, 2)\n3\n>>> add(2, 2)\n4\n\nAnd more."
    assert as_code(text) == "Adds.\n\n```python\n>>> add(1, 2)\n3\n>>> add(2, 2)\n4\n```\n\nAnd more."
