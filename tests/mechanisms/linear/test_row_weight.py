"""Rows of a weight: what they add, what that costs, and the sums that follow."""

import dataclasses
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.row_weight import SCALE, RowWeight, whole_shares

RNG = np.random.default_rng(8)  # noqa: TID251  # made-up rows
SHAPE, BY = (2, 4, 5), (0,)  # groups, levels 0..3, weights 0..3 and a missing one
EVEN = RowWeight(axis=2, steps=3, lightest=0.25)
LISTED = RowWeight(axis=2, steps=3, lightest=0.0, listed=(0.0, 1.0, 0.125, 0.5))
WEIGHTS = [EVEN, LISTED, RowWeight(axis=2, steps=4, lightest=0.0)]


def parts(weight: RowWeight) -> list[MomentSums | GroupDistribution]:
    tree = Hierarchy(2, 2)
    return [
        MomentSums(shape=SHAPE, by=BY, degree=0, weight=weight),
        MomentSums(shape=SHAPE, by=BY, degree=1, steps=3, axis=1, weight=weight),
        MomentSums(shape=SHAPE, by=BY, degree=2, steps=3, axis=1, weight=weight),
        MomentSums(shape=SHAPE, by=BY, degree=1, where=((1, (0, 2)),), weight=weight),
        GroupDistribution(shape=SHAPE, by=BY, axis=1, levels=4, tree=tree, quantiles=(Fraction(1, 2),), weight=weight),
    ]


def rows_of(part: MomentSums | GroupDistribution) -> Any:
    """Return what a row adds in every cell of the table, in floats: squares of 2^30 add up beyond 63 bits."""
    return np.array([part.apply(cell) for cell in np.eye(part.cells, dtype=np.int64)]).astype(float)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("place", range(5))
def test_sensitivities_are_those_of_every_pair_of_rows(weight: RowWeight, order: int, place: int) -> None:
    part = parts(weight)[place]
    rows = rows_of(part)
    assert part.sensitivity(order, Relation.ADD_REMOVE) == (np.abs(rows) ** order).sum(axis=1).max()
    apart = max((np.abs(first - second) ** order).sum() for first, second in itertools.product(rows, rows))
    assert part.sensitivity(order, Relation.REPLACE_ONE) == apart


def test_a_replaced_row_of_a_single_cell_changes_its_weight() -> None:
    part = GroupDistribution(
        shape=(3, 2), by=(), axis=0, levels=3, tree=Hierarchy(1, 2), quantiles=(Fraction(1, 2),),
        weight=RowWeight(axis=1, steps=1, lightest=0.0),
    )  # fmt: skip
    assert part.sensitivity(1, Relation.REPLACE_ONE) == part.grain
    assert dataclasses.replace(part, weight=None).sensitivity(1, Relation.REPLACE_ONE) == 0


def test_an_understated_sensitivity_would_be_seen() -> None:
    part = parts(EVEN)[1]
    twice = rows_of(part)
    twice[:, part.first :] *= 2  # type: ignore[union-attr]  # a part of moments
    assert np.abs(twice).sum(axis=1).max() > part.sensitivity(1, Relation.ADD_REMOVE)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_sums_are_count_weights_and_weighted_moments(weight: RowWeight) -> None:
    codes = np.array([RNG.integers(0, size, 700) for size in SHAPE], dtype=np.int32)
    counted, _, moments, share, tree = parts(weight)
    u = weight.of(codes)
    t = 2 * codes[1] / 3 - 1
    for group in range(2):
        rows = (codes[0] == group) & ~np.isnan(u)
        rest, all_weights = counted.sums(codes).reshape(2, -1)[group] * counted.step
        assert (rest + all_weights, all_weights) == pytest.approx((rows.sum(), u[rows].sum()))
        first, down, middle, up = moments.sums(codes).reshape(2, -1)[group] * moments.step
        assert first + down + middle + up == pytest.approx(rows.sum())
        assert (up - down, up - middle + down) == pytest.approx(((u * t)[rows].sum(), (u * t**2)[rows].sum()))
        held = np.isin(codes[1], (0, 2)) & rows
        assert share.sums(codes).reshape(2, -1)[group][2] * share.step == pytest.approx(u[held].sum())
        cells = tree.answers(tree.sums(codes)).reshape(2, -1)[group] * tree.step
        assert cells[-2:].sum() == pytest.approx(u[rows].sum(), abs=1e-4)


@pytest.mark.parametrize("place", range(5))
def test_the_sums_of_rows_are_the_map_of_their_table(place: int) -> None:
    part = parts(EVEN)[place]
    codes = np.array([RNG.integers(0, size, 300) for size in SHAPE], dtype=np.int32)
    table = np.bincount(np.ravel_multi_index(codes, SHAPE), minlength=part.cells)
    assert np.array_equal(part.answers(part.sums(codes)), part.apply(table))


def test_shares_of_any_row_are_whole_and_add_up_exactly() -> None:
    fine = RowWeight(axis=1, steps=(1 << 20) - 1, lightest=1e-7)
    part = MomentSums(shape=(1 << 20, 1 << 20), by=(), degree=2, steps=(1 << 15) - 1, axis=0, weight=fine)
    for level, weight in [(0, 0), (0, (1 << 20) - 1), ((1 << 15) - 1, (1 << 20) - 1), (12345, 678), (20000, 1 << 19)]:
        sums = part.sums(np.array([[level], [weight]], dtype=np.int32))
        assert sums.sum() == SCALE
        assert sums.min() >= 0
    shares = RNG.dirichlet(np.ones(4), 1000).T
    assert (whole_shares(shares, 1 << 10).sum(axis=0) == 1 << 10).all()


def test_noise_is_that_of_one_count_whatever_the_weights_are() -> None:
    for part in parts(EVEN)[:4]:
        strategy = GroupStatistics(moments=(part,), shares=(Fraction(1),))  # type: ignore[arg-type]
        pure = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=1))
        assert [noise.scale * Fraction(1, SCALE) for noise in pure.noises] == [1]
        gaussian = MatrixMechanism(strategy=strategy, loss=ZCDP(rho="0.5"))
        assert [noise.sigma2 / SCALE**2 for noise in gaussian.noises] == [1]


@pytest.mark.parametrize(
    "given",
    [{"steps": 0}, {"lightest": -0.1}, {"lightest": 1.5}, {"listed": (0.5, 1.0)}, {"listed": (0.5, 1.0, 2.0, 0.0)}],
)
def test_what_is_no_weight_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="weight"):
        RowWeight(**{"axis": 2, "steps": 3, "lightest": 0.0} | given)


def test_parts_of_one_measurement_have_the_same_weight() -> None:
    moments = (parts(EVEN)[1], MomentSums(shape=SHAPE, by=BY, degree=1, steps=3, axis=1))
    with pytest.raises(ValueError, match="same weight"):
        GroupStatistics(moments=moments, shares=(Fraction(1, 2),) * 2)  # type: ignore[arg-type]
