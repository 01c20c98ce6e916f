"""A cluster with workers of its own, and a server of Spark Connect: the counts, and one line for what is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.long]
SCRIPT = Path(__file__).with_name("on_cluster.py")
SPEC = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [17, 90]
[privacy]
epsilon = 1000
[release]
kind = "histogram"
"""
NO_DPRESS = "dpress: Spark could not count rows: the executors have no dpress, which files and records need there"
UNSEEN = "dpress: Spark could not count /proc/self/cwd/rows: an executor does not see the files; all must reach them"
NO_PYTHON = "dpress: Spark could not count rows: the executors have no Python at the path of PYSPARK_PYTHON"


@pytest.fixture
def counted(folder, rows, tmp_path, python_without_dpress):
    """What runs the script beside the rows and returns what it printed, and the lines of the terminal."""
    (tmp_path / "rows").symlink_to(folder)
    (tmp_path / "spec.toml").write_text(SPEC)
    ages = np.bincount(rows["age"].to_numpy() - 17, minlength=74).tolist()

    def run(address, *cases):
        settings = "--conf spark.executor.memory=512m --conf spark.task.maxFailures=1 pyspark-shell"
        own = {"PYSPARK_SUBMIT_ARGS": settings, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONWARNINGS": "error"}
        words = [sys.executable, str(SCRIPT), address, python_without_dpress, *cases]
        done = subprocess.run(
            words, env=os.environ | own, cwd=tmp_path, capture_output=True, text=True, timeout=1200, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout), done.stderr.splitlines(), ages

    return run


def test_a_standalone_cluster_counts_and_says_what_it_lacks(spark_cluster, counted):
    cases = ("files", "a frame without dpress", "no dpress", "unseen", "no python")
    results, lines, ages = counted(spark_cluster, *cases)
    assert results == {
        "files": ages,
        "a frame without dpress": ages,
        "no dpress": 1,
        "unseen": 1,
        "no python": 1,
    }
    assert len(lines) == 3, lines  # nothing of Spark's
    for line, expected in zip(lines, (NO_DPRESS, UNSEEN, NO_PYTHON), strict=True):
        assert line.startswith(expected)


def test_a_server_of_spark_connect_counts_a_frame_and_says_what_it_lacks(connect_server, counted):
    results, lines, ages = counted(connect_server, "a frame without dpress", "no dpress")
    assert results == {"a frame without dpress": ages, "no dpress": 1}
    assert len(lines) == 1, lines
    assert lines[0].startswith(NO_DPRESS)
