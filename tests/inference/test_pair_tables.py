"""Tables of pairs: consistency against dense weighted least squares, variances against simulation."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from bench.pair_error import expected

from dpress.core.maps.linear import LinearMap, Marginal, Stack
from dpress.inference.joint.pair_error import planned
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables

Solve = Callable[..., tuple[np.ndarray, np.ndarray]]
SHAPE = (2, 3, 4)
SETS = ((0, 1), (0, 2), (1, 2), (2,))


def noise(users: int = 1000, sampling: float = 0.75) -> Noise:
    return Noise(users=users, held=2.0, other=1.0, sampling=sampling)


def noisy(shape: tuple[int, ...], sets: tuple[tuple[int, ...], ...], values: np.ndarray, users: list[int]) -> Tables:
    out, start = [], 0
    for axes, count in zip(sets, users, strict=True):
        kept = tuple(shape[axis] for axis in axes)
        own = values[start : start + int(np.prod(kept))].reshape(kept)
        start += own.size
        shares = 1 / own.size + (own - own.mean()) * 0.1
        out.append(NoisyTable(axes=axes, shares=shares, noise=noise(count)))
    return Tables(shape=shape, noisy=tuple(out))


def test_consistency_equals_dense_weighted_least_squares_with_known_sums(
    dense: Callable[[LinearMap], np.ndarray], solution: Solve, uniforms: Callable[[int, int], np.ndarray]
) -> None:
    stack = Stack(tuple(Marginal(SHAPE, axes) for axes in SETS))
    users = [500, 2000, 900, 300]
    tables = noisy(SHAPE, SETS, uniforms(stack.rows, 3), users)
    spread = np.repeat(
        [one.noise.at_equal_shares(one.shares.size) for one in tables.noisy], [part.rows for part in stack.parts]
    )
    matrix = np.vstack([dense(stack), np.ones(stack.cells)])
    back, _ = solution(matrix, np.append(spread, 1e-9))  # the sum is known
    answers = np.append(np.concatenate([one.shares.ravel() for one in tables.noisy]), 1.0)
    projections = [np.eye(part.rows) - 1 / part.rows for part in stack.parts]
    covariance = np.zeros((len(matrix), len(matrix)))  # a table's noise adds up to 0
    start = 0
    for part, one in zip(projections, tables.noisy, strict=True):
        covariance[start : start + len(part), start : start + len(part)] = part * one.noise.at_equal_shares(len(part))
        start += len(part)
    for axes in [*SETS, (0,), (1,)]:
        query = dense(Marginal(SHAPE, axes))
        assert np.allclose(tables.table(axes).ravel(), query @ back @ answers, atol=1e-7)
        exact = np.diag(query @ back @ covariance @ back.T @ query.T)
        assert np.allclose(tables.variance(axes), exact, rtol=1e-5)


def test_all_tables_agree_on_the_attributes_that_they_share(uniforms: Callable[[int, int], np.ndarray]) -> None:
    tables = noisy(SHAPE, SETS, uniforms(30, 5), [100, 200, 300, 400])
    for first, second in itertools.combinations(range(3), 2):
        assert np.allclose(tables.table((first, second)).sum(axis=1), tables.table((first,)))
        assert np.allclose(tables.table((first, second)).sum(axis=0), tables.table((second,)))
    assert not np.allclose(tables.noisy[0].shares.sum(axis=1), tables.noisy[1].shares.sum(axis=1))  # the control


def test_a_triple_answers_for_its_pairs(uniforms: Callable[[int, int], np.ndarray]) -> None:
    tables = noisy(SHAPE, ((0, 1, 2),), uniforms(24, 7), [100])
    assert np.allclose(tables.table((0, 2)), tables.noisy[0].shares.sum(axis=1))
    assert tables.holds((0, 2))


def test_one_attribute_and_one_value() -> None:
    alone = Tables(shape=(3,), noisy=(NoisyTable(axes=(0,), shares=np.array([0.7, 0.4, -0.1]), noise=noise()),))
    assert np.allclose(alone.table((0,)), [0.7, 0.4, -0.1])
    flat = NoisyTable(axes=(0, 1), shares=np.array([[0.7, 0.3]]), noise=noise())
    tables = Tables(shape=(1, 2), noisy=(flat,))
    assert tables.table((0,)) == 1
    assert tables.variance((0,)) == 0
    assert np.isclose(tables.variance((0, 1)), flat.noise.at_equal_shares(2) / 2)


def test_a_pair_that_nobody_answered_is_left_out_and_an_attribute_is_not() -> None:
    pair = NoisyTable(axes=(0, 1), shares=np.full((2, 2), 0.25), noise=noise())
    other = NoisyTable(axes=(1, 2), shares=np.full((2, 2), 0.25), noise=noise())
    tables = Tables(shape=(2, 2, 2), noisy=(pair, other))
    assert not tables.holds((0, 2))
    with pytest.raises(ValueError, match=r"about attributes \[2\]"):
        Tables(shape=(2, 2, 2), noisy=(pair,))
    with pytest.raises(ValueError, match="has shape"):
        Tables(shape=(2, 3), noisy=(pair,))


def test_the_predicted_error_is_that_of_normal_noise(uniforms: Callable[[int, int], np.ndarray]) -> None:
    from scipy.special import ndtri

    shape, sets = (3, 4, 2), ((0, 1), (0, 2), (1, 2))
    plan = planned(shape, sets, 9000, lambda cells: (2.0, 1.0 + 0 * cells))
    truth = {one.axes: one.shares for one in plan.noisy}
    found, product = [], []
    for run in range(200):
        again = []
        for place, one in enumerate(plan.noisy):
            draw = ndtri(uniforms(one.shares.size, 10 * run + place)).reshape(one.shares.shape)
            draw = (draw - draw.mean()) * np.sqrt(one.noise.at_equal_shares(one.shares.size))
            again.append(NoisyTable(axes=one.axes, shares=one.shares + draw, noise=one.noise))
        tables = Tables(shape=shape, noisy=tuple(again))
        found.append(np.mean([np.abs(tables.table(axes) - truth[axes]).sum() / 2 for axes in sets]))
        ways = [tables.table((axis,)) for axis in range(3)]
        product.append(np.mean([np.abs(np.outer(ways[i], ways[j]) - truth[i, j]).sum() / 2 for i, j in sets]))
    assert np.isclose(np.mean(found), expected(plan).tables, rtol=0.05)
    assert np.isclose(np.mean(product), expected(plan).product, rtol=0.05)
    assert not np.isclose(np.mean(found), expected(planned(shape, sets, 18000, lambda _: (2.0, 1.0))).tables, rtol=0.05)


def test_the_cautious_figure_lies_between_no_and_full_dependence() -> None:
    plan = expected(planned((3, 4, 2), ((0, 1), (0, 2), (1, 2)), 9000, lambda _: (2.0, 1.0)))
    assert plan.shrunk(0.0) == plan.product
    assert np.isclose(plan.shrunk(1e9), np.hypot(plan.product, plan.tables))
    assert plan.product < plan.shrunk(0.1) < plan.shrunk(0.2)


def test_more_users_for_a_question_lower_its_error_and_raise_the_others() -> None:
    sets = ((0, 1), (0,), (1,))
    even, more = (
        expected(planned((5, 5), sets, 9000, lambda _: (2.0, 1.0), weights=weights))
        for weights in (None, (0.2, 0.4, 0.4))
    )
    assert more.product < even.product
    assert more.tables > even.tables
