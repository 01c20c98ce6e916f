"""A program for a process of its own: publishes every stored central design; named "base", without numba and SciPy.

Prints, as JSON by name, what became of it: how it was refused, or the integers that it kept; and whether a ledger is
there.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.formats.make_formats import SEED, STORED, homes
from tests.formats.stored_case import PLACE, USERS, Case
from tests.formats.stored_cases import CASES, visitors

import dpress
from dpress.core.basics import rng
from dpress.data.example_people import pickups


def main(install: str) -> None:
    """Print what became of every design; see above."""
    data = {True: pickups(USERS), False: visitors()}
    if install == "base":
        for module in [name for name in sys.modules if name.startswith("scipy")]:
            del sys.modules[module]
        sys.modules["numba"] = sys.modules["scipy"] = None  # type: ignore[assignment]  # an import of them fails
    found = {}
    for name, case in CASES.items():
        design = dpress.load_design(STORED / (name if case.rounds == 1 else f"{name}_0") / "design.json")
        if not design.local:
            rows = data[PLACE["name"] in {own["name"] for own in case.attributes}]
            found[name] = published(design, homes() if case.table else rows, case)
    json.dump(found, sys.stdout)


def published(design: dpress.Design, data: Any, case: Case) -> dict[str, Any]:
    """Return what became of one."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.db"
        try:
            options: Any = {"allow_unproven": case.unproven, "rng": rng.seeded(SEED), "ledger": ledger}
            refused, kept = "", dpress.publish(design, data, out=Path(folder) / "release", **options).kept
        except dpress.NotSupported as error:
            refused, kept = str(error), ()
        return {"refused": refused, "kept": [table.tolist() for table in kept], "ledger": ledger.exists()}


if __name__ == "__main__":
    main(sys.argv[1])
