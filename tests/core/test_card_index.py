"""The index of cards: kept while no file changes, made anew where one does, and never half of one."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpress.core.methods.card_index import NAME, Entry, kept, stamp

ENTRY = Entry(name="a", family="f", model="central", paper="p", published=None, proven="epsilon", makes=("strategy",))
OTHER = Entry(name="b", family="f", model="local", paper="p", published="epsilon", proven=None, makes=())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one file, whose index may be written."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "mechanisms").mkdir()
    (tmp_path / "mechanisms" / "a.py").write_text("x = 1\n")
    assert kept(tmp_path, [], lambda: [ENTRY]) == (ENTRY,)
    return tmp_path


def never() -> list[Entry]:
    raise AssertionError("the methods were imported")


def test_it_is_read_while_no_file_changes(package: Path) -> None:
    assert kept(package, [], never) == (ENTRY,)


@pytest.mark.parametrize("change", ["longer", "new", "gone"])
def test_a_file_that_changes_makes_it_anew(package: Path, change: str) -> None:
    before, path = stamp([str(package)]), package / "mechanisms" / "a.py"
    if change == "gone":
        path.unlink()
    else:
        (path if change == "longer" else path.with_name("b.py")).write_text("x = 1000\n")
    assert stamp([str(package)]) != before
    assert kept(package, [], lambda: [ENTRY, OTHER]) == (ENTRY, OTHER)
    assert kept(package, [], never) == (ENTRY, OTHER)


def test_a_method_of_another_folder_makes_it_anew(package: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "b.py").write_text("x = 1\n")
    assert kept(package, [str(outside)], lambda: [ENTRY, OTHER]) == (ENTRY, OTHER)


def test_other_words_make_it_anew(package: Path) -> None:
    assert kept(package, [], lambda: [OTHER], words=["b acme.b"]) == (OTHER,)
    assert kept(package, [], never, words=["b acme.b"]) == (OTHER,)
    assert kept(package, [], lambda: [ENTRY]) == (ENTRY,)


def test_a_fault_is_not_kept_for_it_may_lie_elsewhere(package: Path) -> None:
    broken = replace(OTHER, fault="b of acme: no module torch")
    assert kept(package, [], lambda: [ENTRY, broken], words=["b"]) == (ENTRY, broken)
    assert kept(package, [], lambda: [ENTRY, OTHER], words=["b"]) == (ENTRY, OTHER)


def test_files_that_cannot_be_looked_at_are_passed_over(package: Path) -> None:
    before = stamp([str(package)])
    (package / ".#a.py").symlink_to(package / "nowhere.py")  # as an editor locks a file
    assert stamp([str(package)]) == before


@pytest.mark.parametrize("content", ["", "{", '{"stamp": 1}', "[]", "half"])
def test_half_of_one_is_made_anew(package: Path, content: str) -> None:
    path = package / "__pycache__" / NAME
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2] if content == "half" else content)
    assert kept(package, [], lambda: [OTHER]) == (OTHER,)
    assert json.loads(path.read_text())["stamp"] == stamp([str(package)])


def test_where_no_compiled_code_is_kept_no_index_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert kept(tmp_path, [], lambda: [ENTRY]) == (ENTRY,)
    assert list(tmp_path.iterdir()) == []


def test_where_it_cannot_be_written_it_is_made(package: Path) -> None:
    folder = package / "__pycache__"
    (folder / NAME).unlink()
    folder.rmdir()
    folder.write_text("no folder")
    assert kept(package, [], lambda: [OTHER]) == (OTHER,)
    assert folder.read_text() == "no folder"
