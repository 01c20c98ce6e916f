"""No file of the rooms that serve every kind names one: what is of a single kind stands in `kinds`.

A word such as "tables" or "names" may be a key or a column of anything; it names a kind where something is compared
with it, where it is given as a `kind`, where a list has no other words, or where a text writes `kind = "..."`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpress
from dpress import catalog

ROOT = Path(dpress.__file__).parent
SERVING = ("release", "reporting", "service", "cli", "studio")
WORDS = {*catalog.kinds(), *(name for card in catalog.kinds().values() for name in card.names)}
WRITTEN = re.compile(rf'kind = \\?"(?:{"|".join(sorted(WORDS))})\\?"')
SCRIPT = re.compile(rf'(?:[!=]==?|kind:|case) ?"(?:{"|".join(sorted(WORDS - {"strings"}))})"')  # as a column is called
DEMOS = {"cli/demo.py", "service/demo_collection.py"}  # specifications to try dpress with


def words_of(node: ast.AST | None) -> list[str]:
    """Return the words of a constant, or of a list of nothing but constants."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and node.elts:
        found = [words_of(one) for one in node.elts]
        return [word for words in found for word in words] if all(found) else []
    return []


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """Return the texts that stand alone; their examples may be of any kind."""
    return {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def places(tree: ast.AST) -> Iterator[ast.AST | None]:
    """Yield what stands where a kind would be named."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                yield from (node.left, *node.comparators)
            case ast.MatchValue() | ast.keyword(arg="kind") | ast.AnnAssign(target=ast.Name(id="kind")):
                yield node.value
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                yield from (value for key, value in pairs if "kind" in words_of(key))
            case ast.Call(func=ast.Attribute(attr="kind" | "room" | "part")):
                yield from node.args[:1]
            case ast.Tuple() | ast.List() | ast.Set() if len(node.elts) > 1 and WORDS.issuperset(words_of(node)):
                yield node


def kinds_named(text: str) -> set[str]:
    """Return the kinds that a module names."""
    tree = ast.parse(text)
    found = {word for node in places(tree) for word in words_of(node) if word in WORDS}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    alone = docstrings(tree)
    found |= {match for node in texts if node not in alone for match in WRITTEN.findall(str(node.value))}
    return found | {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and "dpress.kinds" in (node.module or "")
    }


def test_no_file_that_serves_every_kind_names_one() -> None:
    paths = {path.relative_to(ROOT).as_posix(): path for room in SERVING for path in (ROOT / room).rglob("*.py")}
    found = {name: kinds_named(path.read_text("utf-8")) for name, path in paths.items()}
    assert len(found) > 100
    assert {name: words for name, words in found.items() if words and name not in DEMOS} == {}
    assert {name for name in DEMOS if found[name]} == DEMOS  # no exception that nothing needs


def test_no_script_of_the_studio_and_the_service_names_one() -> None:
    paths = [path for room in SERVING for path in (ROOT / room).rglob("*.js") if "client" not in path.parts]
    assert len(paths) > 5
    assert {path.name: found for path in paths if (found := SCRIPT.findall(path.read_text("utf-8")))} == {}


@pytest.mark.parametrize(
    "text",
    [
        'if spec.release.kind == "names":\n    pass\n',
        'if kind in ("spatial", "joint"):\n    pass\n',
        'WITH_USERS = ("statistics", "spatial")\n',
        'match kind:\n    case "sets":\n        pass\n',
        'kind: str = "marginals"\n',
        'room = catalog.room("tables")\n',
        'offer(kind="microdata")\n',
        'release = {"kind": "ranges"}\n',
        "raise ValueError('set kind = \"strings\"')\n",
        "from dpress.kinds.joint.page import page\n",
    ],
)
def test_a_planted_kind_is_found(text: str) -> None:
    assert kinds_named(text)


@pytest.mark.parametrize(
    "text",
    [
        '"""An example: kind = "sets"."""\n',
        'page = {"tables": [], "names": 3}\n',
        'command("records")\n',
        'x = ("names", "rows")\n',
    ],
)
def test_a_word_that_only_looks_like_one_is_none(text: str) -> None:
    assert not kinds_named(text)


@pytest.mark.parametrize("line", ['if (own.kind === "marginals") {', 'add({ kind: "joint" })', 'case "sets":'])
def test_a_kind_planted_in_a_script_is_found(line: str) -> None:
    assert SCRIPT.search(line)
