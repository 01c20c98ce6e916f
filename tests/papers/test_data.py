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


LINE = "39, State-gov, 7, Bachelors, 13, Single, ?, Husband, White, Male, 0, 0, 40, Cuba, <=50K\n"
NLTCS = {f"nltcs.{part}.data": b"0,1," * 7 + b"0,1\n" for part in ("train", "valid", "test")}
CHECKINS = "loc-gowalla_totalCheckins.txt.gz"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (NLTCS | {"nltcs.test.data": b"0,1,300\n"}, "nltcs.test.data: expected lines of 16 bits"),
        (NLTCS | {"nltcs.valid.data": b""}, "nltcs.valid.data: expected lines of 16 bits"),
        ({"nltcs.train.data": b"0,1\n"}, "there is no nltcs.valid.data in FOLDER, beside the other files"),
        ({"adult.data": LINE.encode()}, "there is no adult.test in FOLDER, beside the other files"),
        ({"adult.data": b"39, secret\n", "adult.test": b""}, "adult.data: line 1: expected 15 fields, got 2"),
        ({"adult.data": LINE.replace("39", "secret").encode(), "adult.test": b""}, "line 1: expected a number as age"),
        ({"adult.data": LINE.encode(), "adult.test": b"|x\n"}, "adult.test: expected lines of 15 fields, got none"),
        ({"adult.data": b"\xff, secret\n", "adult.test": b""}, "adult.data: expected lines of text in UTF-8"),
        ({CHECKINS: b"secret"}, f"{CHECKINS}: expected lines of user, time"),
        ({CHECKINS: gzip.compress(b"0\t2010\t1\t1\tsecret\n")}, f"{CHECKINS}: expected lines of user, time"),
        ({CHECKINS: gzip.compress(b"0\t2010\t1\t1\t1\n")[:-6]}, f"{CHECKINS}: expected lines of user, time"),
        ({CHECKINS: gzip.compress(b"0\t2010\t404\t0\t1\n")}, "gowalla: no row of the original is to be kept"),
        ({"trips.csv": b"a,b\n1,2\n"}, "trips.csv: expected a table with the columns pickup_longitude"),
        ({"trips.csv": b"pickup_longitude,pickup_latitude\nsecret,2\n"}, "trips.csv: expected a table"),
        ({"trips.parquet": b"secret"}, "trips.parquet: expected a table"),
        ({"adult_hierarchy_race.csv": b"White\n"}, "adult_hierarchy_race.csv: expected a CSV"),
        ({}, "no original in FOLDER; `make data` lists their names"),
    ],
)
def test_a_broken_original_is_told_in_one_line_and_leaves_no_file(
    sets: ModuleType, files: dict[str, bytes], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets, "FOLDER", tmp_path / "data")
    folder = tmp_path / "downloads"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    done, (line,) = sets.every(folder)
    assert done == []
    assert told.replace("FOLDER", str(folder)) in line
    assert "\n" not in line
    assert "secret" not in line
    assert not [path for path in tmp_path.rglob("data/**/*") if path.is_file()]


def test_a_full_disk_leaves_no_file_that_looks_whole(
    sets: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(_: pa.Table, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError("no space")

    monkeypatch.setattr(sets, "FOLDER", tmp_path / "data")
    monkeypatch.setattr(sets.pq, "write_table", half)
    for name, content in NLTCS.items():
        (tmp_path / name).write_bytes(content)
    assert sets.every(tmp_path) == ([], ["no space"])
    assert not sets.there("nltcs")


def test_adult_without_its_hierarchies_is_not_there(
    sets: ModuleType, originals: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codes of real people in made-up hierarchies would mean nothing."""
    monkeypatch.setattr(sets, "FOLDER", tmp_path / "data")
    for name in ("adult.data", "adult.test"):
        (tmp_path / name).write_text(LINE)
    sets.every(tmp_path)
    assert (sets.FOLDER / "adult" / "adult.parquet").is_file()
    assert not sets.there("adult")
    assert sets.missing("adult").startswith(f"there is no {sets.FOLDER / sets.HIERARCHIES / 'age.csv'};")
    assert sets.table("adult")["race"][0].as_py().startswith("race ")
    for original in originals.HIERARCHIES.values():
        (tmp_path / f"adult_hierarchy_{original}.csv").write_text("White;*\n")
    assert sum(line.endswith("as ARX has it") for line in sets.every(tmp_path)[0]) == len(originals.HIERARCHIES)
    assert sets.there("adult")
    assert sets.table("adult")["race"][0].as_py() == "White"
    assert sets.hierarchy.__wrapped__("race") == (("White", "*"),)


@pytest.mark.slow
def test_the_command_explains_and_converts(tmp_path: Path) -> None:
    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(PAPERS / "data.py"), *more]
        environment = {"DPRESS_DATA": str(tmp_path / "data"), "PYTHONPATH": str(PAPERS.parent / "src")}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    shown = run()
    assert shown.returncode == 0, shown.stderr
    for word in ("licence", "doi.org/10.24432/C5XW20", "columns", "loc-gowalla_totalCheckins.txt.gz", "DPRESS_DATA"):
        assert word in shown.stdout
    for folder, told in ((tmp_path, "no original in"), (tmp_path / "nope", "there is no folder")):
        refused = run("--from", str(folder))
        assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
        assert told in refused.stderr
    for name in ("train", "valid", "test"):
        (tmp_path / f"nltcs.{name}.data").write_text(",".join("01" * 8) + "\n")
    done = run("--from", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "data" / "nltcs" / "nltcs.parquet").num_rows == 3
    assert "exists already" in run("--from", str(tmp_path)).stdout
