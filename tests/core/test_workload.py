"""Workloads: boxes and marginal tables, their norms against a dense decomposition."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.basics.claim import Relation
from dpress.core.maps.ranges import AllRanges, Axis, Prefixes, Range, RangeList, Ranges, RangesOfLength
from dpress.core.maps.workload import Boxes, Marginals
from dpress.inference.lower_bound import lower_bound

LISTED = RangeList(4, (Range(1, 2), Range(2, 4), Range(2, 4)))


def rows_of(axis: Axis) -> np.ndarray:
    """The queries of one axis, shape (queries, cells)."""
    return np.array([axis.ranges().weights(place) for place in range(axis.queries)])


def dense_boxes(workload: Boxes) -> np.ndarray:
    each = [rows_of(axis) for axis in workload.axes]
    chosen = zip(*each, strict=True) if workload.paired else itertools.product(*each)
    out = []
    for rows in chosen:
        box = np.ones(1)
        for row in rows:
            box = np.kron(box, row)
        out.append(box)
    return np.array(out)


def dense_marginals(shape: tuple[int, ...], tables: tuple[tuple[int, ...], ...]) -> np.ndarray:
    rows = []
    for table in tables:
        for key in itertools.product(*(range(shape[axis]) for axis in table)):
            row = np.ones(shape)
            for axis, place in zip(table, key, strict=True):
                row *= np.eye(shape[axis])[place].reshape([-1 if i == axis else 1 for i in range(len(shape))])
            rows.append(row.ravel())
    return np.array(rows)


BOXES = [
    Boxes((AllRanges(7),)),
    Boxes((Prefixes(5),)),
    Boxes((AllRanges(3), AllRanges(5))),
    Boxes((AllRanges(1), Prefixes(6))),
    Boxes((LISTED, AllRanges(3))),
    Boxes((RangesOfLength(5, 2), Prefixes(3), AllRanges(2))),
]


@pytest.mark.parametrize("workload", BOXES, ids=str)
def test_norms_of_every_combination_of_ranges_are_those_of_the_matrix(workload: Boxes) -> None:
    dense = dense_boxes(workload)
    values = np.linalg.svd(dense, compute_uv=False)
    assert (workload.queries, workload.cells) == dense.shape
    assert math.isclose(math.exp(workload.log_norms[0]), values.sum(), rel_tol=1e-7)
    assert math.exp(workload.log_norms[1]) >= values[0] * (1 - 1e-12)


@st.composite
def pairs(draw: st.DrawFn) -> Boxes:
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    boxes = draw(st.integers(1, 12))
    axes = []
    for cells in shape:
        ends = draw(st.lists(st.tuples(*[st.integers(1, cells)] * 2), min_size=boxes, max_size=boxes))
        axes.append(RangeList(cells, tuple(Range(min(pair), max(pair)) for pair in ends)))
    return Boxes(tuple(axes), paired=True)


@given(pairs())
@settings(deadline=None, max_examples=60)
def test_norms_of_listed_boxes_are_those_of_the_matrix(workload: Boxes) -> None:
    dense = dense_boxes(workload)
    values = np.linalg.svd(dense, compute_uv=False)
    assert (workload.queries, workload.cells) == dense.shape
    assert math.isclose(math.exp(workload.log_norms[0]), values.sum(), rel_tol=1e-6)
    assert math.exp(workload.log_norms[1]) >= values[0] * (1 - 1e-12)


def test_paired_lists_ask_for_as_many_boxes_as_combined_ones_for_their_product() -> None:
    other = RangeList(2, (Range(1, 1), Range(1, 2), Range(2, 2)))
    assert Boxes((LISTED, other), paired=True).queries == 3
    assert Boxes((LISTED, other)).queries == 9
    assert Boxes((LISTED, other), paired=True).log_norms < Boxes((LISTED, other)).log_norms


@pytest.mark.parametrize(
    "axes",
    [
        (LISTED, RangeList(2, (Range(1, 1),))),
        (AllRanges(3), AllRanges(3)),
        (Prefixes(3), Prefixes(3)),
        (LISTED, Prefixes(3)),
        (AllRanges(2), LISTED),
        (RangesOfLength(5, 3), LISTED),
        (),
    ],
    ids=str,
)
def test_paired_axes_that_are_no_lists_of_one_length_are_refused(axes: tuple[Axis, ...]) -> None:
    with pytest.raises(ValueError, match="paired axes must be lists of one length"):
        Boxes(axes, paired=True)


def test_a_bound_of_boxes_is_the_product_of_the_axes_bounds() -> None:
    first, second = AllRanges(9), Prefixes(4)
    both = lower_bound(Boxes((first, second)), Relation.ADD_REMOVE)
    each = [lower_bound(Boxes((axis,)), Relation.ADD_REMOVE) for axis in (first, second)]
    assert math.isclose(both, math.prod(each), rel_tol=1e-12)


@st.composite
def marginals(draw: st.DrawFn) -> Marginals:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    axes = st.sets(st.sampled_from(range(len(shape)))).flatmap(lambda some: st.permutations(sorted(some))).map(tuple)
    return Marginals(shape, tuple(draw(st.lists(axes, min_size=1, max_size=4, unique_by=frozenset))))


@given(marginals())
@settings(deadline=None)
def test_norms_of_marginals_are_those_of_the_matrix(workload: Marginals) -> None:
    dense = dense_marginals(workload.shape, workload.tables)
    values = np.linalg.svd(dense, compute_uv=False)
    assert (workload.queries, workload.cells) == dense.shape
    assert math.isclose(math.exp(workload.log_norms[0]), values.sum(), rel_tol=1e-6)
    assert math.isclose(math.exp(workload.log_norms[1]), values[0], rel_tol=1e-9)


def test_norms_of_marginals_of_a_table_too_large_to_form() -> None:
    """One full table is the identity: every singular value is 1. The total has a single one, sqrt(cells)."""
    shape = (1000, 1000, 1000, 1000)
    full = Marginals(shape, ((0, 1, 2, 3),))
    assert math.isclose(math.exp(full.log_norms[0]), 1e12, rel_tol=1e-12)
    assert full.log_norms[1] == 0
    total = Marginals(shape, ((),))
    assert total.log_norms == pytest.approx([math.log(1e6)] * 2)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([1, 5], [3, 4], r"range 2 is 5:4; expected 1 <= left <= right <= 8"),
        ([0], [3], r"range 1 is 0:3; expected"),
        ([1, 2, 3], [3, 9, 3], r"range 2 is 2:9; expected"),
        ([1, 2], [3], r"left and right must have one shape \(m,\), got \(2,\) and \(1,\)"),
        ([[1]], [[3]], r"left and right must have one shape"),
        ([1.0], [3.5], "left and right must be whole numbers"),
    ],
)
def test_arrays_that_are_no_ranges_are_refused(left: list[int], right: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ranges(8, np.array(left), np.array(right))


def test_no_ranges_at_all_are_no_fault() -> None:
    assert Ranges.of(8, []).size == 0
