"""Of groups of few rows, intervals that noise left outside the bounds say nothing, and quantiles are not stated."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from tests.kinds.statistics.statistics_spec import spec

from dpress import publish
from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.linear import Array
from dpress.inference import group_moments
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import critical, cut_ends
from dpress.kinds.statistics.curator.estimates import GroupEstimates, group_estimates
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums

GROUPS, TOLERANCE = 2000, 0.02  # 4 standard errors of a share of 95 % among 2,000: false alarms 3e-5 each
SCHEMA = Schema(
    (
        Categorical(name="flight", values=tuple(f"f{place:04}" for place in range(GROUPS))),
        Integer(name="delay", bounds=(-30, 200)),
        Categorical(name="late", values=("yes", "no")),
    )
)


def few() -> tuple[Array, Array, Array]:
    """Three to eight rows of every group: delays one above the lower bound in half of them, near it in others."""
    draw = np.random.default_rng(5)  # noqa: TID251  # made-up rows
    flight = np.repeat(np.arange(GROUPS), draw.integers(3, 9, GROUPS))
    delay = np.where(flight % 2, 1, draw.integers(0, 20, flight.size))
    return flight, delay, np.where(flight % 2, 1, draw.integers(0, 2, flight.size))


def drawn() -> GroupEstimates:
    shape, by = SCHEMA.shape, (0,)
    moments = (
        MomentSums(shape=shape, by=by, degree=2, steps=230, axis=1),
        MomentSums(shape=shape, by=by, degree=1, where=((2, (0,)),)),
    )
    tree = GroupDistribution(
        shape=shape, by=by, axis=1, levels=231, tree=Hierarchy(231, 16), quantiles=(Fraction(1, 2),)
    )
    parts = GroupStatistics(
        moments=moments, distributions=(tree,), shares=(Fraction(1, 12), Fraction(1, 12), Fraction(5, 6))
    )
    mechanism = MatrixMechanism(strategy=parts, loss=PureDP(epsilon=8))
    decoder = parts.decoder
    answers = mechanism.noisy(decoder.answers(decoder.sums(np.array(few(), dtype=np.int32))), rng=rng.seeded(7)).answers
    return group_estimates(parts, SCHEMA, mechanism.measured(answers), z=critical(0.95, mechanism.tail))  # type: ignore[arg-type]


def truths() -> dict[str, Array]:
    flight, delay, late = few()
    rows = np.bincount(flight)
    means = np.bincount(flight, delay) / rows
    order = np.lexsort((delay, flight))
    middles = delay[order][np.concatenate([[0], rows.cumsum()[:-1]]) + (rows + 1) // 2 - 1]
    return {
        "mean delay": means - 30,
        "variance delay": np.bincount(flight, delay.astype(float) ** 2) / rows - means**2,
        "share late = yes": np.bincount(flight, late == 0) / rows,
        "median delay": middles - 30.0,
    }


def points(found: Estimates) -> Array:
    """Which intervals are a single point although there is an error."""
    return np.asarray((found.standard_error > 0) & (found.low >= found.high))


def held() -> Iterator[tuple[str, Array, Estimates]]:
    estimates = drawn()
    for name, true in truths().items():
        found = estimates.of(name)
        yield name, (found.low - 1e-6 <= true) & (true <= found.high + 1e-6), found


def test_no_interval_with_an_error_is_a_point_and_they_hold() -> None:
    for name, hits, found in held():
        assert not points(found).any(), name
        assert hits.mean() >= 0.95 - TOLERANCE, (name, hits.mean())


def test_cut_to_the_nearest_bound_they_are_points_that_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        group_moments, "cut_ends", lambda low, high, bounds: (np.clip(low, *bounds), np.clip(high, *bounds))
    )
    single = {name: hits[points(found)] for name, hits, found in held()}
    assert min(single["mean delay"].size, single["share late = yes"].size) > 3
    assert single["mean delay"].mean() < 0.95 - TOLERANCE


def test_no_quantile_is_stated_where_the_mean_is_not_known() -> None:
    found = {name: one for name, _, one in held()}
    unknown = np.isnan(found["mean delay"].value)
    assert unknown.sum() > 100
    assert np.isnan(found["median delay"].value[unknown]).all()
    assert (found["median delay"].low[unknown] == -30).all()
    assert (found["median delay"].high[unknown] == 200).all()
    assert np.isnan(found["median delay"].standard_error[unknown]).all()


def test_ends_are_cut_and_points_without_noise_stay() -> None:
    low, high = cut_ends(np.array([-5.0, 2.0, 9.0, 0.0, np.nan]), np.array([-1.0, 9.0, 12.0, 0.0, np.nan]), (0.0, 8.0))
    assert np.array_equal(low, [0, 2, 0, 0, np.nan], equal_nan=True)
    assert np.array_equal(high, [8, 8, 8, 0, np.nan], equal_nan=True)


def test_a_refusal_names_the_column_that_an_attribute_is_read_from() -> None:
    delay = {"name": "delay", "kind": "integer", "bounds": [-30, 200], "column": "dep_delay"}
    asked = spec([delay], by=None, mean=["delay"], variance=None, median=None, quantiles=None, share=["delay >= 60"])
    with pytest.raises(ValueError, match=r'delay has a mean.*column = "dep_delay"'):
        publish(asked, {"dep_delay": [3]})
