"""Variances and covariances of unions of regions against the dense system, and what is no union."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inference.regions.dense_spine import Dense, cases, filled, tables_of, union_of

from dpress.core.basics import rng
from dpress.core.maps.spine import Spine
from dpress.inference.regions.measured import Measured
from dpress.inference.regions.variances import RegionQuery, cell_variances, covariances, union_variance

UNEVEN = Spine(starts=(np.array([0, 3]), np.array([0, 1, 4, 6]), np.array([0, 2, 3, 4, 5, 8, 9])))
EVERY = Measured(spine=UNEVEN, shape=(2, 3), variances=({(): 2.0}, {(): 0.0}, {(1,): 1.0}, {(): 5.0, (0, 1): 2.0}))


def query(measured: Measured, seed: int) -> RegionQuery:
    """Random weights over a random table, of a random union down to the last level that tells of it."""
    source = rng.seeded(seed)
    possible = [table for table in tables_of(len(measured.shape)) if table in measured.spaces]
    table = possible[int(source.words(1)[0] % np.uint64(len(possible)))]
    sizes = tuple(measured.shape[axis] for axis in table)
    weights = (source.words(int(np.prod(sizes))) / 2.0**63 - 0.5).reshape(sizes)
    nodes = union_of(measured.spine, seed)
    return RegionQuery(
        union={level: nodes[level] for level in range(measured.deepest(table) + 1)}, weights={table: weights}
    )


def dense_row(case: Dense, asked: RegionQuery) -> np.ndarray:
    total = 0.0
    for table, weights in asked.weights.items():
        for level, nodes in asked.union.items():
            rows = case.rows(level, table).reshape(case.measured.spine.sizes[level], weights.size, -1)
            total = total + weights.ravel() @ rows[nodes].sum(axis=0)
    return total


@pytest.mark.slow
@given(cases(), st.integers(0, 2**32))
@settings(deadline=None)
def test_unions_have_the_covariance_of_the_dense_system(case: Dense, seed: int) -> None:
    _, covariance = case.solution()
    queries = [query(case.measured, seed + place) for place in range(3)]
    rows = np.stack([dense_row(case, asked) for asked in queries])
    expected = rows @ covariance @ rows.T
    found = covariances(case.measured, queries)
    assert np.abs(found - expected).max() < 1e-9 * (1 + np.abs(expected).max())
    for place, asked in enumerate(queries):
        assert union_variance(case.measured, asked.union, asked.weights) == pytest.approx(found[place, place], abs=1e-9)


@pytest.mark.slow
@given(cases(), st.integers(0, 2**32))
@settings(deadline=None)
def test_a_node_its_children_and_its_cell_are_the_same_query(case: Dense, seed: int) -> None:
    measured, source = case.measured, rng.seeded(seed)
    for table in [table for table in tables_of(len(measured.shape)) if table in measured.spaces]:
        cell = np.eye(1, measured.cells(table)).reshape([measured.shape[axis] for axis in table])
        for level, variances in enumerate(cell_variances(measured, table)[: measured.deepest(table) + 1]):
            node = int(source.words(1)[0] % np.uint64(len(variances)))
            found = union_variance(measured, {level: [node]}, {table: cell})
            assert found == pytest.approx(variances[node], rel=1e-9, abs=1e-12)
            if level < measured.deepest(table):
                starts = measured.spine.starts[level]
                children = {level + 1: np.arange(starts[node], starts[node + 1])}
                assert union_variance(measured, children, {table: cell}) == pytest.approx(found, rel=1e-9, abs=1e-12)


def test_an_exact_place_asked_by_its_parts_has_no_variance() -> None:
    whole = {1: [0], 2: [1, 2], 3: [4]}  # of the second node of level 1: two children, and the only leaf of the third
    assert union_variance(EVERY, whole, {(): np.ones(())}) == 0.0
    assert union_variance(EVERY, {2: [1, 2]}, {(): np.ones(())}) > 0.5


def test_every_pair_of_some_unions_has_the_covariance_of_the_dense_system() -> None:
    case, queries = filled(EVERY, 6), [query(EVERY, seed) for seed in range(8)]
    _, covariance = case.solution()
    rows = np.stack([dense_row(case, asked) for asked in queries])
    assert covariances(EVERY, queries) == pytest.approx(rows @ covariance @ rows.T, rel=1e-9, abs=1e-9)


def test_two_tables_are_asked_together() -> None:
    weights = {(): np.array(1.0), (1,): np.array([-1.0, 0.0, 2.0])}
    case, asked = filled(EVERY, 4), RegionQuery(union={2: [1, 5], 3: [0]}, weights=weights)
    _, covariance = case.solution()
    row = dense_row(case, asked)
    assert covariances(EVERY, [asked])[0, 0] == pytest.approx(row @ covariance @ row, rel=1e-9)


def test_queries_of_different_depth_are_asked_together() -> None:
    measured = Measured(spine=UNEVEN, shape=(2, 3), variances=({}, {(1,): 1.0}, {(0, 1): 2.0}, {(): 1.0}))
    deep = RegionQuery(union={3: [2, 7]}, weights={(): np.array(1.0)})
    shallow = RegionQuery(union={2: [1, 4]}, weights={(1,): np.array([1.0, 0.0, 0.0])})
    case = filled(measured, 0)
    _, covariance = case.solution()
    rows = np.stack([dense_row(case, deep), dense_row(case, shallow)])
    assert covariances(measured, [deep, shallow]) == pytest.approx(rows @ covariance @ rows.T, rel=1e-9)


def test_the_empty_union_is_known() -> None:
    assert union_variance(EVERY, {}, {(): np.ones(())}) == 0.0
    assert union_variance(EVERY, {3: []}, {(): np.ones(())}) == 0.0


@pytest.mark.parametrize(
    ("union", "words"),
    [
        ({3: [2, 2]}, "level 3: node 2 is in a union twice"),
        ({2: [0], 3: [1]}, "level 3: node 1 is inside another of its union"),
        ({0: [0], 3: [8]}, "level 3: node 8 is inside another of its union"),
        ({3: [9]}, "level 3: expected nodes from 0 to 8, got others"),
        ({3: [-1]}, "level 3: expected nodes from 0 to 8, got others"),
        ({4: [0]}, r"level 4, table \(\): not measured there or below, the last level is 3"),
    ],
)
def test_what_is_no_union_is_refused(union: dict[int, list[int]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        union_variance(EVERY, union, {(): np.ones(())})


def test_weights_and_tables_that_do_not_fit_are_refused() -> None:
    measured = Measured(spine=UNEVEN, shape=(2, 3), variances=({}, {(1,): 1.0}, {}, {(): 1.0}))
    with pytest.raises(ValueError, match=r"table \(1,\): expected weights of shape \(3,\), got \(2,\)"):
        union_variance(measured, {1: [0]}, {(1,): np.ones(2)})
    with pytest.raises(ValueError, match=r"level 3, table \(1,\): not measured there or below, the last level is 1"):
        union_variance(measured, {3: [0]}, {(1,): np.ones(3)})
    with pytest.raises(ValueError, match=r"table \(0,\) lies in no table that is measured"):
        union_variance(measured, {1: [0]}, {(0,): np.ones(2)})
