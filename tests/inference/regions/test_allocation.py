"""Shares of the budget over levels and tables: slopes, the best under rho by a certificate, under epsilon by trying."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.inference.regions.dense_spine import Dense, cases, spines, tables_of

from dpress.core.basics import rng
from dpress.core.maps.spine import Spine
from dpress.inference.regions import allocation as allocation_module
from dpress.inference.regions.allocation import Allocation, shares
from dpress.inference.regions.mean_variance import weighted_variances
from dpress.inference.regions.measured import Measured, Table
from dpress.inference.regions.subtrees import regular, subtrees_of
from dpress.inference.regions.variances import cell_variances

UNEVEN = Spine(starts=(np.array([0, 3]), np.array([0, 1, 4, 6]), np.array([0, 2, 3, 4, 5, 8, 9])))
STAR = Spine(starts=(np.array([0, 4]),))
CHAIN = Spine(starts=(np.array([0, 1]), np.array([0, 3])))
GAP = 1e-2
"""How far the variance may be from the least, as a part of it."""
STEPS = 300


def every(spine: Spine, shape: tuple[int, ...], power: int, **changes: Any) -> Allocation:
    """All tables at all levels, wanted alike."""
    tables = tables_of(len(shape))
    even = tuple(dict.fromkeys(tables, 1.0) for _ in range(spine.depth + 1))
    settings_of = {"tables": (tables,) * (spine.depth + 1), "workload": even, **changes}
    return Allocation(spine=spine, shape=shape, power=power, **settings_of)


def flat(allocation: Allocation, levels: tuple[dict[Table, float], ...]) -> np.ndarray:
    return np.array([levels[level].get(table, 0.0) for level, table in allocation.places])


def measured_with(allocation: Allocation, part: np.ndarray) -> Measured:
    """What is measured with these shares, the variance of a share of 1 being 1."""
    levels: list[dict[Table, float]] = [{} for _ in range(allocation.spine.depth + 1)]
    for (level, table), share in zip(allocation.places, part, strict=True):
        if share:
            levels[level][table] = float(share**-allocation.power)
    for level in allocation.exact:
        levels[level][()] = 0.0
    return Measured(spine=allocation.spine, shape=allocation.shape, variances=tuple(levels))


def wanted(allocation: Allocation, part: np.ndarray) -> float:
    """The workload's variance from the variances of all nodes."""
    measured = measured_with(allocation, part)
    return math.fsum(
        weight * float(cell_variances(measured, table)[level].mean())
        for level, tables in enumerate(allocation.workload)
        for table, weight in tables.items()
        if weight
    )


def excess(allocation: Allocation, part: np.ndarray) -> float:
    """At most how far the variance is above the least, as a part of it: convex and homogeneous of degree -1."""
    variance, slope = allocation.variance(part)
    return float((-slope / variance).max()) - 1


def multiplied(allocation: Allocation) -> np.ndarray:
    """Shares near the best under rho by the multiplicative algorithm of optimal designs."""
    part = np.full(len(allocation.places), 1 / len(allocation.places))
    for _ in range(STEPS):
        variance, slope = allocation.variance(part)
        part *= np.sqrt(-slope / variance)
        part /= part.sum()
    return part


@pytest.mark.slow
@given(cases(), st.integers(0, 2**32))
@settings(deadline=None)
def test_sums_by_subtrees_are_those_of_all_nodes(case: Dense, seed: int) -> None:
    measured, levels = case.measured, case.measured.spine.depth + 1
    weights = (rng.seeded(seed).words(levels * len(measured.spaces)) % np.uint64(3)).reshape(-1, levels).astype(float)
    trees = [measured.tree(space) for space in measured.spaces]
    precisions = np.array([tree.precisions for tree in trees])
    totals, _ = weighted_variances(subtrees_of(measured.spine), precisions, weights)
    for tree, weight, total in zip(trees, weights, totals, strict=True):
        lost = weight[tree.deepest + 1 :].any()
        nodes = [part * variances.sum() for part, variances in zip(weight, tree.variances(), strict=False)]
        assert total == (math.inf if lost else pytest.approx(math.fsum(nodes), rel=1e-9, abs=1e-12))


@pytest.mark.slow
@given(spines(), st.integers(0, 2**32), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=20)
def test_slopes_are_those_of_small_steps(spine: Spine, seed: int, power: int) -> None:
    exact = [] if seed % 2 else [seed % (spine.depth + 1)]
    allocation = every(spine, (2, 3), power, exact=exact)
    part = 0.5 + rng.seeded(seed).words(len(allocation.places)) / 2.0**64
    variance, slope = allocation.variance(part)
    assert variance == pytest.approx(wanted(allocation, part), rel=1e-9)
    for place, step in enumerate(1e-5 * np.eye(len(part))):
        near = (allocation.variance(part + step)[0] - allocation.variance(part - step)[0]) / 2e-5
        assert slope[place] == pytest.approx(near, rel=1e-5, abs=1e-7 * variance)


FLAT = Spine(starts=(np.array([0, 4]), np.array([0, 1, 2, 5, 9])))


