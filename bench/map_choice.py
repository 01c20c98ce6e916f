"""The map of a table that a plan takes, against every other candidate, on real points: predicted and measured, as JSON.

python bench/map_choice.py > map_choice.json

Reads $DPRESS_DATA, by default `../shared/data`. Of every set samples of several sizes, and all of it; at every epsilon
the root mean squared error of the 500 rectangles of 1 to 25 % of the box that `evaluate` asks (their ends on a grid of
1024 x 1024, or on the set's own of 256 x 256): predicted by `plan`, which knows the number of people alone, and
measured over RUNS releases with their standard error. "regret" is the measured error of what `plan` takes over that of
the best candidate. Sets named in TUNED were looked at when the made-up populations were chosen, the others were not.
Progress goes to standard error.
"""

import json
import math
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from cases import data, say
from dpress.core.basics import rng
from dpress.core.maps.grid import LARGEST_SIDE, Rectangles, sums
from dpress.core.maps.linear import Array
from dpress.core.maps.workload import Areas
from dpress.data.specification.spec import from_dict
from dpress.kinds.spatial.design import AREAS, central_maps
from dpress.kinds.spatial.prediction import expected, typical_rectangles
from dpress.mechanisms.spatial.map_decoder import coarser
from machine import facts

WORLD = "gowalla/gowalla_poi_checkins.parquet"
STATES, NEW_YORK = ((-125.0, -66.5), (24.5, 49.5)), ((-74.27, -73.68), (40.48, 40.93))
POINTS = {
    "48 states": (WORLD, STATES),
    "New York check-ins": ("gowalla/gowalla_nyc_checkins.parquet", NEW_YORK),
    "New York pick-ups": ("nyc_pickups/nyc_taxi_pickups.parquet", NEW_YORK),
    "world": (WORLD, ((-180.0, 180.0), (-90.0, 90.0))),
    "fatal crashes": ("us_points/fars_fatal_crashes_2013_2015.parquet", STATES),
    "census places": ("us_points/us_census_places_zctas_2010.parquet", STATES),
}
IMAGES = "dpbench/dpbench_2d_256.npz"
TUNED = ("48 states", "New York check-ins", "New York pick-ups", "SF-CABS-S", "ADULT-2D", "LC-2D", "TWITTER")
SIZES, EPSILONS, RUNS = (1000, 10_000, 100_000), (0.05, 0.1, 0.5, 1.0, 2.0), 3
Counts = npt.NDArray[np.int64]
Image = tuple[str, Counts]


def of_points(across: Array, up: Array, box: tuple[tuple[float, float], tuple[float, float]]) -> Counts:
    """Return how many points are in every cell of the finest grid over a box; those outside are left out."""
    shares = [(given - low) / (high - low) for given, (low, high) in zip((across, up), box, strict=True)]
    inside = np.logical_and.reduce([(share >= 0) & (share <= 1) for share in shares])
    cells = [np.minimum((share[inside] * LARGEST_SIDE).astype(np.int64), LARGEST_SIDE - 1) for share in shares]
    counts = np.zeros((LARGEST_SIDE, LARGEST_SIDE), dtype=np.int64)
    np.add.at(counts, tuple(cells), 1)
    return counts


def shared() -> Iterator[Image]:
    """Yield the sets of the shared data that are there, with their names."""
    for name, (path, box) in POINTS.items():
        if (file := data(path)) is not None:
            table = pq.read_table(file, columns=["lon", "lat"])
            across, up = (np.asarray(table[column], dtype=np.float64) for column in ("lon", "lat"))
            yield name, of_points(across, up, box)
    if (file := data(IMAGES)) is not None:
        images = np.load(file)
        yield from ((name, images[name].astype(np.int64)) for name in images)


def sampled(image: Counts, size: int) -> Counts:
    """Return so many of the points at random."""
    shares, generator = np.cumsum(image.ravel()) / image.sum(), rng.seeded(1)
    places = np.searchsorted(shares, generator.words(size) / 2.0**64)
    return np.asarray(np.bincount(places, minlength=image.size).reshape(image.shape), dtype=np.int64)


