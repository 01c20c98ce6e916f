"""Maps under local privacy on real points: seconds, memory, error against every published method, intervals, as JSON.

python bench/spatial.py > spatial.json

Reads $DPRESS_DATA, by default `../shared/data`: Gowalla's check-ins and New York's taxi pick-ups. "speed" runs the real
command line. Errors are mean absolute ones over 500 rectangles of 1 to 25 % of the box, in thousandths of all people:
means over simulated collections (answers with normal noise of the exact variance), RUNS of a published method, OWN of
ours; for what `plan` chooses also over REAL collections of every device's own report: "apart" is the difference in
standard errors. "within" is the share of the rectangles whose 95 % interval holds the truth, from the real reports.
Exit 1 if a goal is missed. Progress goes to standard error.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from cases import data, say
from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.linear import Array
from dpress.core.maps.workload import Areas
from dpress.data.specification.spec import Spec, from_dict
from dpress.inference.interval import half_width
from dpress.inference.maps.density import unbiased
from dpress.kinds.spatial.design import AREAS, HEIGHTS, collection
from dpress.kinds.spatial.prediction import rectangles
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import MapDecoder, coarser
from dpress.query.load import load_release
from dpress.release.plan.plan import Plan, plan
from machine import facts

WORLD = "gowalla/gowalla_poi_checkins.parquet"
SETS = {
    "48 states": (WORLD, ((-125.0, -66.5), (24.5, 49.5))),
    "New York check-ins": ("gowalla/gowalla_nyc_checkins.parquet", ((-74.27, -73.68), (40.48, 40.93))),
    "New York pick-ups": ("nyc_pickups/nyc_taxi_pickups.parquet", ((-74.19, -73.67), (40.57, 40.99))),
}
FINE = 1024  # cells along each axis on which the truth is counted
RUNS, OWN, REAL = 5, 16, 5  # simulated collections of a published method; of ours; collections of real reports
EPSILONS = (0.1, 0.3, 0.5, 1.0, 2.0)
MAIN = (0.5, 1.0)
SMALL = (0.0005, 0.01)
PUBLISHED = {
    "krr": (4, 8, 16, 32, 64), "rappor": (4, 8, 16, 32, 64), "oue": (4, 8, 16, 32, 64), "n_psda": (4, 8, 16, 32),
    "psda": (4, 8, 16, 32), "qt_krr": (8, 16, 32), "qt_rappor": (8, 16, 32, 64), "gtr": (8, 16, 32, 64, 128, 256),
}  # fmt: skip
FLAT = {"krr": "krr", "oue": "oue", "rappor": "sue"}  # on the cells of a grid; basic RAPPOR that reports once is SUE
PERSONAL = "psda"  # which hides a position only within its user's safe region: it is shown, and is no rival
OF_SIX, OF_BEST, OF_ANY, OF_CHOICE = 0.5, 0.7, 1.05, 1.15
SMOOTHER = {"New York pick-ups": 0.85}  # fewest people, and the most evenly spread: nothing we have reaches OF_BEST
WITHIN = 0.9
SECONDS, MIB, QUERY_SECONDS, QUERIES, BYTES = 10, 2048, 1, 10_000, 200
SPEED = {"height": 8, "users": 777_734}


@dataclass(frozen=True)
class Points:
    """One data set on the finest grid: places, shape (2, users), and counts."""

    name: str
    box: tuple[tuple[float, float], tuple[float, float]]
    places: Array
    counts: Array

    @property
    def users(self) -> int:
        return self.places.shape[1]


def points(name: str) -> Points | None:
    path, box = SETS[name]
    if (found := data(path)) is None:
        return None
    table = pq.read_table(found, columns=["lon", "lat"])
    given = [np.asarray(table[column]) for column in ("lon", "lat")]
    inside = np.logical_and.reduce([(own >= low) & (own <= high) for own, (low, high) in zip(given, box, strict=True)])
    cells = [(own[inside] - low) / (high - low) * FINE for own, (low, high) in zip(given, box, strict=True)]
    places = np.minimum(np.stack(cells).astype(np.int32), FINE - 1)
    counts = np.zeros((FINE, FINE))
    np.add.at(counts, tuple(places), 1)
    return Points(name, box, places, counts)


@functools.cache
def asked(low: float, high: float) -> Rectangles:
    """Return rectangles whose ends lie on the finest grid, where the truth is exact."""
    given = rectangles(Areas(low, high), 500).scaled(FINE)
    left, bottom = (np.minimum(np.round(end), FINE - 1) for end in (given.left, given.bottom))
    right, top = np.maximum(np.round(given.right), left + 1), np.maximum(np.round(given.top), bottom + 1)
    return Rectangles(left, right, bottom, top)


def spec(own: Points, epsilon: float, **parameters: object) -> Spec:
    attribute = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": own.box}
    release = {"kind": "spatial", "attributes": ["place"], "parameters": {"users": own.users} | parameters}
    privacy = {"model": "local", "epsilon": epsilon}
    return from_dict(json.loads(json.dumps({"attribute": [attribute], "privacy": privacy, "release": release})))


def made(method: str, side: int, epsilon: float) -> Any:
    grid, loss = Grid(side), PureDP(epsilon=epsilon)
    if method in FLAT:
        oracle = catalog.card(FLAT[method]).oracle(grid.cells, loss)  # type: ignore[misc]
        return Levels(grid=grid, levels=(0,), oracles=(oracle,), flat=True)  # type: ignore[arg-type]
    return catalog.card(method).spatial(grid, loss)  # type: ignore[misc]


def errors(found: Any, own: Points, sizes: tuple[float, float]) -> Array:
    given = asked(*sizes)
    return np.asarray(found.values(given.scaled(found.grid.side / FINE)) - sums(own.counts, given))


def mean_error(found: Any, own: Points) -> float:
    return float(np.abs(errors(found, own, AREAS)).mean() / own.users * 1e3)


def simulated(one: Any, own: Points, runs: int) -> list[float]:
    counts, source = one.grid.flat(coarser(own.counts, one.grid.side)), rng.seeded(5)
    return [mean_error(one.decoded(one.simulated(counts, own.users, rng=source), own.users), own) for _ in range(runs)]


def reported(one: Any, own: Points, source: rng.Generator) -> Any:
    """Return the tallies of every device's own report."""
    asks, cells = collection(one), np.asarray(own.places * one.grid.side // FINE, dtype=np.int32)
    drawn, tallies = asks.drawn(own.users, rng=source), []
    for number, own_type in enumerate(asks.types):
        mine = cells[:, drawn == number]
        parts = [mine[:, start : start + (1 << 16)] for start in range(0, mine.shape[1], 1 << 16)]
        tallies.append(sum(asks.tally(number, own_type.perturb(part, rng=source)) for part in parts))
    return tallies


def chosen(own: Points, epsilon: float) -> tuple[Any, Plan, float]:
    began = time.perf_counter()
    planned = plan(spec(own, epsilon))
    taken = time.perf_counter() - began
    assert isinstance(planned.chosen.mechanism, Collection)
    return planned.chosen.mechanism.estimator, planned, taken


def published(own: Points, epsilon: float) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for method, sides in PUBLISHED.items():
        for side in sides:
            try:
                found.setdefault(method, {})[side] = float(np.mean(simulated(made(method, side, epsilon), own, RUNS)))
            except NotSupported:
                continue
    return found


def compared(own: Points, epsilon: float) -> dict[str, Any]:
    """Return what `plan` takes against every published method, and against the same at every other height."""
    say(f"{own.name}, epsilon {epsilon}")
    one, planned, taken = chosen(own, epsilon)
    rivals, runs = published(own, epsilon), simulated(one, own, OWN)
    heights = {h: float(np.mean(simulated(made(planned.chosen.method, 1 << h, epsilon), own, OWN))) for h in HEIGHTS}
    auto, best = float(np.mean(runs)), {method: min(sides.values()) for method, sides in rivals.items()}
    squared = [np.mean(errors(reported_map(one, own, seed), own, AREAS) ** 2) for seed in range(2)]
    row = {"data": own.name, "users": own.users, "epsilon": epsilon, "method": planned.chosen.method}
    row |= {"height": one.grid.height, "plan_seconds": taken, "auto": auto, "standard_error": _spread(runs)}
    row |= {"predicted_rmse": planned.chosen.predicted_error**0.5, "measured_rmse": float(np.mean(squared)) ** 0.5}
    row |= {"heights": heights, "of_best_height": auto / min(heights.values())}
    row |= {"published": rivals, "of_gtr_6": auto / rivals["gtr"][64], "of_gtr_best": auto / best["gtr"]}
    alike = min((error, method) for method, error in best.items() if method != PERSONAL)
    return row | {"best_published": alike[1], "of_best_published": auto / alike[0], "of_psda": auto / best[PERSONAL]}


def reported_map(one: Any, own: Points, seed: int) -> Any:
    return one.decoded(one.measurement(reported(one, own, rng.seeded(100 + seed))), own.users)


def _spread(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def intervals(own: Points, epsilon: float) -> dict[str, Any]:
    """Return the error and the coverage of what `plan` takes, over collections of real reports."""
    say(f"{own.name}, epsilon {epsilon}: {REAL} collections of real reports")
    one, _, _ = chosen(own, epsilon)
    within: dict[str, list[float]] = {"expected": [], "small": []}
    found = []
    for seed in range(REAL):
        tallies = reported(one, own, rng.seeded(seed))
        density = MapDecoder(one, own.users).density(one.measurement(tallies), tallies)
        found.append(mean_error(density, own))
        for name, sizes in (("expected", AREAS), ("small", SMALL)):
            variances = density.variances(asked(*sizes).scaled(one.grid.side / FINE))
            held = np.abs(errors(unbiased(density), own, sizes)) <= half_width(variances, 0.95, collection(one).tail)
            within[name].append(float(held.mean()))
    runs = simulated(one, own, OWN)
    gap = (np.mean(found) - np.mean(runs)) / np.hypot(_spread(found), _spread(runs))
    row = {"data": own.name, "epsilon": epsilon, "height": one.grid.height, "real": float(np.mean(found))}
    row |= {"simulated": float(np.mean(runs)), "apart": float(gap)}
    return row | {f"within_{name}": float(np.mean(shares)) for name, shares in within.items()}


def measured(*command: str) -> dict[str, float]:
    """Return seconds and peak memory of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"failed: {' '.join(command)}")
    return {"seconds": time.perf_counter() - start, "peak_mib": usage.ru_maxrss / 1024}


def speed(path: Path) -> dict[str, Any]:
    """Return what it takes from a Parquet file of check-ins to answers, by the command line."""
    say("speed: perturb and estimate")
    program = str(Path(sys.executable).with_name("dpress"))
    text = (
        '[[attribute]]\nname = "place"\nkind = "location"\ncolumns = ["lon", "lat"]\n'
        "bounds = [[-180.0, 180.0], [-90.0, 90.0]]\n\n"
        '[privacy]\nmodel = "local"\nepsilon = 1.0\n\n[release]\nkind = "spatial"\nattributes = ["place"]\n'
        'method = "gtr_top_down"\n\n[release.parameters]\n'
    ) + "".join(f"{name} = {value}\n" for name, value in SPEED.items())
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "world.toml").write_text(text)
        spec_, reports, out = str(place / "world.toml"), str(place / "reports"), str(place / "release")
        perturbed = measured(program, "perturb", spec_, "--data", str(path), "--out", reports, "--quiet")
        estimated = measured(program, "estimate", spec_, "--reports", reports, "--out", out, "--quiet")
        release: Any = load_release(out)
        box, given = np.array(release.box), rectangles(Areas(*AREAS), QUERIES)
        low, high = (np.stack(ends, axis=1) for ends in ((given.left, given.bottom), (given.right, given.top)))
        low, high = (box[:, 0] + ends * (box[:, 1] - box[:, 0]) for ends in (low, high))
        times = []
        for _ in range(2):  # the first makes the map and its replicates
            start = time.perf_counter()
            release.answers.query_rectangles(low, high)
            times.append(time.perf_counter() - start)
    widths = [one.width for one in made("gtr_top_down", 256, 1.0).types]
    return {
        "users": SPEED["users"],
        "cells": 4 ** SPEED["height"],
        "perturb": perturbed,
        "estimate": estimated,
        "seconds": perturbed["seconds"] + estimated["seconds"],
        "peak_mib": max(perturbed["peak_mib"], estimated["peak_mib"]),
        "first_queries_seconds": times[0],
        "queries_seconds": times[1],
        "report_bytes": max(widths),
    }


def missed(fast: dict[str, Any], rows: list[dict[str, Any]], covered: list[dict[str, Any]]) -> Iterator[str]:
    """Yield every goal that was missed."""
    limits = {"seconds": SECONDS, "peak_mib": MIB, "queries_seconds": QUERY_SECONDS, "report_bytes": BYTES}
    yield from (f"{name}: {fast[name]:.2f} > {limit}" for name, limit in limits.items() if fast[name] > limit)
    for row in rows:
        bounds = {"of_best_published": OF_ANY, "of_best_height": OF_CHOICE}
        if row["epsilon"] in MAIN:
            bounds |= {"of_gtr_6": OF_SIX, "of_gtr_best": SMOOTHER.get(row["data"], OF_BEST)}
        where = f"{row['data']}, epsilon {row['epsilon']}"
        yield from (f"{where}: {name} {row[name]:.2f} > {b}" for name, b in bounds.items() if row[name] > b)
    for row in covered:
        if (share := row["within_expected"]) < WITHIN:
            yield f"{row['data']}, epsilon {row['epsilon']}: within_expected {share:.3f} < {WITHIN}"


def main() -> int:
    """Print one JSON object; return 1 if a goal is missed."""
    everything = [own for name in SETS if (own := points(name)) is not None]
    if (path := data(WORLD)) is None:
        say(absent := f"no data: set DPRESS_DATA to the folder that holds {WORLD}")
        print(json.dumps({"skipped": absent}))
        return 0
    fast = speed(path)
    rows = [compared(own, epsilon) for own in everything for epsilon in EPSILONS]
    covered = [intervals(own, epsilon) for own in everything for epsilon in MAIN]
    goals = list(missed(fast, rows, covered))
    out = {"machine": facts("scipy"), "runs": [RUNS, OWN, REAL], "missed": goals, "speed": fast}
    json.dump(out | {"accuracy": rows, "intervals": covered}, sys.stdout, indent=2)
    print()
    return 1 if goals else 0


if __name__ == "__main__":
    sys.exit(main())
