"""Ranges of several attributes from devices: squared error, ours by HDG as published, as JSON.

python bench/devices_grids.py [USERS...] > devices_grids.json

Tables under $DPRESS_DATA, by default `../shared/data`: four columns of Adult, the positions of US places, and three
made-up normal columns, each in 64 cells. USERS people (10^5 and 10^6 unless given) are drawn from each, RUNS times;
both methods see the same people and BOXES random ranges of every attribute and boxes of every pair, at epsilon 1.

`hdg` runs as it is published, report by report: "ours" are the unbiased counts, "adjusted" those without any below
zero. HDG (Yang et al. 2020): OUE over g1 tiles of an attribute and g2 x g2 of a pair by its guideline, powers of two;
Norm-Sub and consistency three times; a response matrix by weighted updates. Its reports are drawn by count. A figure is
a mean squared error over attributes (1) or pairs (2) by that of HDG; "predicted" the plan's by what "ours" has, over
both together.
"""

import itertools
import json
import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cases import data, say
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import seeded
from dpress.core.maps.ranges import Ranges
from dpress.inference.box_sums import box_sums
from dpress.inference.postprocess import norm_sub
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.ranges.grid_counts import GridCounts
from dpress.mechanisms.ranges.grid_error import sets_of
from dpress.mechanisms.ranges.hdg import Hdg
from dpress.mechanisms.ranges.hdg_choice import best_grids, predicted_error
from machine import facts

CELLS, RUNS, BOXES, EPSILON = 64, 8, 500, 1.0
ODDS = math.exp(EPSILON)
ALPHA_1, ALPHA_2 = 0.7, 0.03
ROUNDS, UPDATES = 3, 100
Array = npt.NDArray[Any]
Random = np.random.Generator  # noqa: TID251  # of the people and the peer's reports
Tables = dict[tuple[int, ...], Array]


def columns() -> Iterator[tuple[str, Array]]:
    """Yield tables as codes, shape (attributes, rows)."""
    adult = pd.read_parquet(data("adult/adult.parquet") or sys.exit("set DPRESS_DATA to the folder of the data"))
    own = {"age": (17, 91), "hours_per_week": (1, 100), "education_num": (1, 17)}
    codes = [cut(adult[name], *ends) for name, ends in own.items()]
    yield "adult", np.stack([*codes, cut(np.log(adult["fnlwgt"]), 9.0, 14.5)])
    places = pd.read_parquet(data("us_points/us_census_places_zctas_2010.parquet"))
    yield "us places", np.stack([cut(places["lon"], -125, -66.5), cut(places["lat"], 24.5, 49.5)])
    draw = np.random.default_rng(1)  # noqa: TID251  # made-up people
    normal = draw.multivariate_normal([0, 0, 0], [[1, 0.8, 0.5], [0.8, 1, 0.3], [0.5, 0.3, 1]], 200_000).T
    yield "normal", np.stack([cut(one, -4, 4) for one in normal])


def cut(values: Any, low: float, high: float) -> Array:
    """Return the cell of every value."""
    return np.clip((np.asarray(values) - low) * CELLS / (high - low), 0, CELLS - 1).astype(np.int32)


def oue(held: Array, users: int, random: Random) -> Array:
    """Return the estimated shares of OUE over so many users."""
    q = 1 / (ODDS + 1)
    return (random.binomial(held, 0.5) + random.binomial(users - held, q) - users * q) / (0.5 - q) / users


def tiles(guide: float) -> int:
    """Return the power of two nearest to a guideline."""
    return min((1 << power for power in range(1, CELLS.bit_length())), key=lambda one: abs(one - guide))


