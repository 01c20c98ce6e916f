"""Trace and spectral norms of ranges: against dense singular values, and beyond what can be added up."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.maps import cosecants as sums
from dpress.core.maps import ranges as module
from dpress.core.maps.ranges import AllRanges, Prefixes, Range, RangeList, RangesOfLength

SWITCH = sums.EXACT_SUM


def singular(rows: list[Range], cells: int) -> np.ndarray:
    return np.linalg.svd(np.array([row.weights(cells) for row in rows]), compute_uv=False)


def of_length(cells: int, length: int) -> list[Range]:
    return [Range(left, left + length - 1) for left in range(1, cells - length + 2)]


def test_norms_of_all_ranges_and_prefixes_are_those_of_the_matrix() -> None:
    for cells in [*range(1, 16), 30]:
        every = [Range(*pair) for pair in itertools.combinations_with_replacement(range(1, cells + 1), 2)]
        for workload, rows in ((AllRanges(cells), every), (Prefixes(cells), [Range(1, i + 1) for i in range(cells)])):
            values = singular(rows, cells)
            assert math.isclose(workload.trace_norm, values.sum(), rel_tol=1e-11), cells
            assert math.isclose(workload.spectral_norm, values[0], rel_tol=1e-11), cells


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))))
@settings(deadline=None)
def test_norms_of_ranges_of_one_length_are_those_of_the_matrix(size: tuple[int, int]) -> None:
    workload, values = RangesOfLength(*size), singular(of_length(*size), size[0])
    assert math.isclose(workload.trace_norm, values.sum(), rel_tol=1e-7)
    assert workload.spectral_norm >= values[0] * (1 - 1e-12)


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 11)), min_size=1, max_size=30))
@settings(deadline=None)
def test_norms_of_listed_ranges_are_those_of_the_matrix(ends: list[tuple[int, int]]) -> None:
    listed = tuple(Range(left, min(12, left + more)) for left, more in ends)
    workload, values = RangeList(12, listed), singular(list(listed), 12)
    assert math.isclose(workload.trace_norm, values.sum(), rel_tol=1e-6)
    assert workload.spectral_norm >= values[0] * (1 - 1e-12)


@pytest.mark.parametrize("cells", [2, 5, 100, SWITCH, 10**6])
@pytest.mark.parametrize("workload", [AllRanges, Prefixes])
def test_the_two_ways_to_add_up_agree(monkeypatch: pytest.MonkeyPatch, workload: type, cells: int) -> None:
    monkeypatch.setattr(sums, "EXACT_SUM", cells)
    exact = workload(cells).trace_norm
    monkeypatch.setattr(sums, "EXACT_SUM", 0)
    assert math.isclose(workload(cells).trace_norm, exact, rel_tol=max(1e-12, 0.01 / cells**4))


def test_the_formula_of_the_other_angles_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: half a step moves the sum by far more than the comparison allows."""
    exact = Prefixes(SWITCH).trace_norm
    monkeypatch.setattr(sums, "EXACT_SUM", 0)
    wrong = 0.5 * sums.cosecants(SWITCH, 1.0, math.pi / (2 * SWITCH + 1))
    assert not math.isclose(wrong, exact, rel_tol=1e-3)


@pytest.mark.parametrize("workload", [AllRanges, Prefixes])
def test_the_trace_norm_grows_with_the_cells(workload: type) -> None:
    sizes = [1, 2, 3, 100, *range(SWITCH - 2, SWITCH + 4), 10**5, 10**9, 2**59, 2**60]
    found = [workload(cells).trace_norm for cells in sizes]
    assert all(less < more for less, more in itertools.pairwise(found))


def test_large_norms_have_their_leading_terms() -> None:
    cells = 2**60
    logarithm = math.log(cells) + sums.EULER
    expected = math.sqrt(cells) / 2 * (2 * cells / math.pi) * (logarithm + math.log(4 / math.pi))
    assert math.isclose(AllRanges(cells).trace_norm, expected, rel_tol=1e-12)
    prefixes = cells / math.pi * (logarithm + 2 * math.log(2) + math.log(4 / math.pi))
    assert math.isclose(Prefixes(cells).trace_norm, prefixes, rel_tol=1e-12)


def test_singular_values_of_a_million_ranges_have_the_right_norm() -> None:
    """Cauchy: the trace norm lies between the Frobenius norm and its root-n multiple."""
    cells = 10**6
    squares = cells * (cells + 1) * (cells + 2) / 6
    assert squares < AllRanges(cells).trace_norm ** 2 < cells * squares


@pytest.mark.parametrize("length", [1, 2, 3, 8, 21, 50, 149, 299])
def test_bounds_of_ranges_of_one_length_stay_below_the_matrix(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    cells = 300
    true = float(singular(of_length(cells, length), cells).sum())
    monkeypatch.setattr(module, "EXACT_SPECTRUM", 0)
    summed = RangesOfLength(cells, length).trace_norm
    monkeypatch.setattr(module, "EXACT_CIRCULANT", 0)
    closed = RangesOfLength(cells, length).trace_norm
    assert closed <= summed * (1 + 1e-12) <= true * (1 + 2e-12)
    assert closed > 0.4 * true


@pytest.mark.parametrize("length", [2, 3, 10, 33, 100])
def test_the_closed_bound_of_the_circulant_is_close_from_below(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    cells = 10**6
    exact = module._circulant_norm(cells, length)
    monkeypatch.setattr(module, "EXACT_CIRCULANT", 0)
    assert 0.92 * exact < module._circulant_norm(cells, length) < exact


@pytest.mark.parametrize(("cells", "length"), [(30, 20), (30, 29), (30, 30), (400, 390), (60, 31)])
def test_a_few_long_ranges_are_bounded_closely(cells: int, length: int) -> None:
    true = float(singular(of_length(cells, length), cells).sum())
    assert 0.6 * true < module._long_norm(length, cells - length + 1) <= true * (1 + 1e-12)


@pytest.mark.parametrize("length", [1, 1000, 2**30, 2**59, 2**60 - 5000, 2**60 - 100, 2**60])
def test_ranges_of_one_length_of_any_size_have_a_norm(length: int) -> None:
    workload = RangesOfLength(2**60, length)
    frobenius = math.sqrt(length) * math.sqrt(workload.queries)
    assert 0.5 * frobenius < workload.trace_norm <= frobenius * math.sqrt(workload.queries) * (1 + 1e-12)