def cells(image: Counts, side: int) -> Counts:
    """Return the points in every cell of a grid, those of a cut cell rounded; a coarse image's in a middle part."""
    if len(image) < side and side % len(image) == 0:
        finer = np.zeros((side, side), dtype=np.int64)
        width = side // len(image)
        finer[width // 2 :: width, width // 2 :: width] = image
        return finer
    return np.asarray(np.rint(coarser(image.astype(np.float64), side)).astype(np.int64))


def rectangles(side: int) -> Rectangles:
    """Return those of `evaluate`, in shares of the box, their ends on the edges of an image's cells."""
    boxes = typical_rectangles(Areas(*AREAS)).scaled(side / LARGEST_SIDE)
    left, bottom = (np.minimum(np.round(end), side - 1) for end in (boxes.left, boxes.bottom))
    right, top = np.maximum(np.round(boxes.right), left + 1), np.maximum(np.round(boxes.top), bottom + 1)
    return Rectangles(left, right, bottom, top).scaled(1 / side)


def candidates(users: int, epsilon: float) -> dict[str, Any]:
    """Return the candidates of a plan, by method and side."""
    place = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0, 1], [0, 1]]}
    release = {"kind": "spatial", "parameters": {"users": users}}
    spec = from_dict({"attribute": [place], "privacy": {"epsilon": epsilon}, "release": release})
    return {f"{method} {made.grid.side}": made for method, made in central_maps(spec, spec.privacy.loss.payable)}


def errors(made: Any, image: Counts, generator: rng.Generator) -> list[float]:
    """Return the mean squared error of the rectangles in each of RUNS releases."""
    boxes, exact = rectangles(len(image)), made.exact(made.grid.flat(cells(image, made.grid.side)))
    truth = sums(image.astype(np.float64), boxes.scaled(len(image)))
    estimates = (made.decoded(made.noisy(exact.copy(), rng=generator), int(image.sum())) for _ in range(RUNS))
    return [float(((estimate.values(boxes.scaled(made.grid.side)) - truth) ** 2).mean()) for estimate in estimates]


def compared(name: str, image: Counts, epsilon: float) -> dict[str, Any]:
    """Return every candidate's predicted and measured error, and the regret of the plan's choice."""
    users = int(image.sum())
    say(f"{name}, {users:,} points, epsilon {epsilon}")
    offered, generator = candidates(users, epsilon), rng.seeded(7)
    predicted = {key: math.sqrt(expected(made, Areas(*AREAS), users)) for key, made in offered.items()}
    squares = {key: errors(made, image, generator) for key, made in offered.items()}
    measured = {key: math.sqrt(np.mean(runs)) for key, runs in squares.items()}
    spread = {key: float(np.std(np.sqrt(runs), ddof=1) / math.sqrt(RUNS)) for key, runs in squares.items()}
    choice = min(predicted, key=lambda key: predicted[key])
    row = {"data": name, "tuned": name in TUNED, "users": users, "epsilon": epsilon, "choice": choice}
    row |= {"regret": measured[choice] / min(measured.values()), "predicted": predicted}
    return row | {"measured": measured, "standard_error": spread}


def table(images: Iterable[Image]) -> dict[str, Any]:
    """Return all comparisons, and the regret over them: the geometric mean and the worst, of every set and of all."""
    rows = [
        compared(name, sample, epsilon)
        for name, image in images
        for sample in [*(sampled(image, size) for size in SIZES if size < 0.8 * image.sum()), image]
        for epsilon in EPSILONS
    ]
    names = dict.fromkeys(row["data"] for row in rows)
    groups = {name: [row["regret"] for row in rows if row["data"] == name] for name in names}
    groups |= {"all": [row["regret"] for row in rows]}
    groups |= {"not tuned on": [row["regret"] for row in rows if not row["tuned"]]}
    regret = {
        name: {"mean": math.exp(np.mean(np.log(values))), "worst": max(values), "cases": len(values)}
        for name, values in groups.items()
        if values
    }
    return {"runs": RUNS, "regret": regret, "rows": rows}


def print_table(images: list[Image], absent: str) -> None:
    """Print one JSON object: all comparisons, or why there are none."""
    if not images:
        say(absent)
    figures = {"machine": facts("scipy")} | table(images) if images else {"skipped": absent}
    json.dump(figures, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    print_table(list(shared()), "no data: set DPRESS_DATA to the folder of the shared data")
