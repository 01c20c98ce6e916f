"""Every document's script in its quick form: its files, its lines, and that the documentation records what it finds."""

import csv
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "papers"
PAPERS = ("ranges", "joint", "spatial", "microdata")
GRID = re.compile(r"_\d+$")  # in a picture's name; a quick run has a coarser one
MISSED = 0.2  # of the claims may need settings that only the full run has
WRONG = {"spatial": (("gtr", "gtr_uniform_size_large"), ("gtr_top_down", "gtr_top_down_best_large"))}
"""Lines that hold, and no longer where the error of a method is twenty times as large."""
FEWEST = 0.5  # of the recorded verdicts of a document: as many at least must come out of a quick run, and be the same


def run(paper: str, out: Path, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "papers" / f"{paper}.py"), "--quick", "--out", str(out), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def decided(rows: list[dict[str, Any]], unknown: str) -> dict[tuple[str, str], str]:
    """Return the verdicts by claim and place of its axis, without those that were left open."""
    return {(row["key"], row.get("at", "")): row["judged"] for row in rows if row["judged"] != unknown}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_a_quick_run_finds_what_the_documentation_records(
    paper: str, papers: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    driver, claims, data = papers("driver"), papers("claims"), papers("data")
    own = papers(paper).PAPER
    every = own.claims()
    if not all(map(data.there, own.data)):
        pytest.skip("no reference data; set DPRESS_DATA to run this test")
    done = run(paper, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == len(every)
    for ending in ("png", "svg"):
        drawn = {f"{paper}_{GRID.sub('', path.stem)}" for path in tmp_path.glob(f"*.{ending}")}
        assert drawn >= {GRID.sub("", path.stem) for path in DOCS.glob(f"{paper}_*.svg")}

    rows, kept = driver.rows(tmp_path / "verdicts.csv"), driver.rows(DOCS / f"{paper}.csv")
    assert {row["key"] for row in kept} == {one.key for one in every}
    without = {row["key"] for row in rows if "value" not in row} - {one.key for one in every if one.blocked}
    assert len(without) <= MISSED * len(every), without
    found, recorded = (decided(one, claims.UNKNOWN) for one in (rows, kept))
    shared = found.keys() & recorded.keys()
    assert {key: found[key] for key in shared} == {key: recorded[key] for key in shared}
    assert len(shared) >= FEWEST * len(recorded), sorted(recorded.keys() - found.keys())

    tables = driver.read(tmp_path)
    again = driver.record([claims.judge(one, tables) for one in every])
    assert [{name: str(value) for name, value in row.items()} for row in again] == texts(tmp_path / "verdicts.csv")
    for method, key in WRONG.get(paper, ()):
        claim = next(one for one in every if one.key == key)
        assert claims.judge(claim, tables).kind == claims.HELD
        assert claims.judge(claim, worse(tables, method)).kind in {claims.NOT, claims.DEPENDS}, key


def texts(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def worse(tables: dict[str, list[dict[str, Any]]], method: str) -> dict[str, list[dict[str, Any]]]:
    """The tables with twenty times the error of one method."""
    columns = ("relative_error", "own_error")
    return {
        name: [
            row | {column: 20 * row[column] for column in columns if column in row}
            if method in {row.get("method"), row.get("own")}
            else row
            for row in rows
        ]
        for name, rows in tables.items()
    }


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("paper", ["spatial"])  # the others take their tables from the same module
def test_without_data_it_runs_on_stand_ins_and_decides_nothing_of_the_document(
    paper: str, papers: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    driver, claims = papers("driver"), papers("claims")
    done = run(paper, tmp_path, DPRESS_DATA=str(tmp_path / "nowhere"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "made-up stand-in" in done.stderr
    every = {one.key: one for one in papers(paper).PAPER.claims()}
    rows = driver.rows(tmp_path / "verdicts.csv")
    decided_of_document = {row["key"] for row in rows if row["judged"] != claims.UNKNOWN} & {
        key for key, one in every.items() if one.whose == "document" and one.data
    }
    assert not decided_of_document
