"""Figures of the house, each with its bound: what comes next may lower them and never raise them unseen."""

import ast
import functools
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "dpress"
MODULES = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}
Texts = Mapping[str, str]

PRONOUNS = re.compile(r"(?:^|_)(?:own|one(?!_(?:way|hot|bit)(?:$|_))|found|asked|said|known)(?:$|_)")
"""`one_way`, `one_hot` and `one_bit` are words of the field: a one-way table is of one attribute."""
SQLGLOT = "exp"  # whose classes may be called as ours
LOSSES = ("PureDP", "ZCDP", "ApproxDP")


@functools.cache
def nodes(text: str) -> tuple[ast.AST, ...]:
    """Return all nodes of a module."""
    return tuple(ast.walk(ast.parse(text)))


def every(texts: Texts) -> Iterator[ast.AST]:
    """Yield all nodes of some modules."""
    return itertools.chain.from_iterable(map(nodes, texts.values()))


def types_of(texts: Texts) -> set[str]:
    """Return the names of the classes that some modules define, and of the aliases of these."""
    names = {node.name for node in every(texts) if isinstance(node, ast.ClassDef)}
    for node in every(texts):
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name):
            means = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
            if target.id[0].isupper() and not target.id.isupper() and means & names:
                names.add(target.id)
    return names


def asked_types(texts: Texts) -> Iterator[set[str]]:
    """Yield for every `isinstance` the names of the types that it asks for."""
    for node in every(texts):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            parts = list(ast.walk(node.args[1]))
            names = {part.id for part in parts if isinstance(part, ast.Name)}
            attributes = [part for part in parts if isinstance(part, ast.Attribute)]
            yield names | {part.attr for part in attributes if ast.unparse(part.value) != SQLGLOT}


def of_our_types(texts: Texts) -> int:
    """Return how many `isinstance` ask for a type of ours."""
    ours = types_of(texts)
    return sum(bool(names & ours) for names in asked_types(texts))


def of_losses(texts: Texts) -> int:
    """Return how many `isinstance` ask which loss something is."""
    return sum(bool(names & set(LOSSES)) for names in asked_types(texts))


def protocols(texts: Texts) -> int:
    """Return how many classes are protocols."""
    classes = [node for node in every(texts) if isinstance(node, ast.ClassDef)]
    return sum(any(ast.unparse(base).split("[")[0].endswith("Protocol") for base in node.bases) for node in classes)


def lines(texts: Texts) -> int:
    """Return the number of lines."""
    return sum(len(text.splitlines()) for text in texts.values())


def pronouns(texts: Texts) -> int:
    """Return how many names are bound that have a pronoun, or a participle, in the place of what the thing is."""
    bound = 0
    for node in every(texts):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound += bool(PRONOUNS.search(node.id))
        elif isinstance(node, ast.arg):
            bound += bool(PRONOUNS.search(node.arg))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound += bool(PRONOUNS.search(node.name))
    return bound


FIGURES: Mapping[str, tuple[Callable[[Texts], int], int, str]] = {
    "isinstance on types of ours": (of_our_types, 122, "class Oak: ...\nisinstance(x, Oak)\n"),
    "isinstance on losses": (of_losses, 0, "isinstance(x, (int, PureDP))\n"),
    "protocols": (protocols, 37, "class Tree(Protocol): ...\n"),
    "lines": (lines, 120_600, "x = 1\n"),
    "names that are pronouns": (pronouns, 35, "def f(own): ...\n"),
}
"""What is counted, the most there may be, and a text that has one."""
MODULES_LOADED = {"--help": 2, "list": 44, "plan": 276}
"""Modules of ours that a command imports, at most."""


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_within_its_bound(name: str) -> None:
    count, most, planted = FIGURES[name]
    assert count(MODULES) <= most
    assert count({"planted.py": planted}) == 1
    assert count({"empty.py": ""}) == 0


def loaded(arguments: list[str]) -> int:
    """Return how many modules of ours a command imports."""
    script = (
        f"from dpress.cli.main import cli\ncli.main({arguments!r}, standalone_mode=False)\n"
        "import sys\nprint()\nprint(sum(name.startswith('dpress.') for name in sys.modules))"
    )
    keeping = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, "-c", script], env=keeping, capture_output=True, text=True, check=True)
    return int(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("command", MODULES_LOADED)
def test_a_command_imports_few_modules(command: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(
        '[[attribute]]\nname = "age"\nkind = "integer"\nbounds = [1, 10]\n'
        '[privacy]\nepsilon = 1.0\n[release]\nkind = "histogram"\n'
    )
    arguments = [command, *([str(spec)] if command == "plan" else [])]
    loaded(arguments)  # keeps the index of cards, where a file has changed since
    assert loaded(arguments) <= MODULES_LOADED[command]
