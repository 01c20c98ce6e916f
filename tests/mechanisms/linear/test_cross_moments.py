"""`cross_moments`: what a row adds, what it costs, and the moments that follow."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

from dpress.core.basics.claim import ROW, Relation
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.linear.cross_moments import CARD, CrossMoments, Degree, example, feature_places
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

RNG = np.random.default_rng(3)  # noqa: TID251  # made-up rows
DEGREES: tuple[Degree, ...] = (0, 1, 2)
SCALES: dict[Degree, tuple[int, ...]] = {0: (1 << 25,) * 4, 1: (1 << 29, 1 << 26), 2: (1 << 30,)}


def of_three(degree: Degree) -> CrossMoments:
    return CrossMoments(
        shape=(2, 101, 52, 11), by=(0,), axes=(1, 2, 3), steps=(100, 50, 10), degree=degree, scales=SCALES[degree]
    )


def rows_of(strategy: CrossMoments) -> np.ndarray[Any, Any]:
    """Return what a row adds in every cell of a small table."""
    return np.array([strategy.apply(cell) for cell in np.eye(strategy.cells, dtype=np.int64)])


@pytest.mark.parametrize("degree", DEGREES)
def test_the_features_are_the_sums_of_levels_squares_and_products(degree: Degree) -> None:
    strategy = of_three(degree)
    codes = np.array([RNG.integers(0, size, 400) for size in strategy.shape], dtype=np.int32)
    features = strategy.sums(codes).reshape(2, -1) @ strategy.reading.T
    kept = codes[2] <= 50  # the last cell of that axis is no level
    for group in (0, 1):
        t = 2 * codes[1:, kept & (codes[0] == group)] / np.array([[100], [50], [10]]) - 1
        z = np.concatenate([np.ones((1, t.shape[1])), t])
        assert features[group][feature_places(3, strategy.pairs)] == pytest.approx(z @ z.T, abs=1e-5)


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("order", [1, 2])
def test_sensitivities_hold_for_every_pair_of_rows(degree: Degree, order: int) -> None:
    strategy = example(degree)
    rows = rows_of(strategy)
    assert strategy.sensitivity(order, Relation.ADD_REMOVE) == (np.abs(rows) ** order).sum(axis=1).max()
    apart = max(int((np.abs(first - second) ** order).sum()) for first, second in itertools.product(rows, rows))
    stated = strategy.sensitivity(order, Relation.REPLACE_ONE)
    assert apart <= stated
    assert stated == apart or order == 2 or degree == 0  # a bound there, attained elsewhere


@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("order", [1, 2])
def test_the_bound_of_a_replaced_row_holds_within_a_group_of_all_levels(degree: Degree, order: int) -> None:
    scales: dict[Degree, tuple[int, ...]] = {0: (5, 7, 3, 11), 1: (900, 200), 2: (900,)}
    steps = (4, 3, 2)
    strategy = CrossMoments(shape=(5, 4, 3), by=(), axes=(0, 1, 2), steps=steps, degree=degree, scales=scales[degree])
    rows = rows_of(strategy)
    apart = (np.abs(rows[:, np.newaxis] - rows[np.newaxis]) ** order).sum(axis=2).max()
    assert apart <= strategy.sensitivity(order, Relation.REPLACE_ONE) <= 2.2 * apart


@pytest.mark.parametrize("degree", [1, 2])
def test_the_shares_of_any_row_add_up_to_the_scale_exactly(degree: Degree) -> None:
    strategy = of_three(degree)
    levels = np.array([RNG.integers(0, steps + 1, 5000) for steps in strategy.steps])
    shares = strategy.shared(levels)[: strategy.corners]
    assert shares.min() >= 0
    assert (shares.sum(axis=0) == strategy.scales[0]).all()
    assert (shares == np.rint(shares)).all()


def test_an_understated_sensitivity_would_be_seen() -> None:
    rows = rows_of(example(1))
    doubled = dataclasses.replace(example(1), scales=(96, 12))
    assert np.abs(rows_of(doubled)).sum(axis=1).max() > example(1).sensitivity(1, Relation.ADD_REMOVE)
    assert np.abs(rows).sum(axis=1).max() < doubled.sensitivity(1, Relation.ADD_REMOVE)


@pytest.mark.parametrize("degree", DEGREES)
def test_the_covariance_of_features_is_that_of_the_noise(degree: Degree) -> None:
    strategy = of_three(degree)
    noise = RNG.normal(0, 3.0, (20000, strategy.width)) @ strategy.reading.T
    exact = strategy.covariance(9.0)
    lengths = np.sqrt(np.diag(exact))
    assert np.abs((noise.T @ noise / 20000 - exact) / np.outer(lengths, lengths)).max() < 0.06  # 6 standard errors


def test_the_claim_is_that_of_the_scales() -> None:
    made = CARD.example(PureDP(epsilon=1), ROW)
    assert isinstance(made, MatrixMechanism)
    assert made.claim.proven == PureDP(epsilon=1)
    assert made.noises[0].spread == example().sensitivity(1, Relation.ADD_REMOVE)


def test_cells_told_apart_are_groups_of_their_own() -> None:
    strategy = dataclasses.replace(example(), by=(), within=(0,))
    codes = np.array([RNG.integers(0, size, 300) for size in strategy.shape], dtype=np.int32)
    assert np.array_equal(strategy.sums(codes), example().sums(codes))
    assert (strategy.groups, strategy.map.rows) == (2, 2 * strategy.width)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axes": (1, 1)}, "must be different axes"),
        ({"steps": (2,)}, "needs a level of at least 1"),
        ({"scales": (48,)}, "degree must be 0, 1 or 2"),
        ({"scales": (15, 12)}, "at least their square"),
        ({"scales": (1 << 30, 12)}, "at most 2\\^30"),
    ],
)
def test_what_cannot_be_measured_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(example(1), **changes)
