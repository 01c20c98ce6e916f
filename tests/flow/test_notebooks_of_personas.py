"""The notebooks of `examples` run from top to bottom, hold no outputs, and end where they say."""

import ast
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
BOOKS = sorted(FOLDER.glob("*.ipynb"))


def run(book, namespace):
    """Run the cells in order; what the last line of one gives is shown, as a notebook does."""
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        *lines, last = ast.parse("".join(cell["source"])).body
        shown = isinstance(last, ast.Expr)
        exec(compile(ast.Module(lines if shown else [*lines, last], []), "cell", "exec"), namespace)  # noqa: S102
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace) if shown else None  # noqa: S307
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_().startswith("<")


def test_there_is_one_for_each_reader():
    assert [one.stem for one in BOOKS] == ["researcher", "statistician", "telemetry"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda one: one.stem)
def test_a_notebook_runs_and_holds_no_outputs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    book = json.loads(path.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert all(cell.get("outputs", []) == [] and cell.get("execution_count") is None for cell in book["cells"])
    run(book, {})
    told = capsys.readouterr().out
    expected = {"researcher": "private: False", "statistician": "budget exceeded", "telemetry": "Result(crashes >= 5"}
    assert expected[path.stem] in told
