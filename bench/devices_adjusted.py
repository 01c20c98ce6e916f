"""Adjusted counts from devices: squared error of every adjustment by that of the unbiased counts, as JSON.

python bench/devices_adjusted.py > devices_adjusted.json

Ages, hours and years of school of Adult and populations of census places, one attribute each, under $DPRESS_DATA, by
default `../shared/data`. USERS people are drawn from each, RUNS times, and report as the plan of a histogram, or of
ranges, says; every name of `postprocess` that serves is applied to the same estimates. "cells" is the mean squared
error of the cells' counts by that of the unbiased ones, "ranges" that of RANGES random ranges; each is the geometric
mean over the tables, with the least and the largest, and "standard_error" that of its logarithm over the runs. Least
and largest above 1 mean a table that the name makes worse.
"""

import json
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import dpress
from cases import say
from device_predictions import AGE, HOURS, PEOPLE, SCHOOL, adult, places
from dpress.core.basics import rng
from dpress.inference.postprocess import NAMES, adjust
from machine import facts

RUNS, RANGES = 6, 500
USERS, EPSILONS, KINDS = (1_000, 10_000, 100_000), (0.25, 1.0, 4.0), ("histogram", "ranges")
SAME = ("integer", "simplex")  # one moves no count by one, one is norm_sub
WORDS = [name for name, named in NAMES.items() if name not in SAME and {*named.needs} <= {"users", "deviations"}]
Counts = npt.NDArray[np.float64]


def tables() -> Iterator[tuple[dict[str, Any], Counts]]:
    """Yield an attribute and its column, of every table."""
    rows = adult()
    for attribute in (AGE, HOURS, SCHOOL):
        yield attribute, rows[attribute["name"]].to_numpy()
    yield PEOPLE, places()["people"].to_numpy()


def errors(kind: str, attribute: dict[str, Any], column: Counts, users: int, epsilon: float) -> list[dict[str, float]]:
    """Return for every run the squared errors by name and what they are about."""
    privacy = {"model": "local", "epsilon": epsilon}
    release = {"kind": kind, "parameters": {"users": users}}
    planned = dpress.plan(dpress.load_spec({"attribute": [attribute], "privacy": privacy, "release": release}))
    draw, found = np.random.default_rng(users), []  # noqa: TID251  # people and ranges
    for run in range(RUNS):
        people = draw.choice(column, users)
        with tempfile.TemporaryDirectory() as folder:
            reports = Path(folder) / "reports.parquet"
            rows = pa.table({attribute["name"]: people})
            dpress.perturb(planned.design, rows, out=reports, rng=rng.seeded(run))
            made = dpress.estimate(planned.design, reports, out=Path(folder) / "release")
            table = made.tables[(attribute["name"],)].to_pandas()
            count, deviations = (np.asarray(table[name], dtype=float) for name in ("count", "standard_error"))
            truth = exact(attribute, people)
        ends = np.sort(draw.integers(0, count.size + 1, (RANGES, 2)), axis=1)
        row = {}
        for name in ("", *WORDS):
            counts = adjust(count, [name] if name else [], users=users, deviations=deviations)
            off = np.append(0, np.cumsum(counts - truth))
            row[f"cells {name}"] = float(np.mean((counts - truth) ** 2))
            row[f"ranges {name}"] = float(np.mean((off[ends[:, 1]] - off[ends[:, 0]]) ** 2))
        found.append(row)
    return found


def exact(attribute: dict[str, Any], people: Counts) -> Counts:
    """Return the true counts of an attribute's cells."""
    low, high = attribute["bounds"]
    size = attribute.get("bins", high - low + 1)
    places = (np.clip(people, low, high) - low) * size // (high - low + ("bins" not in attribute))
    return np.bincount(np.minimum(places, size - 1).astype(int), minlength=size).astype(float)


def row(kind: str, users: int, epsilon: float) -> dict[str, Any]:
    """Return the figures of one number of people and one epsilon."""
    say(f"{kind} of {users:,} people, epsilon {epsilon:g}")
    ratios: dict[str, list[float]] = {}
    spread: dict[str, list[float]] = {}
    for attribute, column in tables():
        runs = errors(kind, attribute, column, users, epsilon)
        for what in ("cells", "ranges"):
            unbiased = np.array([run[f"{what} "] for run in runs])
            for name in WORDS:
                adjusted = np.array([run[f"{what} {name}"] for run in runs])
                ratios.setdefault(f"{what}, {name}", []).append(float(adjusted.mean() / unbiased.mean()))
                each = np.log(adjusted / unbiased)
                spread.setdefault(f"{what}, {name}", []).append(float(each.var(ddof=1) / RUNS))
    figures = {
        name: {
            "ratio": round(math.exp(float(np.mean(np.log(own)))), 3),
            "standard_error": round(math.sqrt(sum(spread[name])) / len(own), 3),
            "least": round(min(own), 3),
            "largest": round(max(own), 3),
        }
        for name, own in ratios.items()
    }
    return {"kind": kind, "users": users, "epsilon": epsilon, **figures}


def main() -> None:
    """Print one JSON object."""
    rows = [row(kind, users, epsilon) for kind in KINDS for users in USERS for epsilon in EPSILONS]
    json.dump({"machine": facts(), "runs": RUNS, "tables": 4, "rows": rows}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
