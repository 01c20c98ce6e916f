"""Joint distributions: fits against brute force, elimination against the dense table, exact sampling."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.inference.joint.factors import Factor, Joint, dense, independent
from dpress.inference.joint.fit import fit_margins, sums
from dpress.inference.joint.maxent import chain, full, joint, mutual_information


def table(shape: tuple[int, ...], seed: int) -> np.ndarray:
    own = rng.seeded(seed).words(int(np.prod(shape))).reshape(shape) / 2.0**64 + 0.02
    return own / own.sum()


def margins(whole: np.ndarray, size: int = 2) -> dict[tuple[int, ...], np.ndarray]:
    axes = range(whole.ndim)
    sets = [some for order in range(1, size + 1) for some in itertools.combinations(axes, order)]
    return {some: sums(whole, some) for some in sets}


def test_full_is_the_largest_entropy_of_all_with_these_pairs() -> None:
    from scipy.optimize import minimize

    whole = table((2, 3, 2), 1)
    asked = margins(whole)
    found = full(whole.shape, asked, tolerance=1e-12, rounds=5000).marginal((0, 1, 2))
    rows = [
        np.concatenate([sums(cell.reshape(whole.shape), pair).ravel() for pair in [(0, 1), (0, 2), (1, 2)]])
        for cell in np.eye(12)
    ]
    design = np.array(rows)  # (cells, constraints)
    right = np.concatenate([asked[pair].ravel() for pair in [(0, 1), (0, 2), (1, 2)]])

    def dual(multipliers: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.exp(design @ multipliers)
        return float(np.log(weights.sum()) - multipliers @ right), design.T @ (weights / weights.sum()) - right

    best = minimize(dual, np.zeros(right.size), jac=True, method="BFGS", options={"gtol": 1e-10})
    weights = np.exp(design @ best.x)
    assert np.allclose(found.ravel(), weights / weights.sum(), atol=1e-7)
    assert not np.allclose(found, whole, atol=1e-3)  # the control: pairs do not determine the table


def test_the_gap_says_that_tables_contradict_each_other() -> None:
    same, opposite = np.eye(2) / 2, np.eye(2)[::-1] / 2
    found = full((2, 2, 2), {(0, 1): same, (1, 2): same, (0, 2): opposite})
    assert found.gap > 0.1
    assert full((2, 2, 2), {(0, 1): same, (1, 2): same, (0, 2): same}).gap < 1e-4


def test_fitting_a_margin_leaves_empty_cells_empty() -> None:
    found = fit_margins(np.array([[0.5, 0.0], [0.25, 0.25]]), {(0,): np.array([0.2, 0.8])})
    assert np.allclose(found.table, [[0.2, 0], [0.4, 0.4]])
    assert found.gap <= 1e-7
    lost = fit_margins(np.array([[1.0, 0.0]]), {(1,): np.array([0.0, 1.0])})  # no such table
    assert lost.gap >= 0.5


@st.composite
def networks(draw: st.DrawFn) -> Joint:
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=5)))
    order = draw(st.permutations(range(len(shape))))
    factors, seed = [], draw(st.integers(0, 999))
    for place, axis in enumerate(order):
        given_axes = tuple(draw(st.sets(st.sampled_from(order[:place]), max_size=2))) if place else ()
        own = table(tuple(shape[one] for one in (*given_axes, axis)), seed + place)
        factors.append(Factor(given=given_axes, targets=(axis,), table=own / own.sum(axis=-1, keepdims=True)))
    return Joint(shape=shape, factors=tuple(factors))


@given(networks())
@settings(deadline=None, max_examples=60)
def test_elimination_equals_the_dense_table(found: Joint) -> None:
    cells = np.array(list(itertools.product(*map(range, found.shape)))).T
    whole = math.prod(one.table[tuple(cells[axis] for axis in one.axes)] for one in found.factors).reshape(found.shape)
    assert np.isclose(whole.sum(), 1)
    for size in range(min(3, whole.ndim) + 1):
        for axes in itertools.permutations(range(whole.ndim), size):
            kept = tuple(sorted(axes))
            assert np.allclose(found.marginal(axes), sums(whole, kept).transpose(np.argsort(np.argsort(axes))))


def test_a_chain_of_pairs_is_the_tree_it_came_from() -> None:
    first, steps = np.array([0.6, 0.4]), [table((2, 2), seed) + np.eye(2) for seed in (1, 2, 3)]
    whole = first
    for step in steps:
        whole = whole[..., None] * (step / step.sum(axis=1, keepdims=True))
    found = chain(whole.shape, margins(whole), limit=4)
    assert all(len(factor.given) <= 1 for factor in found.factors)
    assert np.allclose(found.marginal((0, 1, 2, 3)), whole, atol=1e-4)


def test_a_chain_keeps_the_pairs_inside_its_cliques() -> None:
    whole = table((3, 2, 2, 3), 6) ** 3
    whole /= whole.sum()
    asked = margins(whole)
    for limit in (6, 12, 18, 36):
        found = chain(whole.shape, asked, limit=limit)
        for factor in found.factors:
            assert factor.table.size <= limit or len(factor.given) == 1
            for one in factor.given:
                pair = tuple(sorted((one, *factor.targets)))
                assert np.allclose(found.marginal(pair), asked[pair], atol=1e-3)
    assert found.gap < 1e-3


def test_twenty_attributes_never_need_the_whole_table() -> None:
    shape = (4,) * 20
    ways = {(axis,): np.full(4, 0.25) for axis in range(20)}
    pairs = {(axis, axis + 1): (np.eye(4) + 0.1) / (np.eye(4) + 0.1).sum() for axis in range(19)}
    found = joint(shape, ways | pairs)
    assert np.allclose(found.marginal((3, 4)), pairs[3, 4], atol=1e-6)
    step = pairs[3, 4] * 4
    assert np.allclose(found.marginal((0, 19)), np.linalg.matrix_power(step, 19) / 4, atol=1e-4)
    with pytest.raises(NotSupported, match=f"a table of {4**20} cells"):
        found.marginal(tuple(range(20)))
    with pytest.raises(NotSupported, match="use `chain`"):
        full(shape, pairs)
    assert found.sample(5, rng=rng.seeded(1)).shape == (20, 5)


def statistic(codes: np.ndarray, whole: np.ndarray) -> float:
    counts = np.bincount(np.ravel_multi_index(list(codes), whole.shape), minlength=whole.size)
    asked = codes.shape[1] * whole.ravel()
    return float(((counts - asked) ** 2 / asked).sum())


@pytest.mark.parametrize("way", ["dense", "chain", "independent"])
def test_samples_have_the_distribution(way: str, false_alarm: float) -> None:
    from scipy.special import chdtri

    whole = table((3, 2, 4), 9)
    ways = [sums(whole, (axis,)) for axis in range(3)]
    made = {
        "dense": dense(whole),
        "chain": chain(whole.shape, margins(whole), limit=12),
        "independent": independent(ways),
    }
    found = made[way]
    codes = found.sample(200_000, rng=rng.seeded(21))
    bound = float(chdtri(whole.size - 1, false_alarm))
    assert statistic(codes, found.marginal((0, 1, 2))) < bound
    wrong = found.marginal((0, 1, 2)) + 0.004 * np.where(np.arange(24).reshape(whole.shape) % 2, 1, -1)
    assert statistic(codes, np.maximum(wrong, 1e-4)) > bound  # the control


def test_an_empty_cell_is_never_drawn_and_a_sure_one_always() -> None:
    sure = dense(np.array([[0.0, 1.0], [0.0, 0.0]]))
    assert np.array_equal(np.unique(sure.sample(1000, rng=rng.seeded(1)), axis=1), [[0], [1]])
    gaps = independent([np.array([0.5, 0.0, 0.5]), np.array([1.0])])
    assert set(gaps.sample(1000, rng=rng.seeded(2))[0].tolist()) == {0, 2}
    assert gaps.sample(0, rng=rng.seeded(2)).shape == (2, 0)
    assert chain((3,), {(0,): np.array([0.2, 0.8, 0.0])}).marginal((0,)).tolist() == [0.2, 0.8, 0.0]


def test_factors_must_follow_each_other() -> None:
    half = np.full(2, 0.5)
    with pytest.raises(ValueError, match="does not follow"):
        Joint(shape=(2, 2), factors=(Factor(given=(1,), targets=(0,), table=np.full((2, 2), 0.5)),))
    with pytest.raises(ValueError, match="one factor's own"):
        Joint(shape=(2, 2), factors=(Factor(given=(), targets=(0,), table=half),))


def test_mutual_information_is_none_for_a_product() -> None:
    assert abs(mutual_information(np.outer([0.3, 0.7], [0.5, 0.5]))) < 1e-12


def test_an_attribute_without_dependent_partners_stands_alone() -> None:
    ways = {(axis,): np.array([0.3, 0.7]) for axis in range(3)}
    pairs = {(0, 1): np.array([[0.3, 0.0], [0.0, 0.7]]), (1, 2): np.outer([0.3, 0.7], [0.3, 0.7])}
    found = chain((2, 2, 2), ways | pairs)
    assert [factor.given for factor in found.factors if factor.targets == (2,)] == [()]
    assert np.allclose(found.marginal((0, 1)), pairs[0, 1], atol=1e-6)


def test_a_value_that_nobody_holds_has_a_conditional_all_the_same() -> None:
    first, pair = np.array([0.5, 0.0, 0.5]), np.array([[0.4, 0.1], [0.0, 0.0], [0.1, 0.4]])
    found = chain((3, 2), {(0,): first, (1,): np.array([0.5, 0.5]), (0, 1): pair})
    assert np.allclose(found.marginal((0, 1)), pair, atol=1e-6)
    assert found.sample(100, rng=rng.seeded(3)).max() <= 2
