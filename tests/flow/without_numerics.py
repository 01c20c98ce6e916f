"""A program for a process of its own: publishes every stored central design; named "base", without numba and SciPy.

Prints, as JSON by name, what became of it: how it was refused, or the integers that it kept; and whether a ledger is
there.
"""

import json
import sys
import tempfile
from pathlib import Path

from tests.formats.make_formats import SEED, STORED
from tests.formats.stored_cases import CASES, PLACE, USERS, visitors

import dpress
from dpress.core import rng
from dpress.data.example_people import pickups

DATA = {True: pickups(USERS), False: visitors()}
if sys.argv[1] == "base":
    for module in [name for name in sys.modules if name.startswith("scipy")]:
        del sys.modules[module]
    sys.modules["numba"] = sys.modules["scipy"] = None  # type: ignore[assignment]  # an import of them fails
found = {}
for name, case in CASES.items():
    design = dpress.load_design(STORED / (name if case.rounds == 1 else f"{name}_0") / "design.json")
    if design.local:
        continue
    data = DATA[PLACE["name"] in {attribute["name"] for attribute in case.attributes}]
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.db"
        try:
            options = {"allow_unproven": case.unproven, "rng": rng.seeded(SEED), "ledger": ledger}
            refused, kept = "", dpress.publish(design, data, out=Path(folder) / "release", **options).kept
        except dpress.NotSupported as error:
            refused, kept = str(error), ()
        found[name] = {"refused": refused, "kept": [table.tolist() for table in kept], "ledger": ledger.exists()}
json.dump(found, sys.stdout)
