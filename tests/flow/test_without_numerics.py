"""A base install, without numba and SciPy: what it refuses costs nothing, what it publishes is the same."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.formats.stored_cases import CASES

ROOT = Path(__file__).parents[2]
REFUSED = "this needs SciPy: pip install 'dpress[numerics]'"


def published(install: str) -> tuple[dict[str, Any], str]:
    """Return what became of every design, and what was written on standard error."""
    script = [sys.executable, "-m", "tests.flow.without_numerics", install]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), done.stderr


def test_a_base_install_publishes_the_same_or_charges_nothing():
    (found, said), (full, _) = published("base"), published("full")
    assert said.count("numba is not installed") == 1
    assert all(one["ledger"] for one in full.values())
    needing = {
        name
        for name in found
        if CASES[name].release["kind"] in ("joint", "spatial")
        or CASES[name].release.get("method") == "graphical"
        or "monotone_prefix" in CASES[name].release.get("postprocess", ())
        or name.endswith("_posterior")
        or name == "histogram_hidden"
    }
    assert {name: one["refused"] for name, one in found.items() if not one["ledger"]} == dict.fromkeys(needing, REFUSED)
    assert len(needing) >= 6
    assert [name for name in found.keys() - needing if found[name] != full[name]] == []
