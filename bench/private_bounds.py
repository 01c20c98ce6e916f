"""Means between bounds that are chosen privately, by both rules, beside stated bounds and the true extremes.

python bench/private_bounds.py [--runs 40] > private_bounds.json

Tables: made-up values of many shapes, on which shares, prices and margin were chosen (`chosen on`), and those on which
nothing was (`held out`, DPRESS_DATA): numbers of Adult, coordinates of Gowalla, populations of US blocks, DPBench's
INCOME. One row is protected, and all rows are one group. `error` is the root mean squared error of the mean against the
rows as they are, in their standard deviations (of a constant, in 1); `held` the share of 95 % intervals that hold this
mean; `outside` the mean number of rows beyond the bounds. `outside_in` is `bounds_from_outside`, `steps_out`
`private_bounds`, `stated` the wide bounds, `extremes` the least and the largest value, which no release may read.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpress.core.basics import rng as generators
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.maps.linear import Array
from dpress.data.specification.spec import from_dict
from dpress.mechanisms.discovery import private_bounds
from dpress.mechanisms.discovery.bounds_from_outside import GROUPS_SHARE
from dpress.query.designs import central_ask
from dpress.release.curator.publish import publish
from dpress.release.plan.plan import plan
from machine import facts

Row = dict[str, Any]
MOST_ROWS = 50_000


@dataclass(frozen=True, kw_only=True)
class Table:
    """Values, the bounds that are stated for them, and the budget."""

    name: str
    values: Array
    bounds: tuple[float, float]
    epsilon: float = 1.0


def chosen_on() -> Iterator[Table]:
    """Yield the made-up tables."""
    draw = np.random.default_rng(1)  # noqa: TID251  # made-up rows
    late = np.where(draw.random(2000) < 0.36, draw.lognormal(3.25, 1.05, 2000), draw.normal(-5, 4, 2000))
    late = late.round().clip(-60, 1440)
    for wider in (1, 1e3, 1e6):
        yield Table(name=f"delays, bounds x {wider:g}", values=late, bounds=(-60 * wider, 1440 * wider), epsilon=0.5)
    yield Table(name="log-normal 0.7, 500 rows", values=draw.lognormal(8, 0.7, 500), bounds=(0, 1e6))
    yield Table(name="log-normal 0.8, 3,000 rows", values=draw.lognormal(10.5, 0.8, 3000), bounds=(0, 1e9))
    yield Table(name="log-normal 1.5, 30,000 rows", values=draw.lognormal(10.5, 1.5, 30_000), bounds=(0, 1e9))
    yield Table(name="normal, 3,000 rows", values=draw.normal(170, 10, 3000), bounds=(0, 1e4))
    yield Table(name="Laplace, 1,000 rows", values=draw.laplace(0, 10, 1000), bounds=(-1e6, 1e6))
    yield Table(name="uniform, 1,000 rows", values=draw.uniform(-3, 7, 1000), bounds=(-1e6, 1e6))
    yield Table(name="constant, 1,000 rows", values=np.full(1000, 42.0), bounds=(-1e6, 1e6))
    tail = np.where(draw.random(10_000) < 0.92, 0, draw.lognormal(8.5, 1, 10_000))
    yield Table(name="zeros and a tail, 10,000 rows", values=tail, bounds=(0, 1e6))


def held_out() -> Iterator[Table]:
    """Yield the tables on which nothing was chosen, where their files are."""
    data, draw = Path(os.environ.get("DPRESS_DATA", "../shared/data")), np.random.default_rng(2)  # noqa: TID251

    def table(name: str, values: Any, bounds: tuple[float, float], rows: int = MOST_ROWS) -> Table:
        known = np.asarray(values, dtype=float)
        known = known if len(known) <= rows else draw.choice(known, rows, replace=False)
        return Table(name=f"{name}, {len(known):,} rows", values=known, bounds=bounds)

    if (path := data / "adult" / "adult.parquet").exists():
        adult = pq.read_table(path).to_pandas()
        for rows in (MOST_ROWS, 2000):
            yield table("Adult, capital_gain", adult.capital_gain, (0, 1e9), rows)
            yield table("Adult, hours_per_week", adult.hours_per_week, (0, 1e6), rows)
            yield table("Adult, fnlwgt", adult.fnlwgt, (0, 1e9), rows)
    if (path := data / "gowalla" / "gowalla_poi_checkins.parquet").exists():
        checkins = pq.read_table(path).to_pandas()
        for rows in (MOST_ROWS, 2000):
            yield table("Gowalla, longitude", checkins.lon, (-1e4, 1e4), rows)
            yield table("Gowalla, latitude", checkins.lat, (-1e4, 1e4), rows)
    if (path := data / "us_spine" / "us_block_groups_2010.parquet").exists():
        yield table("US block groups, population", pq.read_table(path).to_pandas().population, (-1e9, 1e9))
    if (path := data / "us_spine" / "counties_2010.csv").exists():
        yield table("US counties, population", np.loadtxt(path, delimiter=",", skiprows=1, usecols=3), (0, 1e10))
    if (path := data / "dpbench" / "dpbench_1d_4096.npz").exists():
        counts = np.asarray(np.load(path)["INCOME"], dtype=np.int64)
        yield table("DPBench INCOME", np.repeat(np.arange(len(counts)), counts) + 1.0, (0, 1e9))


def designs(table: Table) -> dict[str, Any]:
    """Return what is published, by the way to find bounds."""

    def of(bounds: tuple[float, float], **more: Any) -> Any:
        attribute = {"name": "value", "kind": "numeric", "bounds": list(map(float, bounds)), "bins": 100}
        parameters = {"mean": ["value"], "users": len(table.values), **more}
        release = {"kind": "statistics", "parameters": parameters}
        return plan(from_dict({"attribute": [attribute], "privacy": {"epsilon": table.epsilon}, "release": release}))

    low, high = float(table.values.min()), float(table.values.max())
    extremes = (low, high) if low < high else (low - 0.5, high + 0.5)
    searched = of(table.bounds, private_bounds=["value"])
    return {
        "outside_in": searched,
        "steps_out": with_old_rule(searched),
        "stated": of(table.bounds),
        "extremes": of(extremes),
    }


def with_old_rule(planned: Any) -> Any:
    """Return the design of the same statistics whose bounds are priced by their steps from zero."""
    made, loss = planned.chosen.mechanism, planned.chosen.mechanism.claim.proven
    rest = 1 - private_bounds.BOUNDS_SHARE
    groups = replace(made.groups, loss=part_of(made.groups.loss, rest / GROUPS_SHARE))
    old = private_bounds.bounded(groups, part_of(loss, private_bounds.BOUNDS_SHARE / 2), made.axes)
    design = planned.design
    ask = central_ask(old, planned.choice.schema)
    return msgspec.structs.replace(design, method="private_bounds", ask=ask)


def measured(design: Any, table: Table, runs: int) -> Row:
    """Return the error of the mean, how often its interval holds, and how many rows are outside."""
    rows, truth, errors, held, outside = pa.table({"value": table.values}), table.values.mean(), [], 0, []
    for run in range(runs):
        release = publish(design, rows, rng=generators.seeded(run))
        found, attribute = release.mean("value"), release.schema.tabular[0]
        low, high = attribute.ends  # type: ignore[union-attr]
        outside.append(int(((table.values < low) | (table.values > high)).sum()))
        errors.append(np.nan_to_num(found.value, nan=(low + high) / 2) - truth)
        held += bool(found.interval[0] <= truth <= found.interval[1])
    error = float(np.sqrt(np.square(errors).mean()) / (table.values.std() or 1))
    return {"error": float(f"{error:.3g}"), "held": round(held / runs, 3), "outside": float(np.mean(outside))}


def main() -> None:
    """Print everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    runs, rows = parser.parse_args().runs, []
    for part, tables in (("chosen on", chosen_on()), ("held out", held_out())):
        for table in tables:
            found = {name: measured(design, table, runs) for name, design in designs(table).items()}
            rows.append({"table": table.name, "part": part, "epsilon": table.epsilon, **found})
            print(table.name, {name: own["error"] for name, own in found.items()}, file=sys.stderr)
    json.dump({"machine": facts(), "runs": runs, "rows": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
