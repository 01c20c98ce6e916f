"""Workers and executors that are killed, under speculation: the counts are those of undisturbed rows."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.claim import ROW
from dpress.data.fold import count, fold
from dpress.data.sources.open_source import open_source
from dpress.data.spark import spark_fold as spark_fold_module
from dpress.data.table import Table

pytestmark = [pytest.mark.slow, pytest.mark.long]
SCHEMA = Schema((Integer(name="age", bounds=(17, 90)),))
WAYS = ("map", "reduce", "cached", "accumulator")
SCRIPT = Path(__file__).with_name("lost_executor.py")


@pytest.fixture(scope="module")
def expected(rows):
    return np.bincount(rows["age"].to_numpy() - 17, minlength=SCHEMA.shape[0]).tolist()


@pytest.fixture(scope="module")
def lost(folder):
    """What the script prints of every way; Spark's own lines stand on standard error."""
    if shutil.which("java") is None:
        pytest.skip("there is no Java; .ci/run installs one")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), *WAYS], capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.usefixtures("spark")
def test_a_worker_that_is_killed_among_the_rows_counts_once(folder, tmp_path, monkeypatch, expected):
    monkeypatch.setattr(spark_fold_module, "MOST_TASKS", 1)  # one task reads all files, and dies after the first
    mark, seen, counted = str(tmp_path / "killed"), str(tmp_path / "began"), count(SCHEMA.shape, [(0,)])
    kill, name = signal.SIGKILL, os.fspath(folder)

    def kernel(codes):
        import contextlib
        import os

        if codes.shape[1]:
            with open(seen, "a") as file:  # noqa: PTH123  # at the worker
                file.write("x")
            if os.path.getsize(seen) == 2:  # noqa: PTH202
                with contextlib.suppress(FileExistsError):
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                    os.kill(os.getpid(), kill)
        return counted(codes)

    found = fold(Table(open_source(name, engine="spark"), SCHEMA.names, ROW), SCHEMA, kernel)
    assert found.tolist() == expected
    assert Path(mark).exists()
    assert len(Path(seen).read_text()) == 2 + 3  # two before it died, then all three


@pytest.mark.usefixtures("spark")
def test_a_worker_that_always_dies_is_one_line(folder):
    kill = signal.SIGKILL

    def kernel(codes):
        import os

        if codes.shape[1]:
            os.kill(os.getpid(), kill)
        return np.zeros(1, dtype=np.int64)

    with pytest.raises(OSError, match=r"^Spark could not count [^\n]+: an executor was lost again and again[^\n]+$"):
        fold(Table(open_source(folder, engine="spark"), SCHEMA.names, ROW), SCHEMA, kernel)


@pytest.mark.parametrize("way", WAYS[:-1])
def test_an_executor_that_is_lost_changes_no_count(way, lost, expected):
    found = lost[way]
    assert found["killed"]
    assert found["sums"] == expected


def test_accumulators_would_count_rows_twice(lost, expected):
    found = lost["accumulator"]
    assert found["killed"]
    assert sum(found["sums"]) > sum(expected)
