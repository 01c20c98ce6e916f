"""Sums of deviations of replicate weights: what a row adds, and what that costs, for rows of any weights."""

import dataclasses
import itertools
from typing import Any, Literal

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.replicate_sums import ReplicateSums
from dpress.mechanisms.linear.row_weight import SCALE, RowWeight

RNG = np.random.default_rng(4)  # noqa: TID251  # made-up rows
SHAPE = (2, 3, 3, 4, 4, 4)  # groups, levels, weights, three replicates of which one level is missing
WEIGHT = RowWeight(axis=2, steps=2, lightest=0.0)
REPLICATE = RowWeight(axis=3, steps=2, lightest=0.0)
Order = Literal[1, 2]


def sums_of(order: Order, bound: float = 1.5, degree: int = 1) -> ReplicateSums:
    level: dict[str, Any] = {"steps": 2, "axis": 1} if degree else {}
    part = MomentSums(shape=SHAPE, by=(0,), degree=degree, weight=WEIGHT, **level)  # type: ignore[arg-type]
    return ReplicateSums(
        part=part, axes=(3, 4, 5), replicate=REPLICATE, ratio=2.0, order=order, bound=bound, factor=0.5
    )


def rows_of(part: ReplicateSums) -> Any:
    """Return what a row adds to its group in every cell of the table, in parts of the scale."""
    codes = np.indices(SHAPE).reshape(len(SHAPE), -1).astype(np.int32)
    return part.shared(codes).T / SCALE


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("bound", [0.3, 1.5, 9.0])
@pytest.mark.parametrize("order", [1, 2])
def test_no_row_adds_more_than_the_bound_whatever_its_weights(order: Order, bound: float, degree: int) -> None:
    part = sums_of(order, bound, degree)
    rows = rows_of(part)
    for norm in (1, 2):
        largest = (np.abs(rows) ** norm).sum(axis=1).max()
        assert largest <= part.sensitivity(norm, Relation.ADD_REMOVE) / SCALE**norm
        if norm == order and bound < 2:
            assert largest == pytest.approx(1, abs=1e-8)
    some = rows[RNG.permutation(len(rows))[:400]]
    apart = max((np.abs(first - second) ** order).sum() for first, second in itertools.product(some, some))
    assert apart <= part.sensitivity(order, Relation.REPLACE_ONE) / SCALE**order


def test_an_uncut_row_would_be_seen() -> None:
    part = sums_of(1)
    uncut = rows_of(dataclasses.replace(part, bound=6.0)) * 6.0 / part.bound
    assert np.abs(uncut).sum(axis=1).max() > 1.5


@pytest.mark.parametrize("order", [1, 2])
def test_the_sums_are_those_of_deviations(order: Order) -> None:
    part = sums_of(order, bound=9.0)
    codes = np.array([RNG.integers(0, size, 500) for size in SHAPE], dtype=np.int32)
    there = (codes[3:] <= 2).all(axis=0)
    u, t = codes[2] / 2, codes[1] - 1
    found = part.sums(codes).reshape(2, 3, 2) * part.step
    for group in range(2):
        rows = there & (codes[0] == group)
        for replicate in range(3):
            apart = 2 * codes[3 + replicate] / 2 - u
            low, high = found[group, replicate]
            assert low + high == pytest.approx(apart[rows].sum(), abs=1e-5)
            assert high - low == pytest.approx((apart * t)[rows].sum(), abs=1e-5)


def test_the_sums_of_rows_are_the_map_of_their_table() -> None:
    part = sums_of(2)
    codes = np.array([RNG.integers(0, size, 200) for size in SHAPE], dtype=np.int32)
    table = np.bincount(np.ravel_multi_index(codes, SHAPE), minlength=part.cells)
    assert np.array_equal(part.answers(part.sums(codes)), part.apply(table))


@pytest.mark.parametrize("given", [{"axes": (3,)}, {"axes": (3, 3)}, {"bound": 0.0}, {"factor": 0.0}, {"ratio": 0.5}])
def test_what_are_no_replicates_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="replicates"):
        dataclasses.replace(sums_of(1), **given)


def test_replicates_belong_to_the_moments() -> None:
    part = sums_of(1)
    GroupStatistics(moments=(part.part,), replicates=(part,), shares=(part_of := 1 / 2, part_of))  # type: ignore[arg-type]
    other = dataclasses.replace(part, part=dataclasses.replace(part.part, degree=2))
    with pytest.raises(ValueError, match="of the same moments"):
        GroupStatistics(moments=(part.part,), replicates=(other,), shares=(part_of, part_of))  # type: ignore[arg-type]
