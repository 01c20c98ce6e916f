"""Every document's script in its quick form: its files, its lines, and that the documentation records what it finds."""

import os
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
FEWEST = 0.5  # of the recorded verdicts of a document: as many at least must come out of a quick run, and be the same


def run(paper: str, out: Path, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "papers" / f"{paper}.py"), "--quick", "--out", str(out), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def decided(rows: list[dict[str, Any]], unknown: str) -> dict[tuple[str, str], str]:
    """Return the verdicts by claim and place of its axis, without those that were left open."""
    return {(row["key"], row["at"]): row["judged"] for row in rows if row["judged"] != unknown}


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_a_quick_run_finds_what_the_documentation_records(
    paper: str, papers: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    driver, claims, data = papers("driver"), papers("claims"), papers("data")
    own = papers(paper).PAPER
    if not all(map(data.there, own.data)):
        pytest.skip("no reference data; set DPRESS_DATA to run this test")
    done = run(paper, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = driver.rows(tmp_path / "verdicts.csv")
    assert len(done.stdout.splitlines()) == len(own.claims())
    assert list(tmp_path.glob("*.png"))
    found, recorded = (decided(one, claims.UNKNOWN) for one in (rows, driver.rows(DOCS / f"{paper}.csv")))
    shared = found.keys() & recorded.keys()
    assert len(shared) >= FEWEST * len(recorded), sorted(recorded.keys() - found.keys())
    assert {key: found[key] for key in shared} == {key: recorded[key] for key in shared}
    assert {one.key for one in own.claims()} == {row["key"] for row in driver.rows(DOCS / f"{paper}.csv")}


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["joint", "spatial", "microdata"])
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
