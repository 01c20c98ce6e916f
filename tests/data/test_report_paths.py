"""Which files a folder, a pattern or a list stands for, and in which order."""

import os
import re

import pytest

from dpress.data.reports.report_paths import files_of

NAMES = ["b.parquet", "a/2.parquet", "a/10.parquet", "a.parquet", "c/d/e/1.parquet", "c/f"]
LEFT_OUT = ["_SUCCESS", ".b.parquet.crc", "_temporary/0/1.parquet", ".hidden/1.parquet", "c/_metadata", "c/.x"]


@pytest.fixture
def folder(tmp_path):
    for name in (*NAMES, *LEFT_OUT):
        path = tmp_path / "_all" / name  # what stands above the folder does not matter
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "_all"


def names(folder, reports):
    return [path.relative_to(folder).as_posix() for path in files_of(reports)]


def test_a_folder_by_name_with_its_subfolders(folder):
    expected = ["a/10.parquet", "a/2.parquet", "a.parquet", "b.parquet", "c/d/e/1.parquet", "c/f"]
    assert names(folder, folder) == names(folder, str(folder)) == names(folder, f"{folder}/") == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.parquet", ["a.parquet", "b.parquet"]),
        ("*/*.parquet", ["a/10.parquet", "a/2.parquet"]),
        ("a/?.parquet", ["a/2.parquet"]),
        ("[bc].parquet", ["b.parquet"]),
        ("**/1*.parquet", ["a/10.parquet", "c/d/e/1.parquet"]),
        ("*", ["a.parquet", "b.parquet"]),
    ],
)
def test_a_pattern(folder, pattern, expected):
    assert names(folder, str(folder / pattern)) == names(folder, folder / pattern) == expected


def test_a_list_keeps_its_order(folder):
    assert names(folder, [folder / "b.parquet", str(folder / "a")]) == ["b.parquet", "a/10.parquet", "a/2.parquet"]
    assert names(folder, folder / "_SUCCESS") == ["_SUCCESS"]  # by its own name


def test_nothing_there(folder, tmp_path):
    (tmp_path / "empty" / "_only").mkdir(parents=True)
    refusals = {
        folder / "none.parquet": "there is no file {}",
        folder / "*.csv": "there is no file {}, as a name or as a pattern",
        tmp_path / "empty": "the folder {} holds no file of reports (hidden ones and those with _ do not count)",
    }
    for reports, line in refusals.items():
        with pytest.raises(OSError, match=f"^{re.escape(line.format(reports))}$"):
            files_of(reports)
    with pytest.raises(OSError, match=r"^there are no files of reports: the list is empty$"):
        files_of([])


def test_a_folder_that_may_not_be_read(folder, monkeypatch):
    """A file in it would be missed without a word."""
    walk = os.walk

    def refused(place, onerror):
        onerror(PermissionError(13, "Permission denied", str(folder / "a")))
        return walk(place)

    monkeypatch.setattr("dpress.data.reports.report_paths.os.walk", refused)
    with pytest.raises(OSError, match="Permission denied"):
        files_of(folder)
