"""Nothing needs what Windows lacks, and paths that begin with a drive are paths."""

import subprocess
import sys
from pathlib import Path

import pytest

import dpress
from dpress.ledger.store import store_at

ROOT = Path(__file__).parents[2]
AGE = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
SPEC = {"attribute": [AGE], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}


def test_the_whole_path_runs_without_what_windows_lacks(tmp_path):
    """Files flushed that were opened to be read, or a lock by `fcntl`, fail there: the program sees to it itself."""
    script = [sys.executable, "-m", "tests.flow.without_posix", str(tmp_path)]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("done\n"), done.stderr


@pytest.mark.parametrize("drive", ["C:\\data\\", "C:/data/", "\\\\server\\share\\"])
def test_a_path_with_a_drive_is_a_path(drive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(store_at(f"{drive}budget.db").path) == f"{drive}budget.db"
    with pytest.raises(OSError, match="No such file") as missing:
        dpress.publish(SPEC, f"{drive}visits.csv")
    assert missing.value.filename == f"{drive}visits.csv"
