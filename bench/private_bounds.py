"""Means between bounds that are chosen privately, beside stated bounds and the true largest value.

python bench/private_bounds.py [--runs 20] > private_bounds.json

Tables: log-normal and normal values, on which shares and price were chosen; Adult's ages and hours by years of
education and values of DPBench histograms in four groups (DPRESS_DATA), on which nothing was. Epsilon is 1, one row is
protected. `error` is the root mean squared error of the groups' means by the mean of all, against the rows as they are;
`outside` how many rows count as a bound. `stated` has bounds of 0 and a million times the largest value, `largest` 0
and the largest value itself, which no release may read; `ratio` is the squared error by that of `largest`.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpress.core import rng as generators
from dpress.core.linear import Array
from dpress.data.specification.spec import from_dict
from dpress.release.publish import publish
from machine import facts

WIDER = 1e6
Row = dict[str, Any]


def tables() -> dict[str, tuple[Array, Array]]:
    """Return groups and values by name."""
    draw = np.random.default_rng(1)  # noqa: TID251  # made-up rows
    found = {
        f"log-normal {sd}, {rows:,} rows (chosen on)": (np.arange(rows) % 3, draw.lognormal(10.5, sd, rows))
        for rows, sd in ((30_000, 0.8), (30_000, 1.5), (3_000, 0.8))
    }
    found["normal (chosen on)"] = (np.arange(30_000) % 3, draw.normal(170, 10, 30_000))
    data = Path(os.environ.get("DPRESS_DATA", "../shared/data"))
    if (data / "adult" / "adult.parquet").exists():
        adult = pq.read_table(data / "adult" / "adult.parquet").to_pandas()
        years = adult.education_num.to_numpy() - 1
        found["Adult, age"], found["Adult, hours"] = (
            (years, adult[name].to_numpy().astype(float)) for name in ("age", "hours_per_week")
        )
    if (data / "dpbench" / "dpbench_1d_4096.npz").exists():
        stored = np.load(data / "dpbench" / "dpbench_1d_4096.npz")
        for name in ("INCOME", "MD-SAL", "LC-REQ-F1"):
            counts = np.asarray(stored[name], dtype=np.int64)
            counts = np.round(counts * min(1.0, 50_000 / counts.sum())).astype(np.int64)
            values = np.repeat(np.arange(len(counts)), counts) + 1.0
            found[f"DPBench {name}, {len(values):,} rows"] = (draw.integers(0, 4, len(values)), values)
    return found


def measured(group: Array, values: Array, largest: float, *, chosen: bool, runs: int) -> Row:
    """Return the error of the groups' means, and the mean number of rows outside of the bounds."""
    groups = int(group.max()) + 1
    rows = pa.table({"group": group, "value": values})
    parameters: Row = {"by": ["group"], "mean": ["value"], "users": len(values)}
    if chosen:
        parameters["private_bounds"] = ["value"]
    attributes = [
        {"name": "group", "kind": "integer", "bounds": [0, groups - 1]},
        {"name": "value", "kind": "numeric", "bounds": [0.0, largest], "bins": 100},
    ]
    release = {"kind": "statistics", "parameters": parameters}
    spec = from_dict({"attribute": attributes, "privacy": {"epsilon": 1}, "release": release})
    truth = np.bincount(group, values) / np.bincount(group)
    errors, outside = [], []
    for run in range(runs):
        found = publish(spec, rows, rng=generators.seeded(run))
        own: Any = found.schema.tabular[1]
        outside.append(int((values < own.ends[0]).sum() + (values > own.ends[1]).sum()))
        answers: Any = found.answers
        errors.append(np.nan_to_num(answers.groups().of("mean value").value, nan=values.mean()) - truth)
    return {"error": float(np.sqrt(np.square(errors).mean()) / values.mean()), "outside": float(np.mean(outside))}


def compared(group: Array, values: Array, runs: int) -> Row:
    """Return the row of a table."""
    top = float(values.max())
    ways = {"chosen": (WIDER * top, True), "stated": (WIDER * top, False), "largest": (top, False)}
    found = {name: measured(group, values, end, chosen=own, runs=runs) for name, (end, own) in ways.items()}
    return found | {"ratio": round((found["chosen"]["error"] / found["largest"]["error"]) ** 2, 3)}


def main() -> None:
    """Print everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    found = {name: compared(*own, runs) for name, own in tables().items()}
    json.dump({"machine": facts(), "runs": runs, "rows": found}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
