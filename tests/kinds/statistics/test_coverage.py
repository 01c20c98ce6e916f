"""Intervals of statistics hold the truth as often as they say, in large, skewed, heavy-tailed, tiny and empty groups.

Runs of the same rows with new noise. A share of runs below 94 % is compared under its own standard error; all groups
and statistics of a run are one number, since one noise makes them. False alarms: 1e-6 for the file.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.kinds.statistics.curator.estimates import GroupEstimates, group_estimates
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums

LEVEL, RUNS = 0.94, 400
LIMIT = NormalDist().inv_cdf(1 - 1e-6 / 100)
SIZES = (20_000, 3_000, 400, 40, 3, 1, 0)
LEVELS, CELLS = 1 << 15, 64
SCHEMA = Schema(
    (
        Categorical(name="ward", values=tuple("abcdefg")),
        Numeric(name="cost", bounds=(0.0, 1000.0), bins=LEVELS),
        Integer(name="age", bounds=(0, 63)),
        Categorical(name="sex", values=("f", "m")),
    )
)


def people() -> Array:
    """Codes of groups of these sizes: heavy-tailed costs, ages in two lumps, a rare sex in some groups."""
    draw = np.random.default_rng(3)  # noqa: TID251  # made-up rows
    ward = np.repeat(np.arange(len(SIZES)), SIZES)
    cost = np.minimum(draw.lognormal(3, 1.5, ward.size), 999.9)
    age = np.where(draw.random(ward.size) < 0.7, draw.integers(0, 8, ward.size), 60)
    sex = draw.random(ward.size) < 0.02 * (ward + 1)
    return np.array([ward, cost * LEVELS / 1000, age, sex], dtype=np.int32)


def strategy() -> GroupStatistics:
    shape, by = SCHEMA.shape, (0,)
    moments = (
        MomentSums(shape=shape, by=by, degree=2, steps=LEVELS - 1, axis=1),
        MomentSums(shape=shape, by=by, degree=1, steps=63, axis=2),
        MomentSums(shape=shape, by=by, degree=1, where=((3, (1,)),)),
    )
    ages = GroupDistribution(
        shape=shape, by=by, axis=2, levels=64, tree=Hierarchy(64, 8), quantiles=(Fraction(1, 4), Fraction(1, 2))
    )
    return GroupStatistics(moments=moments, distributions=(ages,), shares=(Fraction(1, 4),) * 4)


def held(loss: PureDP | ZCDP, *, shorter: float = 1.0) -> Iterator[tuple[str, Array]]:
    """Yield for every statistic which intervals hold, shape (runs, groups with rows, or all for a count)."""
    own = MatrixMechanism(strategy=strategy(), loss=loss)
    z = critical(0.95, own.tail)
    exact = own.strategy.decoder.answers(own.strategy.decoder.sums(people()))
    truth = replace(_estimates(own, exact, 1e-9), steps=(0.0,) * len(own.strategy.parts))
    found = [_estimates(own, own.noisy(exact.copy(), rng=rng.seeded(run)).answers, z) for run in range(RUNS)]
    for name in truth.names:
        true, hits = truth.of(name).value, []
        filled = np.array(SIZES) > 0
        for one in found:
            own_one = one.of(name)
            middle = np.where(np.isnan(own_one.value), (own_one.low + own_one.high) / 2, own_one.value)
            low, high = middle - shorter * (middle - own_one.low), middle + shorter * (own_one.high - middle)
            slack = 1e-6 * (1 + np.abs(true))
            hits.append(((low - slack <= true) & (true <= high + slack))[filled])
        yield name, np.array(hits)


def _estimates(own: MatrixMechanism, answers: Array, z: float) -> GroupEstimates:
    return group_estimates(own.strategy, SCHEMA, own.measured(answers), z=z)  # type: ignore[arg-type]


def too_low(hits: Array) -> bool:
    error = math.sqrt(max(float(hits.var(ddof=1)), LEVEL * (1 - LEVEL)) / len(hits))
    return bool(hits.mean() < LEVEL - LIMIT * error)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [PureDP(epsilon=2), ZCDP(rho="0.5")])
def test_intervals_hold_in_every_group(loss: PureDP | ZCDP) -> None:
    for name, hits in held(loss):
        for group in range(hits.shape[1]):
            assert not too_low(hits[:, group].astype(float)), (name, SIZES[group], hits[:, group].mean())


@pytest.mark.slow
def test_intervals_half_as_long_are_found() -> None:
    caught = {name for name, hits in held(ZCDP(rho="0.5"), shorter=0.5) if too_low(hits[:, 0].astype(float))}
    assert {"count", "sum age", "mean age", "mean cost", "share sex = m"} <= caught
