"""The optimiser of p-Identity strategies: objective and gradient against dense algebra, and what it reaches."""

import itertools

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.core.maps.p_identity_map import UNIT, PIdentity
from dpress.core.maps.ranges import AllRanges, Range
from dpress.core.maps.tree import Tree
from dpress.core.maps.workload import Boxes
from dpress.inference.averages import tree_average
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.optimise import (
    DenseGram,
    Optimum,
    RangesGram,
    default_starts,
    hierarchy_start,
    mean_coefficient,
    optimise,
)

LONG = 600.0  # seconds; the iterations end every search here, so that it is reproducible


def ranges_matrix(cells):
    return np.array([Range(a, b).weights(cells) for a in range(1, cells + 1) for b in range(a, cells + 1)])


def theta(p, cells):
    return 0.2 + np.cos(np.arange(p * cells)).reshape(p, cells) ** 2


def dense_coefficient(theta, gram):
    matrix = np.vstack([np.eye(theta.shape[1]), theta]) / (1 + theta.sum(axis=0))
    return np.trace(np.linalg.solve(matrix.T @ matrix, gram.times(np.eye(theta.shape[1])))) / gram.queries


def slope_error(theta, gradient, gram, step=1e-5):
    """The largest relative difference between the gradient and central differences of the dense objective."""
    worst = 0.0
    for place in np.ndindex(theta.shape):
        shift = np.zeros_like(theta)
        shift[place] = step
        slope = (dense_coefficient(theta + shift, gram) - dense_coefficient(theta - shift, gram)) / (2 * step)
        worst = max(worst, abs(slope - gradient[place]) / np.abs(gradient).max())
    return worst


@pytest.mark.parametrize("cells", [1, 2, 7, 16])
def test_the_gram_of_all_ranges_is_brute_force(cells):
    queries = ranges_matrix(cells)
    gram = RangesGram(cells)
    assert gram.queries == len(queries) == AllRanges(cells).queries
    np.testing.assert_allclose(gram.diagonal, np.diag(queries.T @ queries))
    np.testing.assert_allclose(gram.times(theta(3, cells)), theta(3, cells) @ queries.T @ queries)


@pytest.mark.parametrize(("p", "cells"), [(1, 1), (1, 6), (3, 8), (9, 5)])
def test_objective_is_the_mean_over_all_queries(p, cells):
    matrix = np.vstack([np.eye(cells), theta(p, cells)]) / (1 + theta(p, cells).sum(axis=0))
    queries = ranges_matrix(cells)
    covariance = np.linalg.inv(matrix.T @ matrix)
    wanted = np.mean([query @ covariance @ query for query in queries])
    assert mean_coefficient(theta(p, cells), RangesGram(cells))[0] == pytest.approx(wanted, rel=1e-11)
    whole = DenseGram(queries.T @ queries, len(queries))
    assert mean_coefficient(theta(p, cells), whole)[0] == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize(("p", "cells"), [(1, 1), (2, 6), (5, 9)])
def test_gradient_is_the_finite_difference(p, cells):
    gram = RangesGram(cells)
    _, gradient = mean_coefficient(theta(p, cells), gram)
    assert slope_error(theta(p, cells), gradient, gram) < 1e-6


@pytest.mark.parametrize(
    "fault", [lambda g: -g, lambda g: g * 1.01, lambda g: g[::-1], lambda g: np.roll(g, 1, axis=1)]
)
def test_a_wrong_gradient_is_caught(fault):
    gram = RangesGram(6)
    _, gradient = mean_coefficient(theta(2, 6), gram)
    assert slope_error(theta(2, 6), fault(gradient), gram) > 1e-3


@pytest.mark.parametrize(("cells", "branching"), [(16, 4), (100, 7), (30, 2)])
def test_a_start_is_the_tree_without_root(cells, branching):
    tree = Tree(cells, branching, root=False)
    nodes = np.array([tree.apply(row) for row in np.eye(cells)]).T
    np.testing.assert_array_equal(hierarchy_start(cells, branching), nodes[: len(nodes) - cells])
    value = mean_coefficient(hierarchy_start(cells, branching), RangesGram(cells))[0]
    assert value == pytest.approx(len(tree.levels) ** 2 * tree_average(tree), rel=1e-9)


