"""The experiments of the document on mixed microdata: DP-k-prototypes, MDAV, noise on every record, and ours.

make reproduce PAPER=microdata        (python papers/microdata.py [--quick] [--out FOLDER])

Writes tables (CSV) and figures (SVG, PNG) to out/papers/microdata/ and prints a line for every claim; exit 1 if one of
ours fails. A claim of the document that does not hold is a finding and no failure. Adult comes from $DPRESS_DATA, by
default ../shared/data; without it it says so and stops. About 5 minutes on two cores; --quick takes seconds.

SSE of the methods that keep the order of the rows is over all 30,162, and so is RL, each record's nearest rows found
among all of them; of `per_record` and `per_value` 3,000 records are linked. The releases of `dp_prototypes` have no
order: 500 rows and as many records, both at random, are matched by assignment; SSE, scaled to all rows, is then a lower
bound and RL, within the sample, an upper one. Numbers are clipped to their bounds by every method. `per_value` is the
document's noise on every record, epsilon for every value; `per_record` divides it among them. Attributes are taken in
the order age, hours_per_week, workclass, education, marital_status, occupation, race, native_country.
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

import microdata_claims
import numpy as np
from microdata_figures import draw
from microdata_methods import ADULT, compared, release

from dpress.core import rng
from dpress.core.errors import NotSupported

SEED = 2018
EPSILONS = ("0.01", "0.1", "1", "10")
BOTH = (4, 8)  # attributes for which k and epsilon vary together
EVERY_D = (3, 4, 5, 6, 7, 8)
K = (3, 5, 10, 20, 40, 60, 80, 100)
MIDDLE = 20  # for the sweep over d
LARGE = (1000, 3000)  # groups for which insensitive microaggregation is meant
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One method on one table, with all budgets and runs.

    Args:
        method: by its name.
        d: the number of attributes.
        k: clusters, or the size of a group; 0 for none, or for what the plan chooses.
        epsilons: of the releases.
        runs: how many for each.
    """

    method: str
    d: int
    k: int
    epsilons: tuple[str, ...]
    runs: int

    @property
    def work(self) -> float:
        """About how long it takes, for the order."""
        return self.d * (50 / self.k if self.method == "mdav" else 1 + self.k / 50)


def tasks(*, quick: bool) -> list[Task]:
    """Return every setting, the longest first."""
    sizes, few = ((3, 20, 100), (100,)) if quick else (K, (3, 10, 20, 60, 100))
    swept, large = ((3, 8), ()) if quick else (EVERY_D, LARGE)
    chosen = {("dp_k_prototypes", d, k) for d in BOTH for k in sizes} | {("mdav", d, k) for d in BOTH for k in few}
    chosen |= {("dp_k_prototypes", d, MIDDLE) for d in swept} | {("mdav", d, MIDDLE) for d in swept}
    chosen |= {(name, d, 0) for name in ("per_value", "per_record") for d in swept}
    chosen |= {(name, d, 0) for name in ("representative", "mixture") for d in (BOTH[1:] if quick else BOTH)}
    chosen |= {("representative", 8, k) for k in sizes} | {
        ("insensitive_microaggregation", d, k) for d in BOTH for k in large
    }
    same = {"epsilons": EPSILONS[2:] if quick else EPSILONS}
    made = [
        Task(method=method, d=d, k=k, runs=1 if quick or method == "mdav" else 2, **same)
        for method, d, k in sorted(chosen)
    ]
    return sorted(made, key=lambda task: -task.work)


def run(task: Task) -> list[Row]:
    """Return a row for every budget: means over the runs; none where dpress refuses the release."""
    source, rows = rng.seeded(SEED + hash_of(task)), []
    for epsilon in task.epsilons:
        try:
            made = [release(task.method, task.d, task.k, epsilon, source) for _ in range(task.runs)]
        except NotSupported:
            continue
        found = [compared(task.d, task.method, one, source) for one in made]
        squares = np.array([one.sse for one in found])
        row = {"method": task.method, "d": task.d, "asked": task.k, "k": made[0].clusters, "epsilon": epsilon}
        spread = float(squares.std(ddof=1) / np.sqrt(task.runs)) if task.runs > 1 else 0.0
        row |= {"runs": task.runs, "sse": float(squares.mean()), "standard_error": spread}
        row |= {"linkage_percent": float(np.mean([one.linkage for one in found])), "rows": found[0].rows}
        rows.append(row | {"seconds": float(np.median([one.seconds for one in made]))})
    return rows


def hash_of(task: Task) -> int:
    """Return a number of the setting that is the same everywhere: settings must not share noise."""
    text = f"{task.method} {task.d} {task.k}".encode()
    return sum(byte * pow(257, place, 1 << 31) for place, byte in enumerate(text)) % (1 << 31)


def experiments(chosen: Sequence[Task]) -> list[Row]:
    """Return the rows of all settings, from two processes."""
    rows: list[Row] = []
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1), mp_context=spawn) as pool:
        waiting = {pool.submit(run, task): task for task in chosen}
        for done, future in enumerate(as_completed(waiting), start=1):
            task = waiting[future]
            _say(f"{done}/{len(chosen)}: {task.method}, {task.d} attributes, k = {task.k}")
            rows += future.result()
    return sorted(rows, key=lambda row: (row["method"], row["d"], row["asked"], float(row["epsilon"])))


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
    parser.add_argument("--quick", action="store_true", help="few k and d, two budgets, one run, for tests")
    parser.add_argument("--out", type=Path, default=Path("out/papers/microdata"))
    chosen = parser.parse_args()
    if not ADULT.is_file():
        print(f"no data: there is no {ADULT}; set DPRESS_DATA", file=sys.stderr)
        return 2
    chosen.out.mkdir(parents=True, exist_ok=True)
    rows = experiments(tasks(quick=chosen.quick))
    claims = [*microdata_claims.of_the_document(rows), *microdata_claims.of_ours(rows)]
    write(chosen.out / "errors.csv", rows)
    write(chosen.out / "claims.csv", [asdict(one) for one in claims])
    _say("figures")
    draw(chosen.out, rows)
    for one in claims:
        print(f"{one.verdict}  {one.claim}: {one.found}")
    return 0 if all(one.holds for one in claims if one.source == "dpress") else 1


if __name__ == "__main__":
    sys.exit(main())
