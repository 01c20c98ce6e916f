"""Names say what a thing is, in the terms of statistics; files have names of their own; imports stay shallow."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "dpress"
MODULES = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in sorted(SOURCE.rglob("*.py"))}

BANNED = {
    "lot": "user group, sampling weight, at random",
    "question": "report type, query",
    "crowd": "particles",
    "told": "given, known",
    "said": "stated",
    "worth": "contribution, cost",
    "freedom": "degrees of freedom",
    "drawn toward": "shrunk toward",
    "beyond the noise": "significant",
    "stands for noise": "simulated noise",
}
WORD = re.compile(rf"(?<!degrees of )(?<!degree of )\b({'|'.join(BANNED)})s?\b", re.IGNORECASE)
ALLOWED: dict[tuple[str, str], str] = {}  # (module, word): the reason
DEPTH = 14
"""Modules in the longest chain of imports: what a reader must know at most to read one file."""
FEWEST_WORDS = 4


def names(tree: ast.Module) -> Iterator[str]:
    """Yield every name that a module defines or uses, in words."""
    for node in ast.walk(tree):
        found = [getattr(node, field, None) for field in ("name", "id", "attr", "arg", "asname")]
        yield from (re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name) for name in found if isinstance(name, str))


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield every text that stands alone: docstrings of modules, classes, functions and constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield " ".join(node.value.value.split())


def banned(text: str) -> set[str]:
    """Return the banned words of a module's names and docstrings."""
    tree = ast.parse(text)
    return {found[1].lower() for part in (*names(tree), *docstrings(tree)) for found in WORD.finditer(part)}


def repeated(paths: list[str]) -> set[str]:
    """Return the file names that stand twice, but for what rooms and commands repeat by design."""
    own = [
        path
        for path in paths
        if not re.match(r"(kinds|attributes)/\w+/|cli/", path) and not path.endswith("__init__.py")
    ]
    stems = [Path(path).name for path in own]
    return {name for name in stems if stems.count(name) > 1}


def first_line_is_plain(text: str) -> bool:
    """Return whether a module's docstring begins with a line that is a sentence."""
    first = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    return first.endswith((".", ":")) and len(first.split()) >= FEWEST_WORDS


def dotted(path: str) -> str:
    return "dpress" + "".join(f".{part}" for part in path.removesuffix(".py").split("/") if part != "__init__")


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that run when a module is imported: none in functions, none for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        hidden = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if not hidden and not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            yield child
            yield from at_import(child)


def imports(modules: Mapping[str, str]) -> dict[str, set[str]]:
    """Return for every module those of the same package that it imports when it is imported."""
    own = {dotted(path): text for path, text in modules.items()}
    found: dict[str, set[str]] = {name: set() for name in own}
    for name, text in own.items():
        for node in at_import(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module:
                wanted = [(f"{node.module}.{alias.name}", node.module) for alias in node.names]
                found[name] |= {inner if inner in own else outer for inner, outer in wanted}
            elif isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names}
        found[name] &= own.keys() - {name}
    return found


def longest(graph: Mapping[str, set[str]]) -> list[str]:
    """Return the longest chain of imports.

    Raises:
        ValueError: imports go in a circle.
    """
    open_ = list[str]()

    @cache
    def chain(name: str) -> tuple[str, ...]:
        if name in open_:
            raise ValueError(f"imports go in a circle: {' -> '.join([*open_[open_.index(name) :], name])}")
        open_.append(name)
        below = max((chain(one) for one in sorted(graph[name])), key=len, default=())
        open_.pop()
        return (name, *below)

    return list(max((chain(name) for name in graph), key=len))


def test_words_are_those_of_the_field() -> None:
    found = {(path, word) for path, text in MODULES.items() for word in banned(text)}
    assert found - ALLOWED.keys() == set()
    assert ALLOWED.keys() - found == set()  # no exception that nothing needs


@pytest.mark.parametrize(
    "text",
    [
        "lots = 3\n",
        "class Crowd:\n    pass\n",
        "def ask(question_of: int) -> None:\n    pass\n",
        "x.freedom\n",
        '"""Shares that are drawn\ntoward the mean."""\n',
        'x = 1\n"""Is this worth it."""\n',
        'def f() -> None:\n    """Noise that stands for noise."""\n',
    ],
)
def test_a_banned_word_is_found(text: str) -> None:
    assert banned(text)


@pytest.mark.parametrize("text", ["degrees_of_freedom = 1\n", "slot = plot = 1\n", '"""Degrees of freedom."""\n'])
def test_a_word_that_only_looks_like_one_is_none(text: str) -> None:
    assert not banned(text)


def test_one_file_name_stands_for_one_thing() -> None:
    assert repeated([*MODULES]) == set()
    assert repeated(["core/basics/bits.py", "noise/bits.py"]) == {"bits.py"}
    assert repeated(["kinds/joint/page.py", "kinds/tables/page.py", "cli/plan.py", "release/plan/plan.py"]) == set()


def test_every_module_begins_with_a_plain_line() -> None:
    assert [path for path, text in MODULES.items() if not first_line_is_plain(text)] == []
    assert not first_line_is_plain('"""The rows."""\n')
    assert not first_line_is_plain('"""A first line that goes on\nin the next one."""\n')
    assert not first_line_is_plain("x = 1\n")


def test_imports_are_shallow_and_go_one_way() -> None:
    found = longest(imports(MODULES))
    assert len(found) <= DEPTH, " -> ".join(found)


def test_a_deeper_chain_and_a_circle_are_found() -> None:
    last = longest(imports(MODULES))[0]
    outer, inner = {f"added_{number}.py" for number in range(2)}, "dpress.added_0"
    deeper = {
        "added_0.py": f"from {last} import anything\n",
        "added_1.py": f"def f():\n    import {inner}\nimport {inner}",
    }
    assert len(longest(imports(MODULES | deeper))) == len(longest(imports(MODULES))) + len(outer)
    lazy = {"a.py": "from dpress import b\n", "b.py": "def f():\n    from dpress import a\n"}
    assert longest(imports(lazy)) == ["dpress.a", "dpress.b"]
    typed = lazy | {"b.py": "if TYPE_CHECKING:\n    from dpress import a\n"}
    assert longest(imports(typed)) == ["dpress.a", "dpress.b"]
    with pytest.raises(ValueError, match=r"circle: dpress\.a -> dpress\.b -> dpress\.a"):
        longest(imports(lazy | {"b.py": "from dpress.a import anything\n"}))