@given(spines(), st.integers(0, 2**32))
@example(FLAT, 0)  # whose best shares lie in a valley
@settings(deadline=None, max_examples=30)
@pytest.mark.slow
def test_no_shares_are_better_under_rho(spine: Spine, seed: int) -> None:
    tables = tables_of(2)
    words = (rng.seeded(seed).words((spine.depth + 1) * len(tables)) % np.uint64(4)).astype(float)
    words[0] += 1
    weights = words.reshape(-1, len(tables)).tolist()
    workload = tuple(dict(zip(tables, level, strict=True)) for level in weights)
    allocation = every(spine, (2, 3), 1, workload=workload)
    best = flat(allocation, shares(allocation))
    assert best.sum() == pytest.approx(1)
    assert wanted(allocation, best) == pytest.approx(allocation.variance(best)[0], rel=1e-9)
    least = multiplied(allocation)
    assert excess(allocation, least) < GAP
    assert allocation.variance(best)[0] < allocation.variance(least)[0] * (1 + 1e-6)


def test_even_shares_are_seen_to_be_worse_under_rho() -> None:
    allocation = every(UNEVEN, (2, 3), 1)
    even = np.full(len(allocation.places), 1 / len(allocation.places))
    best = flat(allocation, shares(allocation))
    assert excess(allocation, even) > 5 * GAP
    assert excess(allocation, best) < GAP
    assert wanted(allocation, even) > 1.05 * wanted(allocation, best)


def test_a_star_has_the_shares_of_its_closed_form() -> None:
    """The mean over four leaves of a / 4 + 3 b / 4, a = 1 / (4 s + t) + ..., by a fine grid."""
    allocation = every(STAR, (), 1, workload=({}, {(): 1.0}))
    grid = np.linspace(0.001, 0.999, 999)
    values = [1 / leaf * 3 / 4 + 1 / (16 * (1 - leaf) + 4 * leaf) for leaf in grid]
    best = shares(allocation)
    assert best[1][()] == pytest.approx(grid[int(np.argmin(values))], abs=2e-3)
    assert wanted(allocation, flat(allocation, best)) == pytest.approx(min(values), rel=1e-4)


@pytest.mark.parametrize("power", [1, 2])
def test_what_nobody_wants_gets_nothing(power: int) -> None:
    allocation = every(UNEVEN, (2, 3), power, workload=({}, {}, {(0, 1): 1.0}, {}))
    assert shares(allocation) == ({}, {}, {(0, 1): 1.0}, {})


def test_of_two_that_say_the_same_one_gets_all_under_epsilon() -> None:
    allocation = every(CHAIN, (), 2, workload=({(): 1.0}, {(): 1.0}, {}))
    first, second, third = shares(allocation)
    assert sum(second.values()) > 0.999 or sum(first.values()) > 0.999
    assert third == {}


def test_public_totals_take_no_share_and_leave_it_to_others() -> None:
    tables = ([()], [()], [(), (0,)], [(), (0,)])
    free, public = (every(UNEVEN, (3,), 1, tables=tables, exact=exact) for exact in ((), (1,)))
    best = shares(public)
    assert best[0] == best[1] == {}
    assert excess(public, flat(public, best)) < GAP
    assert wanted(public, flat(public, best)) < 0.95 * wanted(free, flat(free, shares(free)))


@pytest.mark.slow
@pytest.mark.parametrize(("spine", "shape"), [(UNEVEN, ()), (STAR, (3,)), (CHAIN, (2,)), (UNEVEN, (2,))])
def test_under_epsilon_the_best_of_all_sets_of_tables_is_found(spine: Spine, shape: tuple[int, ...]) -> None:
    allocation = every(spine, shape, 2)
    places = len(allocation.places)
    least = math.inf
    for kept in itertools.product((0.0, 1.0), repeat=places):
        start = np.array(kept)
        if start.any() and allocation.variance(start)[0] < math.inf:
            best = allocation_module._near(allocation, start, allocation.trees)
            least = min(least, allocation.variance(best)[0])
    steps = list[int]()
    best = flat(allocation, shares(allocation, steps.append))
    assert allocation.variance(best)[0] < least * (1 + 1e-3)
    assert len(steps) > 1
    assert set(steps) == {1}


def test_without_a_search_under_epsilon_shares_end_at_worse_tables() -> None:
    spine = Spine(starts=(np.array([0, 5]), np.arange(6) * 10, np.arange(51) * 3))
    allocation = every(spine, (3,), 2)
    even = np.ones(len(allocation.places))
    near = allocation_module._near(allocation, even, allocation.trees)
    best = flat(allocation, shares(allocation))
    assert allocation.variance(near)[0] > 1.3 * allocation.variance(best)[0]


def test_equal_subtrees_are_counted_once() -> None:
    even = Spine(starts=tuple(np.arange(10**level + 1) * 10 for level in range(5)))
    assert [len(nodes) for nodes in subtrees_of(even).nodes] == [1] * 6
    mirrored = Spine(starts=(np.array([0, 2]), np.array([0, 2, 4]), np.array([0, 1, 4, 7, 8])))
    trees = subtrees_of(mirrored)
    assert [nodes.tolist() for nodes in trees.nodes] == [[1], [2], [2, 2], [8]]
    assert regular((1, 2, 5)).children[1].count.tolist() == [2.5]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tables": ([],) * 4}, "a table that may be measured, got none"),
        ({"workload": ({}, {}, {(): 0.0}, {})}, "a weight > 0 of a table that is not public, got none"),
        ({"workload": ({(): 1.0}, {}, {}, {}), "exact": [1]}, "a weight > 0 of a table that is not public, got none"),
        ({"workload": ({}, {}, {(): -1.0}, {})}, r"level 2, table \(\): the weight must be finite and >= 0, got -1"),
        (
            {"tables": ([()], [(0, 1)], [(0,)], [()]), "workload": ({}, {}, {(1,): 1.0}, {})},
            r"level 2, table \(1,\): lies in no table that may be measured there or below",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        every(UNEVEN, (2, 3), 1, **changes)
