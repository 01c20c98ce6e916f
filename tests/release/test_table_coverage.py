"""Intervals of published tables hold the true counts as often as they say, also where the counts are adjusted.

Runs are independent; the mean share of covered cells is compared with 94 % under its own standard error.
"""

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpress import plan, publish
from dpress.core.basics import rng
from dpress.core.maps.linear import Array
from dpress.data.specification.spec import from_dict
from dpress.query.boxes import product
from dpress.query.release import Release

LEVEL, RUNS, MORE = 0.94, 24, 80
FALSE_ALARM = 1e-6  # of all comparisons of this file together
CASES: dict[str, dict[str, Any]] = {
    "histogram": {"kind": "histogram", "attributes": ["age"], "postprocess": ["nonnegative", "integer"]},
    "marginals": {
        "kind": "marginals",
        "parameters": {"tables": [["age", "sex"], ["sex"]]},
        "postprocess": ["nonnegative"],
    },
    "running": {"kind": "histogram", "attributes": ["age"], "postprocess": ["nonnegative", "monotone_prefix"]},
    "ranges": {"kind": "ranges", "attributes": ["age"], "postprocess": ["nonnegative"]},
    "plain": {"kind": "marginals", "parameters": {"ways": 2}, "postprocess": []},
    "default": {"kind": "marginals", "parameters": {"ways": 2}},
}
METHODS: dict[str, dict[str, Any]] = {  # `p_identity` is made by a search that the clock ends, from such strategies
    "identity": {"kind": "histogram", "attributes": ["age", "sex"]},
    "marginals": {"kind": "marginals", "parameters": {"tables": [["age", "sex"], ["sex"], ["age"]]}},
    **{name: {"kind": "ranges", "attributes": ["age"]} for name in ("hierarchy", "privelet", "boost", "binary_tree")},
    "prefix": {"kind": "ranges", "attributes": ["age"], "parameters": {"queries": "prefixes"}},
    "dst": {"kind": "ranges", "attributes": ["age"]},
}
SUMS = ["age in 0..31", "age in 3..5", "age > 12", "age != 3", "age in 0..62"]
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * (2 * len(CASES) + 4 * len(METHODS))))
AGE = {"name": "age", "kind": "integer", "bounds": [0, 63]}
SEX = {"name": "sex", "kind": "categorical", "values": ["a", "b", "c"], "other": "reject"}


def people() -> pa.Table:
    """Few people, at few ages: most counts are 0, and most noisy ones below it are pulled up."""
    words = rng.seeded(3).words(400)
    return pa.table({"age": (words % 5 * 3).astype(np.int64), "sex": np.array(["a", "b", "c"])[(words >> 32) % 2]})


def held(release: dict[str, Any], *, shorter: float = 1.0) -> Array:
    """By run the share of cells whose interval around the estimate holds the truth."""
    design = plan(from_dict({"attribute": [AGE, SEX], "privacy": {"epsilon": 0.5}, "release": release})).design
    rows, found = people(), []
    for run in range(RUNS):
        published = publish(design, rows, rng=rng.seeded(run))
        tables = published.answers.all_tables.values()
        inside = [_inside(one, rows, shorter) for one in tables]
        found.append(np.concatenate(inside).mean())
    return np.array(found)


def _inside(table: pa.Table, rows: pa.Table, shorter: float) -> Array:
    names = [name for name in ("age", "sex") if name in table.column_names]
    cells = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    people_in = [
        tuple(str(one) for one in row) for row in zip(*(rows[name].to_pylist() for name in names), strict=True)
    ]
    truth = np.array([people_in.count(cell) for cell in cells])
    count, low, high = (np.asarray(table[name]) for name in ("count", "low", "high"))
    above, below = (count + shorter * (end - count) for end in (low, high))
    return np.asarray((above <= truth) & (truth <= below))


def too_low(shares: Array) -> bool:
    return bool(shares.mean() < LEVEL - LIMIT * shares.std(ddof=1) / math.sqrt(len(shares)))


@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_and_shorter_ones_would_be_found(name: str) -> None:
    assert not too_low(held(CASES[name]))
    assert too_low(held(CASES[name], shorter=0.4))


@pytest.mark.slow
@pytest.mark.parametrize("budget", [{"rho": 0.002}, {"rho": 2.0}, {"epsilon": 0.1}], ids=["noisy", "sharp", "laplace"])
@pytest.mark.parametrize("method", METHODS)
def test_every_strategy_s_cells_and_sums_hold_and_a_fifth_shorter_ones_are_found(
    method: str, budget: dict[str, float]
) -> None:
    """The control is much Gaussian noise: intervals of little noise, and of Laplace's, are longer than they need be."""
    if method == "dst" and "epsilon" in budget:
        pytest.skip("dst has Gaussian noise only")
    release = METHODS[method] | {"method": method, "postprocess": ["nonnegative"]}
    control = budget == {"rho": 0.002}
    errors, halves = answers(release, budget, range(0, 64, 1 if control else 3))
    assert not too_low((np.abs(errors) <= halves).mean(axis=1))
    if control:
        assert too_low((np.abs(errors) <= 0.8 * halves).mean(axis=1))


def answers(release: dict[str, Any], budget: dict[str, float], single: range) -> tuple[Array, Array]:
    """By run the errors of single ages and of sums, and the half-widths of their intervals.

    Texts are asked of the first and of the last run, which have the same half-widths, and agree with the decoder's
    answers; these are taken of all runs.
    """
    design, rows = plan(from_dict({"attribute": [AGE, SEX], "privacy": budget, "release": release})).design, people()
    ages = np.asarray(rows["age"])
    truth = [(ages == age).sum() for age in single]
    truth += [(ages <= 31).sum(), ((ages >= 3) & (ages <= 5)).sum(), (ages > 12).sum(), (ages != 3).sum(), ages.size]
    texts = [*(f"age = {age}" for age in single), *SUMS]
    made = [publish(design, rows, rng=rng.seeded(run)) for run in range(MORE)]
    first, last = (np.array([_value_and_half(release, text) for text in texts]) for release in (made[0], made[-1]))
    assert first[:, 1] == pytest.approx(last[:, 1])  # of a curator's noise, whatever was drawn
    weights = [product(made[0].schema, text) for text in texts]
    values = np.array([[_value(release, weighed) for weighed in weights] for release in made])
    assert values[0] == pytest.approx(first[:, 0])
    assert values[-1] == pytest.approx(last[:, 0])
    return values - np.array(truth), np.broadcast_to(first[:, 1], values.shape)


def _value_and_half(release: Release, text: str) -> tuple[float, float]:
    result = release.query(text)
    return result.value, result.interval[1] - result.value


def _value(release: Release, weights: list[Array]) -> float:
    """What `query` answers, its text read before."""
    answers: Any = release.answers
    value: float = answers.decoder.answer(answers.measurement, weights)
    return value
