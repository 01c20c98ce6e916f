"""Originals of the documents' data become the files that the scripts read, and stand-ins have their form."""

import csv
import gzip
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PAPERS = Path(__file__).parents[2] / "papers"
UNUSED = {"age", "fnlwgt", "capital_gain", "capital_loss", "hours_per_week"}
"""No document's script reads these codes; the reference file begins every bin one unit later."""


@pytest.fixture(scope="module")
def sets(papers: Any) -> ModuleType:
    return papers("data")


@pytest.fixture(scope="module")
def originals(papers: Any) -> ModuleType:
    return papers("originals")


def as_uci(rows: pa.Table, folder: Path) -> None:
    """Write rows of Adult as the UCI repository has them."""
    for part, file, first, end in (
        ("train", "adult.data", "", ""),
        ("test", "adult.test", "|1x3 Cross validator\n", "."),
    ):
        own = rows.filter(pa.compute.equal(rows["split"].cast(pa.string()), part)).drop_columns("split").to_pylist()
        lines = [", ".join("?" if one is None else str(one) for one in row.values()) + end for row in own]
        (folder / file).write_text(first + "\n".join(lines) + "\n\n")


def test_adult_is_read_as_uci_writes_it(originals: ModuleType, tmp_path: Path) -> None:
    line = "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, 40, Cuba, <=50K"
    (tmp_path / "adult.data").write_text(line + "\n\n")
    (tmp_path / "adult.test").write_text(f"|1x3 Cross validator\n{line.replace('39', '50')}.\n")
    rows = originals.adult(tmp_path).to_pylist()
    assert [(row["age"], row["occupation"], row["income"], row["split"]) for row in rows] == [
        (39, None, "<=50K", "train"),
        (50, None, "<=50K", "test"),
    ]
    (tmp_path / "adult.data").write_text("39, State-gov\n")
    with pytest.raises(ValueError, match=r"adult\.data: line 1: expected 15 fields, got 2"):
        originals.adult(tmp_path)


@pytest.mark.slow
def test_the_originals_of_adult_give_the_files_that_are_used(
    sets: ModuleType, originals: ModuleType, tmp_path: Path
) -> None:
    if not (sets.there("adult") and sets.there("adult_codes")):
        pytest.skip("no reference data; set DPRESS_DATA to run this test")
    as_uci(sets.table("adult"), tmp_path)
    made, codes = originals.adult(tmp_path), originals.adult_codes(tmp_path)
    for found, name in ((made, "adult"), (codes, "adult_codes")):
        wanted = sets.table(name)
        assert found.column_names == wanted.column_names
        for column in wanted.column_names:
            if name == "adult_codes" and column in UNUSED:
                away = found[column].to_numpy().astype(int) - wanted[column].to_numpy()
                assert np.abs(away).max() <= 1, column
            else:
                assert found[column].to_pylist() == wanted[column].to_pylist(), column


def test_nltcs_is_read_in_its_three_parts(originals: ModuleType, tmp_path: Path) -> None:
    for name, bit in (("train", 0), ("valid", 1), ("test", 1)):
        (tmp_path / f"nltcs.{name}.data").write_text(",".join([str(bit)] * 16) + "\n")
    rows = originals.nltcs(tmp_path)
    assert rows["x15"].to_pylist() == [0, 1, 1]
    assert rows["split"].to_pylist() == ["train", "valid", "test"]
    (tmp_path / "nltcs.test.data").write_text("0,1,2\n")
    with pytest.raises(ValueError, match="expected lines of 16 bits"):
        originals.nltcs(tmp_path)


def test_gowalla_is_thinned_evenly_and_impossible_places_go(
    originals: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"{user}\t2010-10-19T23:55:27Z\t{user / 10}\t-97.{user:02d}\t{user + 5}\n" for user in range(100)]
    lines.append("7\t2010-10-19T23:55:27Z\t404\t0\t1\n")
    with gzip.open(tmp_path / "loc-gowalla_totalCheckins.txt.gz", "wt") as file:
        file.writelines(lines)
    monkeypatch.setattr(originals, "MOST", 34)
    rows = originals.gowalla(tmp_path)
    assert rows["uid"].to_pylist() == list(range(0, 100, 3))
    assert rows["lid"].to_pylist() == [user + 5 for user in range(0, 100, 3)]


def test_pick_ups_out_of_new_york_go(originals: ModuleType, tmp_path: Path) -> None:
    with (tmp_path / "trips.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["vendor", "pickup_longitude", "pickup_latitude"], ["1", -73.9, 40.7], ["2", 0, 0], ["1", -74.0, 40.8]]
        )
    assert originals.nyc_taxi(tmp_path).select(["lon", "lat"]).to_pylist() == [
        {"lon": -73.9, "lat": 40.7},
        {"lon": -74.0, "lat": 40.8},
    ]


@pytest.mark.parametrize("name", ["nltcs", "adult", "adult_codes", "gowalla", "nyc_taxi"])
def test_a_stand_in_has_the_columns_and_is_always_the_same(
    sets: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sets.SETS[name].made_up()
    assert made.equals(sets.SETS[name].made_up())
    if sets.there(name):
        real = sets.table(name).schema
        assert made.column_names == real.names
        for column in real.names:
            numbers = [pa.types.is_integer(one.field(column).type) for one in (made.schema, real)]
            assert numbers[0] == numbers[1], column
    monkeypatch.setattr(sets, "FOLDER", Path("nowhere"))
    assert not sets.there(name)
    assert sets.table(name, made.column_names[:2]).equals(made.select(made.column_names[:2]))
    assert "says where" in sets.missing(name)


def test_the_command_explains_and_converts(tmp_path: Path) -> None:
    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(PAPERS / "data.py"), *more]
        environment = {"DPRESS_DATA": str(tmp_path / "data"), "PYTHONPATH": str(PAPERS.parent / "src")}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    shown = run()
    assert shown.returncode == 0, shown.stderr
    for word in ("licence", "doi.org/10.24432/C5XW20", "columns", "loc-gowalla_totalCheckins.txt.gz", "DPRESS_DATA"):
        assert word in shown.stdout
    assert run("--from", str(tmp_path)).returncode == 1
    for name in ("train", "valid", "test"):
        (tmp_path / f"nltcs.{name}.data").write_text(",".join("01" * 8) + "\n")
    done = run("--from", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "data" / "nltcs" / "nltcs.parquet").num_rows == 3
    assert "exists already" in run("--from", str(tmp_path)).stdout
