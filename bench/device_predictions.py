"""How well `plan` predicts collections from devices: measured over predicted error, by kind, table and method, as JSON.

python bench/device_predictions.py [KIND or EPSILON...] > device_predictions.json

For every kind under `model = "local"` and two real tables each: the plan is made for as many users as there are, every
candidate that runs is collected report by report, and evaluated against the rows. "ratio" is the root of the
mean squared error as measured over the root of the predicted one: of the cells of tables, of random ranges, of a mean,
of random rectangles, of the counts of sets. Predictions are made before anything is known of the rows, for even
people; those of numbers a second time for their mean and spread, as a guess that is right (`assume`). epsilon is 1
unless some are given.
Reads $DPRESS_DATA, by default `../shared/data`. Progress goes to standard error.
"""

import itertools
import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import dpress
from cases import data, say
from dpress.core.basics import rng
from dpress.release.devices.next_round import next_design
from machine import facts

RUNS, RUNS_OF_ONE, NEAR = 6, 40, 0.2
AGE = {"name": "age", "kind": "integer", "bounds": [17, 90]}
HOURS = {"name": "hours_per_week", "kind": "integer", "bounds": [1, 99]}
SCHOOL = {"name": "education_num", "kind": "integer", "bounds": [1, 16]}
SEX = {"name": "sex", "kind": "categorical", "values": ["Female", "Male"]}
GAIN = {"name": "capital_gain", "kind": "numeric", "bounds": [0, 100000], "bins": 100}
PEOPLE = {"name": "people", "kind": "numeric", "bounds": [0, 12], "bins": 60}
KIND = {"name": "kind", "kind": "categorical", "values": ["place", "zcta"]}
BITS = [{"name": f"x{place:02d}", "kind": "integer", "bounds": [0, 1]} for place in range(4)]
USA = {"name": "p", "kind": "location", "columns": ["lon", "lat"], "bounds": [[-125, -66.5], [24.5, 49.5]]}
CITY = {"name": "p", "kind": "location", "columns": ["lon", "lat"], "bounds": [[-74.03, -73.75], [40.58, 40.9]]}
NEEDS = {"name": "needs", "kind": "categorical", "values": [f"x{place:02d}" for place in range(16)]}


def adult() -> pa.Table:
    """Return the rows of Adult."""
    return _read("adult/adult.parquet")


def places() -> pa.Table:
    """Return census places, with the logarithm of one more than their population."""
    found = _read("us_points/us_census_places_zctas_2010.parquet")
    return found.append_column("people", pa.array([math.log1p(own) for own in found["population"].to_pylist()]))


def disabled() -> pa.Table:
    """Return the rows of NLTCS, with the set of bits that are 1."""
    found = _read("nltcs/nltcs.parquet")
    columns = [found[name].to_pylist() for name in NEEDS["values"]]
    held = [[name for name, bit in zip(NEEDS["values"], row, strict=True) if bit] for row in zip(*columns, strict=True)]
    return found.append_column("needs", pa.array(held, pa.list_(pa.string())))


def baskets() -> pa.Table:
    """Return sets of up to three of Adult's hours by tens, with ages: people who share a household of three rows."""
    tens = [f"x{own // 10:02d}" for own in adult()["hours_per_week"].to_pylist()]
    groups = [sorted(set(tens[place : place + 3])) for place in range(0, len(tens), 3)]
    return pa.table({"needs": pa.array(groups, pa.list_(pa.string()))})


def pickups() -> pa.Table:
    """Return taxi pick-ups."""
    return _read("nyc_pickups/nyc_taxi_pickups.parquet")


def _read(name: str) -> pa.Table:
    found = data(name)
    if found is None:
        raise SystemExit(json.dumps({"skipped": f"no reference data for {name}; set DPRESS_DATA"}))
    return pq.read_table(found)


Case = tuple[Callable[[], pa.Table], list[dict[str, Any]], dict[str, Any], str]
PAIRS, WHOLE, CELLS, RANGES = (
    "pairs",
    "root_mean_squared_error",
    "cell_root_mean_squared_error",
    "range_root_mean_squared_error",
)
CASES: Mapping[str, list[Case]] = {
    "histogram": [(adult, [AGE], {}, CELLS), (places, [PEOPLE], {}, CELLS)],
    "marginals": [(adult, [AGE, SCHOOL, SEX], {}, CELLS), (places, [PEOPLE, KIND], {}, CELLS)],
    "ranges": [
        (adult, [HOURS], {}, RANGES), (places, [PEOPLE], {}, RANGES),
        (adult, [HOURS], {"rounds": 5}, RANGES), (places, [PEOPLE], {"rounds": 5}, RANGES),
        (adult, [AGE, SCHOOL], {}, RANGES),
        (places, [PEOPLE, {**PEOPLE, "name": "lat", "bounds": [24, 50]}], {}, RANGES),
    ],
    "statistics": [
        (adult, [HOURS], {"mean": ["hours_per_week"]}, "mean hours_per_week: root mean squared error"),
        (adult, [GAIN], {"mean": ["capital_gain"]}, "mean capital_gain: root mean squared error"),
        (adult, [HOURS], {"mean": ["hours_per_week"], "assume": {"hours_per_week": {"mean": 40, "sd": 12}}},
         "mean hours_per_week: root mean squared error"),
        (adult, [GAIN], {"mean": ["capital_gain"], "assume": {"capital_gain": {"mean": 1100, "sd": 7500}}},
         "mean capital_gain: root mean squared error"),
        (places, [PEOPLE], {"mean": ["people"]}, "mean people: root mean squared error"),
    ],
    "joint": [(adult, [SEX, SCHOOL], {}, PAIRS), (disabled, BITS, {}, PAIRS)],
    "sets": [
        (disabled, [NEEDS], {"cap": 16}, WHOLE),
        (baskets, [NEEDS], {"cap": 3}, WHOLE),
    ],
    "spatial": [(places, [USA], {}, WHOLE), (pickups, [CITY], {}, WHOLE)],
}  # fmt: skip


