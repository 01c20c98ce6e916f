"""A count of many parts that is killed goes on where it was, and never mixes rows of two times."""

import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress.data import kept_sums
from dpress.data.sources.parquet_rows import ParquetPart
from dpress.ledger.ledger import Ledger
from dpress.release.curator import unfinished
from dpress.release.curator.publish import publish
from dpress.release.curator.unfinished import place_of

FILES, ROWS, KILLED = 8, 1000, 5
HANGS = 1200  # seconds after which a program is taken to hang, on a machine however loaded
AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SPEC = {"attribute": [AGE], "privacy": {"epsilon": 1000}, "release": {"kind": "histogram"}}
PROGRAM = """
import os, signal, sys
import dpress
from dpress.data import kept_sums
from dpress.data.sources.parquet_rows import ParquetPart

kept_sums.SECONDS, kept_sums.SHARE = 0, 0
folder, spec, killed = sys.argv[1], eval(sys.argv[2]), int(sys.argv[3])
real, read = ParquetPart.batches, []

def batches(part):
    read.append(part)
    if len(read) == killed:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(part)

ParquetPart.batches = batches
dpress.publish(spec, f"{folder}/rows", out=f"{folder}/out")
"""


@pytest.fixture
def rows(tmp_path):
    """A folder of files, each of other counts."""
    place = tmp_path / "rows"
    place.mkdir()
    for number in range(FILES):
        ages = [row * row % (number + 2) for row in range(ROWS)]
        pq.write_table(pa.table({"age": ages}), place / f"{number}.parquet")
    return place


@pytest.fixture
def killed(rows):
    """What is kept of a release whose count was killed in a process of its own."""
    tmp_path = rows.parent
    words = [sys.executable, "-c", PROGRAM, str(tmp_path), repr(SPEC), str(KILLED)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=HANGS)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (tmp_path / "out").exists()
    return place_of(tmp_path / "out")


@pytest.fixture
def read(monkeypatch):
    """The parts that this process reads."""
    parts, real = [], ParquetPart.batches

    def batches(part):
        parts.append(part)
        return real(part)

    monkeypatch.setattr(ParquetPart, "batches", batches)
    return parts


def truth(rows):
    table = pq.read_table(rows)["age"].to_pylist()
    return [table.count(age) for age in range(10)]


def test_a_killed_count_goes_on_with_what_is_left_and_gives_the_same_counts(tmp_path, rows, killed, read):
    assert killed.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in killed.iterdir()} == {0o600}
    assert {path.name for path in killed.iterdir()} == {"PRIVATE.txt", "begun.json", "design.json", "sums-1.npz"}
    counted = []
    release = publish(SPEC, rows, out=tmp_path / "out", progress=counted.append)
    assert 1 <= len(read) < FILES
    assert counted[-1] == FILES * ROWS
    assert release.kept.tolist() == truth(rows)
    assert not killed.exists()


def test_rows_that_changed_are_counted_anew_and_never_mixed(tmp_path, rows, killed, read):
    assert killed.exists()
    pq.write_table(pa.table({"age": [7] * ROWS}), rows / "0.parquet")
    with pytest.warns(UserWarning, match="counting was begun with other rows, or files .* anew, and begins anew"):
        release = publish(SPEC, rows, out=tmp_path / "out")
    assert len(read) == FILES
    assert release.kept.tolist() == truth(rows)


def test_without_that_check_rows_of_two_times_would_be_mixed(tmp_path, rows, killed, monkeypatch):
    monkeypatch.setattr(unfinished, "_difference", lambda _: "")
    for number in range(FILES):  # whichever of them were counted
        pq.write_table(pa.table({"age": [7] * ROWS}), rows / f"{number}.parquet")
    assert killed.exists()
    assert publish(SPEC, rows, out=tmp_path / "out").kept.tolist() != truth(rows)


def test_another_design_never_gets_the_sums(tmp_path, rows, killed, read):
    assert killed.exists()
    coarse = SPEC | {"attribute": [AGE | {"bins": 5}]}
    with pytest.warns(UserWarning, match="counting was begun with another design, and begins anew"):
        release = publish(coarse, rows, out=tmp_path / "out")
    assert len(read) == FILES
    assert release.kept.sum() == FILES * ROWS


def test_a_short_count_keeps_nothing_and_an_interruption_says_what_goes_on(tmp_path, rows, monkeypatch):
    ledger = Ledger.at(None)
    real = ParquetPart.batches

    def stopped(part):
        if part.path.name == "4.parquet":
            raise KeyboardInterrupt
        return real(part)

    monkeypatch.setattr(ParquetPart, "batches", stopped)
    for seconds, notes in ((30, []), (0, ["publishing it again goes on with the count"])):
        monkeypatch.setattr(kept_sums, "SECONDS", seconds)
        monkeypatch.setattr(kept_sums, "SHARE", 0)
        with pytest.raises(KeyboardInterrupt) as caught:
            publish(SPEC, rows, out=tmp_path / "out", ledger=ledger)
        assert sorted(caught.value.__notes__) == sorted(["nothing was charged", *notes])
        assert place_of(tmp_path / "out").exists() == bool(notes)


def test_rows_of_persons_are_never_kept(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(kept_sums.PartSums, "add", lambda *_: pytest.fail("kept"))
    person = SPEC | {"privacy": {"epsilon": 1, "unit": "age", "rows_per_unit": 1}}
    publish(person, rows, out=tmp_path / "out")
    with pytest.raises(pytest.fail.Exception):
        publish(SPEC, rows, out=tmp_path / "other")
