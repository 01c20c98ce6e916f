"""Plans go to workers of a pool of processes however these start, and their releases share one budget."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpress import Ledger

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("way", ["spawn", "forkserver"])
def test_workers_share_a_budget_however_they_start(way, tmp_path):
    script = [sys.executable, "-m", "tests.flow.in_workers", way, str(tmp_path)]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["published", "published", "refused", "refused"]
    assert len([*tmp_path.glob(f"{way}-?/release.json")]) == 2
    assert Ledger.open(tmp_path / "budget.db").summary().spent == {"epsilon": 2}