class Published:
    """HDG as published."""

    def __init__(self, codes: Array, random: Random) -> None:
        attributes, users = codes.shape
        self.sets, self.attributes = sets_of(attributes), attributes
        scale = users / (len(self.sets) * ODDS)
        self.fine = tiles((scale * (ODDS - 1) ** 2 * ALPHA_1**2 / 2) ** (1 / 3))
        self.coarse = min(tiles(math.sqrt(2 * ALPHA_2 * (ODDS - 1) * math.sqrt(scale))), self.fine)
        group = random.integers(0, len(self.sets), users)
        self.grids = [self._collected(axes, codes[:, group == i], random) for i, axes in enumerate(self.sets)]
        for _ in range(ROUNDS + 1):
            self._nonnegative()
            self._consistent()
        self._nonnegative()

    def _collected(self, axes: tuple[int, ...], codes: Array, random: Random) -> Array:
        shape = (self.fine,) if len(axes) == 1 else (self.coarse, self.coarse)
        places = np.ravel_multi_index([codes[axis] * shape[0] // CELLS for axis in axes], shape)
        held = np.bincount(places, minlength=math.prod(shape))
        return oue(held, codes.shape[1], random).reshape(shape)

    def _nonnegative(self) -> None:
        self.grids = [norm_sub(one.ravel(), users=1).reshape(one.shape) for one in self.grids]

    def _sums(self, place: int, axis: int) -> Array:
        own = self.grids[place]
        one = own.reshape(self.coarse, -1) if own.ndim == 1 else own
        return np.asarray(one.sum(axis=1 if own.ndim == 1 else 1 - self.sets[place].index(axis)))

    def _consistent(self) -> None:
        for axis in range(self.attributes):
            holding = [place for place, axes in enumerate(self.sets) if axis in axes]
            sums = [self._sums(place, axis) for place in holding]
            each = [self.fine // self.coarse if place == axis else self.coarse for place in holding]
            mean = np.average(sums, axis=0, weights=[1 / one for one in each])
            for place, own, parts in zip(holding, sums, each, strict=True):
                move = (mean - own) / parts
                if place == axis:
                    self.grids[place] = self.grids[place] + np.repeat(move, parts)
                else:
                    along = (-1, 1) if self.sets[place][0] == axis else (1, -1)
                    self.grids[place] = self.grids[place] + move.reshape(along)

    def tables(self) -> Tables:
        """Return the shares of all cells of every attribute and pair."""
        width = CELLS // self.fine
        found = {(axis,): np.repeat(self.grids[axis] / width, width) for axis in range(self.attributes)}
        pairs = enumerate(self.sets)
        return found | {axes: self._response(axes, self.grids[i]) for i, axes in pairs if len(axes) == 2}

    def _response(self, axes: tuple[int, ...], pair: Array) -> Array:
        found, side = np.full((CELLS, CELLS), CELLS**-2), CELLS // self.coarse
        for _ in range(UPDATES):
            before = found
            for place, axis in enumerate(axes):
                sums = found.sum(axis=1 - place).reshape(self.fine, -1).sum(axis=1)
                factor = np.repeat(_by(self.grids[axis], sums), CELLS // self.fine)
                found = found * (factor[:, None] if place == 0 else factor)
                found = found / found.sum()
            sums = found.reshape(self.coarse, side, self.coarse, side).sum(axis=(1, 3))
            found = found * np.kron(_by(pair, sums), np.ones((side, side)))
            found = found / found.sum()
            if np.abs(found - before).sum() < 1e-6:
                break
        return found


def _by(wanted: Array, sums: Array) -> Array:
    return np.where(sums > 0, wanted / np.where(sums > 0, sums, 1.0), 1.0)


def collected(grids: Hdg, codes: Array, seed: int) -> GridCounts:
    """Return our counts, from everybody's report."""
    collection, rng = Collection(shape=grids.shape, types=grids.types, split="users", estimator=grids), seeded(seed)
    drawn = collection.drawn(codes.shape[1], rng=rng)
    asked = enumerate(grids.types)
    return grids.counts([own.tally(own.perturb(codes[:, drawn == i], rng=rng)) for i, own in asked])


def row(name: str, base: Array, users: int) -> dict[str, Any]:
    """Return both methods' errors on one table."""
    random, attributes = np.random.default_rng(users), base.shape[0]  # noqa: TID251  # people and ranges
    errors: dict[tuple[str, int], list[float]] = {}
    for run in range(RUNS):
        codes = base[:, random.integers(0, base.shape[1], users)]
        ends = [np.sort(random.integers(0, CELLS, (BOXES, 2)), axis=1) + 1 for _ in range(attributes)]
        sample = [Ranges(CELLS, own[:, 0], own[:, 1]) for own in ends]
        grids = best_grids((CELLS,) * attributes, PureDP(epsilon=EPSILON), sample, users)
        ours, peer = collected(grids, codes, run), Published(codes, random)
        published = peer.tables()
        for axes in grids.tables:
            shape, own = (CELLS,) * len(axes), [sample[axis] for axis in axes]
            held = np.bincount(np.ravel_multi_index(list(codes[list(axes)]), shape), minlength=math.prod(shape))
            truth = box_sums(held.reshape(shape), own)
            found = {
                "ours": ours.table(axes), "adjusted": ours.nonnegative(axes), "hdg": published[axes].ravel() * users,
            }  # fmt: skip
            for method, cells in found.items():
                error = float(np.mean((box_sums(cells.reshape(shape), own) - truth) ** 2))
                errors.setdefault((method, len(axes)), []).append(error)
    mean = {key: float(np.mean(own)) for key, own in errors.items()}
    ratios = {
        f"{method}, {ways}": round(mean[method, ways] / mean["hdg", ways], 3)
        for method, ways in itertools.product(("ours", "adjusted"), (1, 2))
    }
    every = float(np.mean(errors["ours", 1] + errors["ours", 2]))
    made = {"tiles": [grids.fine[0], grids.coarse[0]], "of hdg": [peer.fine, peer.coarse]}
    say(f"{name} {users:,}: {ratios}")
    predicted = round(predicted_error(grids, sample, users) / every, 2)
    return {"table": name, "users": users, **made, **ratios, "predicted": predicted}


def main(users: list[int]) -> None:
    """Print the rows."""
    rows = [row(name, base, n) for name, base in columns() for n in users]
    json.dump({"machine": facts(), "rows": rows}, sys.stdout, indent=1)


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or [10**5, 10**6])
