"""Total squared error of frequency oracles, measured against the formula and against one another, as JSON.

python bench/oracle_accuracy.py [NAME...] > oracle_accuracy.json

Every oracle collects the same N users RUNS[k] times. The error of a run is the sum over all k values of
(estimate - count)^2; "measured" is its mean over the runs, "formula" the sum of `Oracle.variance` over the values,
"ratio" their quotient, with the standard error that the spread of the runs gives and z = (ratio - 1) / standard_error.
Progress goes to standard error.

"summary" compares `subset_selection` with what is promised of it: never more than LIMIT times the formula, and never
above another oracle; by the formulas exactly, by the measurements up to FAR standard errors.
"""

import itertools
import json
import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from cases import say
from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.reports.oracle import Oracle
from machine import facts

BEST = "subset_selection"
LIMIT = 1.02
FAR = 4.5
USERS = 20_000
RUNS = {2: 200, 16: 100, 256: 40, 1024: 16}
EPSILONS = (0.5, 1, 2, 4)
DATA = ("uniform", "zipf")
ORACLES = ("krr", "hadamard", "olh", "sue", "oue", BEST)
Counts = npt.NDArray[np.int64]
Row = dict[str, Any]


def counts(data: str, size: int) -> Counts:
    """Return how many of the users hold each value: all alike, or the share of the v-th in proportion to 1 / v."""
    weights = np.ones(size) if data == "uniform" else 1 / np.arange(1, size + 1)
    edges = np.rint(USERS * np.cumsum(weights) / weights.sum()).astype(np.int64)
    return np.diff(edges, prepend=0)


def formula(oracle: Oracle, held: Counts) -> float:
    """Return the sum of the variances of all counts."""
    found, times = np.unique(held, return_counts=True)
    return math.fsum(t * oracle.variance(USERS, int(n) / USERS) for n, t in zip(found, times, strict=True))


def errors(oracle: Oracle, held: Counts, runs: int, source: rng.Generator) -> npt.NDArray[np.float64]:
    """Return the total squared error of every run."""
    values = np.repeat(np.arange(oracle.size, dtype=np.int32), held)
    out = np.empty(runs)
    for run in range(runs):
        tally = oracle.tally(oracle.perturb(values, rng=source))
        out[run] = np.sum((oracle.estimate(tally, USERS).answers - held) ** 2)
    return out


def accuracy(name: str, size: int, epsilon: float, data: str, source: rng.Generator) -> Row | None:
    """Return measured and predicted error of one oracle on one data set; None where it does not serve."""
    make = catalog.card(name).oracle
    try:
        oracle = make(size, PureDP(epsilon=epsilon)) if make else None
    except NotSupported:
        oracle = None
    if oracle is None:
        return None
    held = counts(data, size)
    found, expected = errors(oracle, held, RUNS[size], source), formula(oracle, held)
    measured, error = float(found.mean()), float(found.std(ddof=1) / math.sqrt(found.size))
    row: Row = {"oracle": name, "size": size, "epsilon": epsilon, "data": data, "runs": found.size}
    row |= {"bytes": oracle.width, "measured": measured, "formula": expected, "measured_error": error}
    row |= {"ratio": measured / expected, "standard_error": error / expected}
    return row | {"z": (measured - expected) / error}


def pooled(rows: list[Row]) -> Row:
    """Return the mean ratio of several rows; the weights do not depend on the data: about the degrees of freedom."""
    ratio, error = (np.array([row[key] for row in rows]) for key in ("ratio", "standard_error"))
    weight = np.array([(row["size"] - 1) * row["runs"] for row in rows], dtype=np.float64)
    weight /= weight.sum()
    mean, total = float(weight @ ratio), float(np.linalg.norm(weight * error))
    return {"ratio": mean, "standard_error": total, "z": (mean - 1) / total, "largest_z": max(row["z"] for row in rows)}


def above(best: Row, other: Row) -> dict[str, bool]:
    """Return whether the best is above another: by the formulas, and measured."""
    error = math.hypot(best["measured_error"], other["measured_error"])
    return {
        "formula": best["formula"] > other["formula"] * (1 + 1e-12),
        "measured": best["measured"] - other["measured"] > FAR * error,
    }


def summary(rows: list[Row]) -> Row:
    """Return what is promised of the best oracle and whether it holds."""
    cells: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        cells.setdefault((row["size"], row["epsilon"], row["data"]), {})[row["oracle"]] = row
    best = [row for row in rows if row["oracle"] == BEST]
    out: Row = {
        "pooled": {name: pooled([r for r in rows if r["oracle"] == name]) for name in {r["oracle"]: 0 for r in rows}}
    }
    if not best:
        return out
    out["by_size"] = {size: pooled([row for row in best if row["size"] == size]) for size in RUNS}
    out["beyond_limit"] = [row for row in best if row["ratio"] - FAR * row["standard_error"] > LIMIT]
    out["above_another"] = [
        {"cell": cell, "other": name} | above(named[BEST], row)
        for cell, named in cells.items()
        for name, row in named.items()
        if name != BEST and any(above(named[BEST], row).values())
    ]
    out["others_over_best"] = [
        dict(zip(("size", "epsilon"), cell[:2], strict=True))
        | {name: row["formula"] / named[BEST]["formula"] for name, row in named.items() if name != BEST}
        for cell, named in cells.items()
        if cell[2] == DATA[0]
    ]
    return out


def main() -> None:
    """Measure all oracles, or the named ones, and print JSON."""
    names, source, rows = sys.argv[1:] or ORACLES, rng.seeded(40), []
    for name, size in itertools.product(names, RUNS):
        say(f"accuracy: {name}, {size} values")
        for epsilon, data in itertools.product(EPSILONS, DATA):
            if row := accuracy(name, size, epsilon, data, source):
                rows.append(row)
    out = {"machine": facts("numba"), "users": USERS, "summary": summary(rows), "accuracy": rows}
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
