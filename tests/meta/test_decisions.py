"""A decision is ten lines beside its title, stands in the index once, and its long proof is a page that links back."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
PROOFS = ROOT / "docs" / "explanations" / "proofs"
LINES = 10
WIDTH = 160
RECORD = "# 1. A title\n\nWhat was decided, and why.\n"
INDEX = "# Decisions\n\n## House\n\n- 1: [A title](0001-a-title.md)\n"


def lines_of(record: str) -> int:
    """Return how many lines of WIDTH characters a record has below its title; a paragraph is one line of its file."""
    _, _, body = record.partition("\n")
    return sum(-(-len(line) // WIDTH) for line in body.splitlines())


def faults(folder: Path) -> list[str]:
    """Return what is wrong with a folder of records and their index."""
    records = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("[0-9]*.md"))}
    numbers = [int(name[:4]) for name in records]
    wrong = [f"{name}: {lines_of(text)} lines" for name, text in records.items() if lines_of(text) > LINES]
    wrong += [f"{name}: no title" for name, text in records.items() if not text.startswith(f"# {int(name[:4])}. ")]
    wrong += [] if numbers == list(range(1, len(numbers) + 1)) else [f"numbers {numbers}"]
    index = (folder / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- (\d+): \[.+\]\((.+?)\)", index, re.MULTILINE)
    wrong += [f"index: {name} as {number}" for number, name in listed if f"{int(number):04d}" != name[:4]]
    counts = Counter(re.findall(r"\]\((\d{4}-.+?)\)", index))
    return wrong + [f"index: {name}" for name in {*records, *counts} if counts[name] != 1 or name not in records]


def links(folder: Path, of: str) -> set[tuple[str, str]]:
    """Return (page, page of the folder `of` that it links to) of all pages of a folder."""
    pattern = re.compile(rf"\]\([./a-z]*{of}/([\w-]+\.md)(?:#[\w-]+)?\)")
    pages = [path for path in folder.glob("*.md") if path.name != "index.md"]
    return {(path.name, name) for path in pages for name in pattern.findall(path.read_text(encoding="utf-8"))}


def test_records_are_short_numbered_and_each_in_the_index_once() -> None:
    assert faults(DECISIONS) == []


def test_a_long_proof_and_its_records_link_to_each_other() -> None:
    there = links(DECISIONS, "proofs")
    named = {(name, page) for page, name in links(PROOFS, "decisions")}
    assert {page for _, page in there} == {path.name for path in PROOFS.glob("*.md")}
    assert there <= named


@pytest.mark.parametrize(
    ("record", "index"),
    [
        (RECORD + "\n" + "x" * WIDTH * LINES, INDEX),
        (RECORD + "\n- a line\n" * LINES, INDEX),
        (RECORD.removeprefix("# 1. "), INDEX),
        (RECORD, "# Decisions\n"),
        (RECORD, INDEX + "- 1: [A title](0001-a-title.md)\n"),
        (RECORD, INDEX + "- 2: [Another](0002-another.md)\n"),
        (RECORD, INDEX.replace("- 1:", "- 2:")),
    ],
    ids=["long", "many lines", "no title", "not in the index", "twice", "no record", "wrong number"],
)
def test_a_planted_fault_is_found(tmp_path: Path, record: str, index: str) -> None:
    for text, page, fault in [(RECORD, INDEX, False), (record, index, True)]:
        (tmp_path / "0001-a-title.md").write_text(text, encoding="utf-8")
        (tmp_path / "index.md").write_text(page, encoding="utf-8")
        assert bool(faults(tmp_path)) == fault


def test_a_gap_is_found(tmp_path: Path) -> None:
    (tmp_path / "0002-a-title.md").write_text(RECORD.replace("1.", "2."), encoding="utf-8")
    (tmp_path / "index.md").write_text(INDEX.replace("- 1:", "- 2:").replace("0001", "0002"), encoding="utf-8")
    assert faults(tmp_path) == ["numbers [2]"]
