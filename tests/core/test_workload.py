"""Workloads: weights of ranges, and singular values against a dense decomposition."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.workload import AllRanges, Marginals, Range


def expanded(values: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return np.repeat(values[0], values[1].astype(int))


def all_ranges(cells: int) -> np.ndarray:
    pairs = itertools.combinations_with_replacement(range(1, cells + 1), 2)
    return np.array([Range(left, right).weights(cells) for left, right in pairs])


def dense_marginals(shape: tuple[int, ...], tables: tuple[tuple[int, ...], ...]) -> np.ndarray:
    rows = []
    for table in tables:
        for key in itertools.product(*(range(shape[axis]) for axis in table)):
            row = np.ones(shape)
            for axis, place in zip(table, key, strict=True):
                row *= np.eye(shape[axis])[place].reshape([-1 if i == axis else 1 for i in range(len(shape))])
            rows.append(row.ravel())
    return np.array(rows)


@pytest.mark.parametrize("cells", [*range(1, 16), 30])
def test_singular_values_of_all_ranges_equal_the_dense_ones(cells: int) -> None:
    workload, dense = AllRanges(cells), all_ranges(cells)
    assert workload.queries == len(dense) == cells * (cells + 1) // 2
    assert np.allclose(expanded(workload.singular_values), np.linalg.svd(dense, compute_uv=False), rtol=1e-10)


@st.composite
def workloads(draw: st.DrawFn) -> Marginals:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    axes = st.sets(st.sampled_from(range(len(shape)))).flatmap(lambda some: st.permutations(sorted(some))).map(tuple)
    return Marginals(shape, tuple(draw(st.lists(axes, min_size=1, max_size=4, unique_by=frozenset))))


@given(workloads())
@settings(deadline=None)
def test_singular_values_of_marginals_equal_the_dense_ones(workload: Marginals) -> None:
    dense = dense_marginals(workload.shape, workload.tables)
    assert (workload.queries, workload.cells) == dense.shape
    values, times = workload.singular_values
    assert (np.diff(values) <= 0).all()
    got, expected = expanded((values, times)), np.linalg.svd(dense, compute_uv=False)
    expected = expected[expected > 1e-9]
    assert np.allclose(np.sort(got), np.sort(expected), rtol=1e-9)


def test_singular_values_of_a_million_ranges_have_the_right_norm() -> None:
    """Their squares add up to the number of ones: sum over ranges of their length, n (n + 1) (n + 2) / 6."""
    cells = 10**6
    values, _ = AllRanges(cells).singular_values
    assert math.isclose(math.fsum(values**2), cells * (cells + 1) * (cells + 2) / 6, rel_tol=1e-10)


def test_a_range_counts_from_one_and_includes_both_ends() -> None:
    assert Range(3, 5).weights(7).tolist() == [0, 0, 1, 1, 1, 0, 0]
    assert Range(1, 1).weights(1).tolist() == [1]


@pytest.mark.parametrize(("left", "right"), [(0, 1), (-1, 3), (3, 2)])
def test_ranges_that_are_empty_or_start_before_one_are_refused(left: int, right: int) -> None:
    with pytest.raises(ValueError, match="a range must have 1 <= left <= right, got"):
        Range(left, right)


def test_a_range_beyond_the_cells_and_a_workload_without_cells_are_refused() -> None:
    with pytest.raises(ValueError, match="range 2:6 must end within 5 cells"):
        Range(2, 6).weights(5)
    with pytest.raises(ValueError, match="cells must be an integer >= 1"):
        AllRanges(0)
