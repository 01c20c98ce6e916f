"""The experiments of the document on range queries over positions under local privacy: GT-R and its rivals.

make reproduce PAPER=spatial        (python papers/spatial.py [--quick] [--out FOLDER])

Writes tables (CSV) and figures (SVG, PNG) to out/papers/spatial/ and prints a line for every claim; exit 1 if one of
ours fails. A claim of the document that does not hold is a finding and no failure. Gowalla's check-ins stand in for
both of its data sets (Checkin: the world; Landmark: the box of the 48 states); they come from $DPRESS_DATA, by default
../shared/data; without them it says so and stops. The document names no grid: the nine systems are compared at a side
of 16 and of 32, which is as far as PSDA goes, from every device's own report. Sweeps over the side, and `ahead`, which
needs rounds, take simulated answers. About 2 minutes on two cores; --quick takes seconds.
"""

import argparse
import csv
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import spatial_claims
from spatial_figures import draw
from spatial_methods import POINTS, SOURCES, Kind, collected, made, places, relative_error

from dpress.core import rng
from dpress.kinds.spatial.design import HEIGHTS

SEED = 2013
EPSILONS = ("0.1", "0.3", "0.5", "0.7", "0.9")
SIZES = ((0.05, 0.45), (0.10, 0.50), (0.15, 0.55), (0.20, 0.60))  # the document's
SMALL = (0.0001, 0.01)
NINE = ("krr", "rappor", "n_gtr", "n_psda", "qt_krr", "qt_rappor", "psda", "gtr")  # `oue` on the grid is n_gtr
SIDES = (16, 32)
SWEPT = tuple(1 << height for height in HEIGHTS)
OURS = (("gtr_top_down", 256, "real"), ("dam", 32, "real"), ("ahead", 256, "simulated"))
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One method on one grid with one budget, all its runs; one map answers queries of every size.

    Args:
        experiment: "nine", "ours" or "sides".
        data: which data set.
        method: by its name.
        side: cells along each axis.
        epsilon: of a report.
        runs: how many.
        reports: real or simulated.
    """

    experiment: str
    data: str
    method: str
    side: int
    epsilon: str
    runs: int
    reports: Kind


def tasks(*, quick: bool) -> list[Task]:
    """Return every setting, the longest first."""
    runs, sides = (2, SIDES[:1]) if quick else (5, SIDES)
    epsilons = ("0.5", "0.9") if quick else EPSILONS
    swept, finest = ((16, 128), 64) if quick else (SWEPT, 256)
    out = []
    for data in SOURCES:
        for epsilon in epsilons:
            same = {"data": data, "epsilon": epsilon, "runs": runs}
            out += [Task(experiment="nine", method=m, side=s, reports="real", **same) for m in NINE for s in sides]
            out += [Task(experiment="ours", method=m, side=min(s, finest), reports=kind, **same) for m, s, kind in OURS]
            both = ("gtr", "gtr_top_down") if epsilon in {"0.5", "0.9"} else ()
            out += [
                Task(experiment="sides", method=m, side=s, reports="simulated", **same) for m in both for s in swept
            ]
    return sorted(out, key=lambda task: -task.side * (task.reports == "real"))


def run(task: Task) -> list[Row]:
    """Return a row for every size of queries: means over the runs, with standard errors."""
    own, source = made(task.method, task.side, task.epsilon), rng.seeded(SEED + hash_of(task))
    maps = [collected(own, task.data, task.reports, source=source) for _ in range(task.runs)]
    rows = []
    for low, high in (*SIZES, SMALL):
        errors = np.array([relative_error(found, task.data, low, high) for found in maps])
        row = asdict(task) | {"low": low, "high": high, "relative_error": float(errors.mean())}
        spread = float(errors.std(ddof=1) / np.sqrt(len(errors)))
        rows.append(row | {"standard_error": spread, "users": places(task.data).shape[1]})
    return rows


def hash_of(task: Task) -> int:
    """Return a number of the setting that is the same everywhere: settings must not share noise."""
    text = f"{task.experiment} {task.data} {task.method} {task.side} {task.epsilon}".encode()
    return sum(byte * pow(257, place, 1 << 31) for place, byte in enumerate(text)) % (1 << 31)


def experiments(chosen: Sequence[Task]) -> list[Row]:
    """Return the rows of all settings, from two processes."""
    rows: list[Row] = []
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1), mp_context=spawn) as pool:
        waiting = {pool.submit(run, task): task for task in chosen}
        for done, future in enumerate(as_completed(waiting), start=1):
            task = waiting[future]
            words = f"{task.data}, {task.method}, side {task.side}, epsilon {task.epsilon}, {task.reports}"
            _say(f"{done}/{len(chosen)}: {words}")
            rows += future.result()
    order = ("experiment", "data", "side", "method", "epsilon", "low")
    return sorted(rows, key=lambda row: tuple(row[name] for name in order))


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def _say(text: str) -> None:
    print(f"{time.perf_counter() - START:6.1f} s  {text}", file=sys.stderr, flush=True)


START = time.perf_counter()


def main() -> int:
    """Run everything; return 1 if a claim of ours does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="one grid, two budgets, two runs, for tests")
    parser.add_argument("--out", type=Path, default=Path("out/papers/spatial"))
    chosen = parser.parse_args()
    if not POINTS.is_file():
        print(f"no data: there is no {POINTS}; set DPRESS_DATA", file=sys.stderr)
        return 2
    chosen.out.mkdir(parents=True, exist_ok=True)
    rows = experiments(tasks(quick=chosen.quick))
    claims = [*spatial_claims.of_the_document(rows), *spatial_claims.of_ours(rows)]
    write(chosen.out / "errors.csv", rows)
    write(chosen.out / "claims.csv", [asdict(one) for one in claims])
    _say("figures")
    draw(chosen.out, rows)
    for one in claims:
        print(f"{one.verdict}  {one.claim}: {one.found}")
    return 0 if all(one.holds for one in claims if one.source == "dpress") else 1


if __name__ == "__main__":
    sys.exit(main())
