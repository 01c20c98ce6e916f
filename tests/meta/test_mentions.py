"""What text names is there: every module, file, function and decision that docs, docstrings and records speak of."""

import ast
import functools
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpress

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "dpress"
ROOMS = sorted(path.name.removesuffix(".py") for path in SOURCE.iterdir() if not path.name.startswith("_"))
FOLDERS = sorted(path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
QUOTED = re.compile(r"`([^`\n]+)`")
DOTTED = re.compile(rf"(?:dpress\.)?(?:{'|'.join(ROOMS)})(?:\.[A-Za-z_]\w*)+")
LONG = re.compile(r"dpress(?:\.[A-Za-z_]\w*)+")
SLASHED = re.compile(r"(?:[\w.-]+/)+[\w-]+\.(?:py|js|mjs|ts|j2|yaml|yml|toml|md)")
DECISION = re.compile(r"[Dd]ecisions? (\d+)\b")
OF_RELEASES = r"release\.(kind|query|query_rectangles|tables|sql|age_\w+|records)"
OF_OBJECTS = re.compile(rf"{OF_RELEASES}|noise\.variance|\w+\.(json|sqlite)|dpress\.methods")


def texts() -> Iterator[tuple[str, str]]:
    """Yield where a text stands, and the text: pages, records, docstrings of the package."""
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").glob("*.yaml")]:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", text


def is_there(dotted: str) -> bool:
    """Return whether a dotted name is a module of the package, or something in one."""
    words = dotted.removeprefix("dpress.").split(".")
    for cut in range(len(words), 0, -1):
        path = SOURCE.joinpath(*words[:cut])
        if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
            return has(importlib.import_module(".".join(["dpress", *words[:cut]])), words[cut:])
    return has(dpress, words)


def has(value: object, words: list[str]) -> bool:
    """Return whether an object has an attribute of that name, that one the next, and so on."""
    try:
        functools.reduce(getattr, words, value)
    except AttributeError:
        return False
    return True


def is_a_file(slashed: str) -> bool:
    """Return whether a path is one below the root, the package, or some folder of it."""
    return any((folder / slashed).exists() for folder in (ROOT, SOURCE, ROOT / "docs", ROOT / "tests"))


def missing(text: str) -> list[str]:
    """Return what a text names that is not there."""
    names = []
    for quoted in QUOTED.findall(text):
        word = quoted.removesuffix("()")
        dotted = (DOTTED.fullmatch(word) or LONG.fullmatch(word)) and not OF_OBJECTS.fullmatch(word)
        path = SLASHED.fullmatch(word) and word.split("/")[0] in (*ROOMS, *FOLDERS)
        if (dotted and not is_there(word)) or (path and not is_a_file(word)):
            names.append(word)
    known = {int(path.name[:4]) for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md")}
    return names + [f"decision {number}" for number in DECISION.findall(text) if int(number) not in known]


def test_what_is_named_is_there() -> None:
    wrong = [f"{place}: {name}" for place, text in texts() for name in missing(text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "text",
    ["`core.basics.claims`", "`dpress.core.basics.claim.Clam`", "`core/basics/claims.py`", "`tests/meta/test_no.py`",
     "as decision 999 has it"],
)  # fmt: skip
def test_a_name_of_nothing_is_found(text: str) -> None:
    assert missing(text)
    assert not missing("`core.basics.claim`, `dpress.core.basics.claim.Claim`, `core/basics/claim.py`; decision 1")