@pytest.mark.parametrize(("cells", "variance"), [(64, 30.9), pytest.param(256, 65.0, marks=pytest.mark.slow)])
def test_the_search_beats_every_hierarchy_and_keeps_above_the_bound(cells, variance):
    gram = RangesGram(cells)
    found = optimise(gram, default_starts(cells), seconds=LONG)
    trees = [Tree(cells, branching, root=False) for branching in range(2, 33)]
    assert found.coefficient < 0.95 * min(len(tree.levels) ** 2 * tree_average(tree) for tree in trees)
    assert 2 * found.coefficient <= variance
    assert found.coefficient > lower_bound(Boxes((AllRanges(cells),)), Relation.ADD_REMOVE)
    assert found.coefficient == pytest.approx(dense_coefficient(found.theta, gram), rel=1e-8)


def test_1024_cells_reach_the_published_optimum():
    gram = RangesGram(1024)
    found = optimise(gram, default_starts(1024), seconds=LONG, iterations=60)
    assert 2 * found.coefficient <= 124.8
    assert 2 * found.coefficient == pytest.approx(2 * dense_coefficient(found.theta, gram), rel=1e-8)


def test_the_integer_strategy_loses_nothing_that_matters():
    gram = RangesGram(64)
    found = optimise(gram, default_starts(64), seconds=LONG)
    matrix = PIdentity.from_theta(found.theta)
    columns = np.array([matrix.covariance(row, 1.0) for row in np.eye(64)])
    assert UNIT**2 * np.vdot(columns, gram.times(np.eye(64))) / gram.queries == pytest.approx(
        found.coefficient, rel=1e-4
    )


def test_the_search_never_climbs_and_reports_every_step():
    heard = []
    found = optimise(
        RangesGram(40), [hierarchy_start(40, 6)], seconds=LONG, progress=lambda step, value: heard.append((step, value))
    )
    assert [step for step, _ in heard] == list(range(1, found.iterations + 1))
    assert all(after <= before for (_, before), (_, after) in itertools.pairwise(heard))
    assert heard[-1][1] == found.coefficient
    assert not found.by_clock


def test_the_same_starts_give_the_same_bits():
    runs = [optimise(RangesGram(50), default_starts(50), seconds=LONG, iterations=40) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].theta, runs[1].theta)


def test_the_best_of_several_starts_is_kept():
    gram = RangesGram(32)
    alone = [optimise(gram, [hierarchy_start(32, b)], seconds=LONG).coefficient for b in (2, 8)]
    both = optimise(gram, [hierarchy_start(32, b) for b in (2, 8)], seconds=LONG)
    assert both.coefficient == min(alone)


def test_no_time_gives_the_start_back_and_says_so():
    start = hierarchy_start(20, 5)
    found = optimise(RangesGram(20), [start], seconds=0.0)
    assert isinstance(found, Optimum)
    assert (found.iterations, found.by_clock) == (0, True)
    np.testing.assert_array_equal(found.theta, start)


def test_another_workload_is_served_too():
    """Prefixes: the optimum must beat both the identity and the tree it starts from."""
    prefixes = np.tril(np.ones((32, 32)))
    gram = DenseGram(prefixes.T @ prefixes, 32)
    found = optimise(gram, default_starts(32), seconds=LONG)
    assert found.coefficient < min(gram.diagonal.sum() / 32, mean_coefficient(hierarchy_start(32, 8), gram)[0])


@pytest.mark.parametrize("cells", [1, 2, 3, 5])
def test_tiny_tables_have_an_optimum_no_worse_than_the_identity(cells):
    gram = RangesGram(cells)
    found = optimise(gram, default_starts(cells), seconds=LONG)
    assert found.coefficient <= gram.diagonal.sum() / gram.queries


def test_no_start_is_refused():
    with pytest.raises(ValueError, match="starts"):
        optimise(RangesGram(4), [], seconds=1.0)
