"""Whatever the package defines it uses, or its documentation shows: what only tests and papers need stands there."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
IMPORTED = re.compile(r"from (dpress[\w.]*) import ([\w, ]+)")


def modules() -> dict[str, ast.Module]:
    """Return the package's modules by their dotted names."""
    paths = {path: path.relative_to(SOURCE).with_suffix("").parts for path in SOURCE.rglob("*.py")}
    named = {".".join(part for part in parts if part != "__init__"): path for path, parts in paths.items()}
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in named.items()}


def defined(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield what stands at the top of a module; a decorator takes what it decorates into use."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            calls = [
                one
                for one in node.decorator_list
                if "click" in ast.unparse(one) or "command" in ast.unparse(one) or ".add(" in ast.unparse(one)
            ]
            yield from () if calls else [(node.name, node)]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node) for target in targets if isinstance(target, ast.Name))


def taken(tree: ast.Module, trees: Mapping[str, ast.Module]) -> Iterator[tuple[str, str]]:
    """Yield what a module takes of others, as module and name; `*` for what it takes of something else, or by text."""
    nodes, known = list(ast.walk(tree)), {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
            dotted = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            known |= {short: long for short, long in dotted.items() if long in trees}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield known.get(getattr(node.value, "id", ""), "*"), node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield "*", node.value


def unused(trees: Mapping[str, ast.Module]) -> set[str]:
    """Return what is defined at the top of a module and neither used there, nor taken by another, nor shown."""
    uses = {pair for tree in trees.values() for pair in taken(tree, trees)}
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for module, names in IMPORTED.findall(page.read_text(encoding="utf-8")):
            uses |= {(module, name.strip()) for name in names.split(",")}
    found = set()
    for module, tree in trees.items():
        reads = [(node.id, node.lineno) for node in ast.walk(tree) if isinstance(node, ast.Name)]
        for name, node in defined(tree):
            inside = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            used = any(read == name and line not in inside for read, line in reads)
            if not (used or {(module, name), ("*", name)} & uses or name.startswith("__")):
                found.add(f"{module}.{name}")
    return found


def test_the_package_uses_what_it_defines() -> None:
    assert sorted(unused(modules())) == []


def test_what_only_a_test_uses_would_be_found() -> None:
    planted = {
        "dpress.coins": "def toss(): return again()\ndef again(): pass\ndef planted(): planted()\nLOST = 2\n",
        "dpress.table": "from dpress import coins\nSIZE = 3\nclass Table:\n    size = SIZE\n    toss = coins.toss\n",
    }
    trees = {module: ast.parse(text) for module, text in planted.items()}
    assert unused(trees) == {"dpress.coins.planted", "dpress.coins.LOST", "dpress.table.Table"}
