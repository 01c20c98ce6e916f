"""`dpress estimate` of a folder and of a pattern; what is wrong with one file is one line, and nothing is written."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress.cli.main import main

SECRET = "4711-secret"
SPEC = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 9]
[privacy]
model = "local"
epsilon = 2.0
[release]
kind = "histogram"
method = "krr"
"""


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    """A folder with a specification and three files of 100 reports; runs a command in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SPEC)
    (tmp_path / "reports").mkdir()
    pq.write_table(pa.table({"age": [row % 10 for row in range(100)]}), "people.parquet")
    for day in ("mon", "tue", "wed"):
        main_ok("perturb", "s.toml", "--data", "people.parquet", "--out", f"reports/{day}.parquet", "--quiet")
    capsys.readouterr()
    return tmp_path


def main_ok(*words):
    """A refusal would leave by SystemExit, and fail the test."""
    main(list(words))


@pytest.mark.parametrize(
    ("reports", "users"), [("reports", 300), ("reports/*.parquet", 300), ("reports/?[ou]?.parquet", 200)]
)
def test_a_folder_or_a_pattern(here, capsys, reports, users):
    del here
    main_ok("estimate", "s.toml", "--reports", reports, "--out", "out", "--json", "--quiet")
    assert json.loads(capsys.readouterr().out)["rejected"] == {}
    main_ok("query", "out", "total", "--json")
    assert json.loads(capsys.readouterr().out)[0]["value"] == users


def test_a_copy_of_a_file_counts_once(here, capsys):
    (here / "reports" / "copy.parquet").write_bytes((here / "reports" / "tue.parquet").read_bytes())
    main_ok("estimate", "s.toml", "--reports", "reports", "--out", "out", "--json", "--quiet")
    assert json.loads(capsys.readouterr().out)["rejected"] == {"repeated": 100}


def truncated(place):
    path = place / "reports" / "tue.parquet"
    path.write_bytes(path.read_bytes()[:-20])


def text(place):
    (place / "reports" / "notes.txt").write_text(SECRET)


def other_columns(place):
    pq.write_table(pa.table({"name": [SECRET]}), place / "reports" / "tue.parquet")


def emptied(place):
    for path in (place / "reports").iterdir():
        path.rename(path.with_name(f"_{path.name}"))


@pytest.mark.parametrize(
    ("change", "reports", "line"),
    [
        (truncated, "reports", "reports/tue.parquet is truncated or no Parquet file; ask for the file again"),
        (text, "reports", "reports/notes.txt is truncated or no Parquet file; ask for the file again"),
        (other_columns, "reports", "reports/tue.parquet is no file of reports: it needs a column version (uint8)"),
        (emptied, "reports", "the folder reports holds no file of reports (hidden ones and those with _ do not count)"),
        (None, "reports/*.csv", "there is no file reports/*.csv, as a name or as a pattern"),
        (None, "none", "there is no file none"),
    ],
)
def test_refusals(here, capsys, change, reports, line):
    if change is not None:
        change(here)
    with pytest.raises(SystemExit) as caught:
        main(["estimate", "s.toml", "--reports", reports, "--out", "out", "--quiet"])
    assert caught.value.code == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"dpress: {line}\n")
    assert not [path for path in here.iterdir() if re.search("out", path.name)]