def measured(kind: str, case: Case, epsilon: float) -> list[dict[str, Any]]:
    """Return a row for every candidate that runs: what was predicted, and what came of it."""
    make, attributes, parameters, metric = case
    table, out = make(), []
    release = {"kind": kind, "parameters": {"users": table.num_rows, **parameters}}
    asked = {"attribute": attributes, "privacy": {"model": "local", "epsilon": epsilon}, "release": release}
    planned = dpress.plan(dpress.load_spec(asked))
    for method in dict.fromkeys(one.method for one in planned.candidates):
        own = dpress.plan(dpress.load_spec({**asked, "release": {**release, "method": method}}))
        predicted = own.chosen.predicted_error
        row = {"table": make.__name__, "attributes": [one["name"] for one in attributes], "method": method}
        row |= {
            "epsilon": epsilon,
            "assumed": "assume" in parameters,
            "users": table.num_rows,
            "chosen": method == planned.chosen.method,
        }
        if not math.isfinite(predicted) or own.chosen.mechanism.claim.proven is None or own.chosen.assumes:
            out.append({**row, "skipped": "no prediction, none without an assumption, or no proof"})
            continue
        squares = []
        for run in range(RUNS_OF_ONE if kind == "statistics" else RUNS):  # one number alone says less
            say(f"{kind} of {make.__name__} by {method}, run {run + 1}")
            squares.append(_once(own, table, metric, run))
        ratio = math.sqrt(statistics.mean(squares) / predicted)
        spread = statistics.stdev(squares) / math.sqrt(len(squares)) / statistics.mean(squares) / 2
        out.append(
            {**row, "unit": own.choice.unit, "ratio": round(ratio, 3), "standard_error": round(ratio * spread, 3)}
        )
    return out


def _once(planned: dpress.Plan, table: pa.Table, metric: str, seed: int) -> float:
    """Return the mean squared error of one collection, in the plan's unit."""
    with tempfile.TemporaryDirectory() as folder:
        design: dpress.Design | None = planned.design
        while design is not None:  # the rounds, one after the other
            reports = Path(folder) / f"reports{design.round}.parquet"
            dpress.perturb(design, table, out=reports, rng=rng.seeded(seed))
            release = dpress.estimate(design, reports, out=Path(folder) / f"release{design.round}")
            design = next_design(release)
        if metric == PAIRS:
            return _pairs(release, table)
        found = dpress.evaluate(release, table)
    return float(found[metric]) ** 2 / _scale(planned) ** 2


def _pairs(release: dpress.Release, table: pa.Table) -> float:
    """Return the mean squared error of the cells of all tables of two attributes."""
    names, found = release.schema.names, []
    for pair in itertools.combinations(names, 2):
        own = release.tables[pair].to_pandas().astype(dict.fromkeys(pair, str)).set_index([*pair])["count"]
        rows = table.select(list(pair)).to_pandas().astype(str)
        true = rows.groupby([*pair]).size().reindex(own.index, fill_value=0)
        found.append(float(((own - true) ** 2).mean()))
    return statistics.mean(found)


def _scale(planned: dpress.Plan) -> float:
    """Return what errors are divided by: the width of the bounds, where the plan says so."""
    if "width" not in planned.choice.unit:
        return 1.0
    low, high = planned.spec.attribute[0].bounds
    return float(high - low)


def main() -> None:
    """Print one JSON object."""
    given = [text for text in sys.argv[1:] if text not in CASES]
    kinds = [kind for kind in CASES if kind in sys.argv[1:]] or [*CASES]
    rows = {
        kind: [
            row for epsilon in map(float, given or [1]) for case in CASES[kind] for row in measured(kind, case, epsilon)
        ]
        for kind in kinds
    }
    far = [
        f"{kind} of {row['table']} by {row['method']} at epsilon {row['epsilon']:g}: {row['ratio']}"
        for kind, measured_rows in rows.items()
        for row in measured_rows
        if "ratio" in row and abs(row["ratio"] - 1) > NEAR + 2 * row["standard_error"]
    ]
    runs = {"statistics": RUNS_OF_ONE, "others": RUNS}
    json.dump({"machine": facts(), "runs": runs, "kinds": rows, "beyond 20 %": far}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
