"""Made-up skewed people, statistics of them that are known, and how often stated intervals hold these."""

import math
from collections.abc import Sequence
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.maps.linear import Array
from dpress.core.reports.pieces import no_payloads
from dpress.data.specification.spec import Spec, from_dict
from dpress.mechanisms.protocol.collection import Collection
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.release.devices.from_tallies import released
from dpress.release.plan.plan import Plan

LEVEL, SHORTER = 0.94, 0.75
FALSE_ALARM = 1e-6  # of all comparisons of the coverage of statistics together
COMPARISONS = 200
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / COMPARISONS)
AGE = {"name": "age", "kind": "integer", "bounds": [0, 23]}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m", "x"]}
WARD = {"name": "ward", "kind": "categorical", "values": ["eyes", "skin"]}
ASKED = (
    "mean age",
    "mean age where sex = f",
    "mean age where sex = x",
    "mean age where age in 4..15",
    "sum age where sex = m",
    "share sex = f",
    "share age < 3 where sex = m",
    "share sex = f and age >= 6",
    "ratio sex = x / sex = f",
    "count sex = f - count sex = m",
    "count sex = f - count age < 2",
)
QUANTILES = ("median age", "quantile 0.9 of age where sex = f", "quantile 0.1 of age where sex = m")
Columns = dict[str, Any]


def people(users: int, seed: int = 3) -> Columns:
    """Ages that fall off fast, more than half of one sex, one that is rare and old."""
    words = rng.seeded(seed).words(3 * users).reshape(3, users) / 2.0**64
    sex = np.array(["f", "m", "x"])[np.searchsorted([0.55, 0.95], words[1])]
    age = np.minimum((-np.log1p(-words[0]) * np.where(sex == "x", 9, 4)).astype(np.int64), 23)
    return {"age": age, "sex": sex, "ward": np.array(["eyes", "skin"])[(words[2] < 0.3 + age / 60).astype(int)]}


def spec(release: dict[str, Any], privacy: dict[str, Any], attributes: Sequence[dict[str, Any]] = (AGE, SEX)) -> Spec:
    return from_dict({"attribute": [*attributes], "privacy": privacy, "release": release})


def table(columns: Columns, attributes: Sequence[dict[str, Any]] = (AGE, SEX)) -> pa.Table:
    return pa.table({one["name"]: columns[one["name"]] for one in attributes})


def truth(columns: Columns, text: str) -> float:
    """The statistic of the people themselves, by NumPy alone."""
    word, rest = text.split(" ", 1)
    if word in ("ratio", "count"):
        first, second = rest.split(" / " if word == "ratio" else " - count ")
        counts = [int(_mask(columns, one).sum()) for one in (first, second)]
        return counts[0] / counts[1] if word == "ratio" else counts[0] - counts[1]
    what, _, where = rest.partition(" where ")
    group = _mask(columns, where)
    if word == "share":
        return float(_mask(columns, what)[group].mean())
    numbers = np.sort(columns[what.split(" of ")[-1]][group])
    if word in ("mean", "sum"):
        return float(getattr(np, word)(numbers))
    level = 0.5 if word == "median" else float(what.split(" of ")[0])
    return float(numbers[math.ceil(level * numbers.size - 1e-9) - 1])


def _mask(columns: Columns, where: str) -> Array:
    inside = np.ones(len(columns["age"]), dtype=bool)
    for one in filter(None, where.split(" and ")):
        name, operator, value = one.split(" ", 2)
        own = columns[name]
        if operator == "in":
            low, high = map(int, value.split(".."))
            inside &= (own >= low) & (own <= high)
        elif operator == "=":
            inside &= own == value
        else:
            inside &= own < int(value) if operator == "<" else own >= int(value)
    return inside


def hits(releases: Sequence[Release], asked: Sequence[str], columns: Columns) -> tuple[Array, Array]:
    """By release and query whether the interval holds the truth, and whether one a quarter shorter does."""
    known = [truth(columns, text) for text in asked]
    found = [[one.query(text) for text in asked] for one in releases]
    whole, shorter = (
        np.array([[holds(one, true, factor) for one, true in zip(row, known, strict=True)] for row in found])
        for factor in (1.0, SHORTER)
    )
    return whole, shorter


def holds(found: Result, true: float, shorter: float) -> bool:
    low, high = found.interval
    if math.isnan(found.value):
        return low <= true <= high
    return found.value - shorter * (found.value - low) <= true <= found.value + shorter * (high - found.value)


def too_low(held: Array) -> bool:
    """Whether intervals hold too seldom by more than chance, over independent runs of one case; shape (runs, ...)."""
    shares = held.reshape(len(held), -1).mean(axis=1)
    error = math.sqrt(max(float(shares.var(ddof=1)), LEVEL * (1 - LEVEL) / held.size) / len(shares))
    return bool(shares.mean() < LEVEL - LIMIT * error)


def collected(planned: Plan, codes: Array, run: int, *, fitted: bool = False) -> Release:
    """A release of what devices report of codes, shape (attributes, users), made in memory; `fitted` from tallies."""
    own = planned.chosen.mechanism
    assert isinstance(own, Collection)
    generator = rng.seeded(run)
    drawn = own.drawn(codes.shape[1], rng=generator)
    payloads = [one.perturb(codes[:, drawn == place], rng=generator) for place, one in enumerate(own.types)]
    tallies = [own.tally(place, one) for place, one in enumerate(payloads)]
    answering = catalog.room(planned.design.kind).answering
    kept = partial(answering.collected, payloads=no_payloads) if fitted else answering.tallied
    return released(planned.design, own, tallies, {}, kept, private=False)


def codes_of(columns: Columns, attributes: Sequence[dict[str, Any]]) -> Array:
    """The cells of the people, one attribute a row."""
    rows = [
        columns[one["name"]] if one["kind"] == "integer" else np.searchsorted(one["values"], columns[one["name"]])
        for one in attributes
    ]
    return np.array(rows, dtype=np.int32)
