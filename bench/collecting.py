"""What a device in Python needs for an answer, and what the live page needs for 10,000 reports beyond a million.

python bench/collecting.py > collecting.json

Medians. `missed` names the figures that miss their target: 60 microseconds an answer, a second for the page.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from dpress import device, intake, plan
from dpress.core.basics import rng
from dpress.core.reports.wire import Report, pack
from dpress.data.example_people import people, pickups
from dpress.data.specification.spec import from_dict
from dpress.data.stored.report_store import ReportStore, Upload
from dpress.data.stored.store_url import open_store
from dpress.document.design import Design
from dpress.release.devices.perturb import perturb
from dpress.service.live import NOTHING, grown, release_so_far
from dpress.service.live_figures import figures
from machine import facts

MICROSECONDS, SECONDS = 60, 1
MILLION, MORE, TOGETHER = 1_000_000, 10_000, 1000
ANSWERS, RUNS = 2000, 5
METHODS = ("krr", "oue", "olh", "hadamard", "subset_selection", "rr_ldp", "rappor")
REGION = {"name": "region", "kind": "categorical", "values": ["North", "East", "South", "West"]}
EDUCATION = {
    "name": "education",
    "kind": "ordinal",
    "values": ["Primary", "Secondary", "Vocational", "Bachelor", "Master"],
}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 84], "bins": 17}
PLACE = {
    "name": "pickup",
    "kind": "location",
    "columns": ["lon", "lat"],
    "bounds": [[-74.03, -73.75], [40.58, 40.90]],
}


def designed(attributes: list[dict[str, Any]], **release: Any) -> Design:
    privacy = {"model": "local", "epsilon": 2.0}
    return plan(from_dict({"attribute": attributes, "privacy": privacy, "release": release})).design


def answering(method: str) -> float:
    """Return the microseconds of an answer about one attribute by a device with a secret."""
    own, generator = device(designed([AGE], kind="histogram", method=method)), rng.secure()
    codes, secret = own.codes({"age": 41}), bytes(range(32))
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(ANSWERS):
            own.answer(codes, rng=generator, secret=secret)
        found.append((time.perf_counter() - start) / ANSWERS * 1e6)
    return statistics.median(found)


def uploads(design: Design, rows: Any, folder: Path) -> list[bytes]:
    """Return reports as uploads of 1,000."""
    path = folder / f"{design.id[:8]}-{len(rows)}.parquet"
    perturb(design, rows, out=path, rng=rng.secure())
    packed = [pack(Report(**one)) for one in pq.read_table(path).to_pylist()]
    return [b"".join(packed[start : start + TOGETHER]) for start in range(0, len(packed), TOGETHER)]


def looking(design: Design, table: Callable[[int], Any], folder: Path) -> float:
    """Return the seconds from 10,000 new reports to the page's figures, a million having been added up before."""
    door, store = intake(design), open_store(f"sqlite:///{folder}/{design.id[:8]}.db", create=True)
    place = store.begin(design.id, design.round, "{}").place
    keep(store, place, uploads(design, table(MILLION), folder))
    sums, found = grown(NOTHING, store, place, door), []
    for _ in range(RUNS):
        keep(store, place, uploads(design, table(MORE), folder / str(len(found))))
        start = time.perf_counter()
        sums = grown(sums, store, place, door)
        json.dumps(figures(release_so_far(sums, design, door)))
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def keep(store: ReportStore, place: int, bodies: list[bytes]) -> None:
    store.add([Upload(place=place, reports=TOGETHER, body=body) for body in bodies], {})


def main() -> None:
    answers = {
        name: answering(name) for name in ("krr", "oue", "olh", "hadamard", "subset_selection", "rr_ldp", "rappor")
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(RUNS):
            (folder / str(number)).mkdir()
        looks = {
            "tables": looking(designed([AGE, EDUCATION, REGION], kind="marginals"), people, folder),
            "joint": looking(designed([AGE, EDUCATION, REGION], kind="joint"), people, folder),
            "maps": looking(designed([PLACE], kind="spatial"), pickups, folder),
        }
    missed = [name for name, own in answers.items() if own > MICROSECONDS]
    missed += [name for name, own in looks.items() if own > SECONDS]
    found = {"machine": facts(), "answer_microseconds": answers, "look_seconds": looks, "missed": missed}
    print(json.dumps(found, indent=2, default=np.asarray))


if __name__ == "__main__":
    main()
