"""Numbers drawn within cells: there are some where brute force has some, and all inequalities hold in them."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpress.core.basics import rng
from dpress.core.maps.atoms import Condition
from dpress.mechanisms.microdata.ranged_numbers import Inequality, RangedSum, Ranges
from dpress.mechanisms.microdata.record_rules import Rules

EDGES = ((0, 3, 4, 9), (2, 5, 7), (0, 2, 6, 8))
BESIDE = (0, 4, 8)
SHAPE = (3, 2, 3, 3)
GRID = np.array(list(itertools.product(*map(range, SHAPE))), dtype=np.int32).T


def ranges(rows, step=0):
    each = tuple(
        Inequality(coefficients=coefficients, beside=(beside,), offset=offset, where=where)
        for coefficients, beside, offset, where in rows
    )
    return Ranges(about=(0, 1, 2), edges=EDGES, beside=(3,), places=(BESIDE,), rows=each, step=step)


def fulfilled(rows, numbers, beside, cells):
    return all(
        any(not low <= cells[part.axis] <= high for part in where for low, high in part.runs)
        or sum(factor * number for factor, number in zip(coefficients, numbers, strict=True)) + more * beside + offset
        <= 0
        for coefficients, more, offset, where in rows
    )


UNIT = st.tuples(*[st.sampled_from((-1, 0, 1))] * 3)
WHERE = st.sampled_from([(), (), (Condition(0, ((0, 1),)),), (Condition(1, ((1, 1),)), Condition(3, ((0, 1),)))])
ROWS = st.lists(st.tuples(UNIT, st.sampled_from((-2, 0, 1)), st.integers(-9, 6), WHERE), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_there_are_numbers_where_brute_force_has_some_and_all_hold_in_them(rows):
    rule = ranges(rows)
    try:
        rule.check(SHAPE)
    except ValueError as refusal:
        assert "coefficients of 1" in str(refusal)  # noqa: PT017  # most examples are decided
        assume(False)
    codes = dict(enumerate(GRID))
    truths = []
    for cells in GRID.T:
        every = itertools.product(*(range(*EDGES[axis][cell : cell + 2]) for axis, cell in enumerate(cells[:3])))
        truths.append(any(fulfilled(rows, numbers, BESIDE[cells[3]], cells) for numbers in every))
    assert rule.holds(codes).tolist() == truths
    inside = {axis: cells[truths] for axis, cells in codes.items()}
    if any(truths):
        drawn = rule.drawn(inside, rng=rng.seeded(1))
        for numbers, cells in zip(drawn.T, GRID[:, truths].T, strict=True):
            assert fulfilled(rows, numbers.astype(int), BESIDE[cells[3]], cells)
            assert all(
                EDGES[axis][cell] <= numbers[axis] < EDGES[axis][cell + 1] for axis, cell in enumerate(cells[:3])
            )


def test_numbers_are_even_over_what_is_left_of_the_cells():
    square = Ranges(
        about=(0, 1),
        edges=((0, 1 << 20), (0, 1 << 20)),
        beside=(),
        places=(),
        rows=(Inequality(coefficients=(1, -1), beside=(), offset=0),),
        step=20,
    )
    codes = dict.fromkeys((0, 1), np.zeros(20_000, dtype=np.int32))
    first, second = (square.numbers(codes, rng=rng.seeded(1))[axis] for axis in (0, 1))
    assert (first <= second).all()
    error = 6 * (1 / 18 / 20_000) ** 0.5  # a false alarm in 5e8 runs; the variance is 1 / 18
    assert abs(first.mean() - 1 / 3) < error + 2**-8  # of the last of 8 rounds a 256th is drawn one by one
    assert abs(second.mean() - 2 / 3) < error + 2**-8


def test_sums_are_exact_and_a_rule_that_does_not_fit_is_refused():
    total = RangedSum(axis=1, about=(0, 2), coefficients=((1, 2), (-3, 1)), offset=(5, 4))
    numbers = {0: np.array([0.5, 2.0**-26]), 2: np.array([3.25, 7.0])}
    assert total.number(numbers).tolist() == [0.25 - 9.75 + 1.25, 2.0**-27 - 21 + 1.25]
    rule = ranges([((1, -1, 0), 0, 0, ())])
    for rules, message in (
        (
            Rules(ranges=(rule,), sums=(RangedSum(axis=1, about=(0,), coefficients=((1, 1),), offset=(0, 1)),)),
            "no other",
        ),
        (Rules(ranges=(ranges([((1, -1), 0, 0, ())]),)), "a number, and coefficients|numbers, and coefficients"),
        (
            Rules(sums=(RangedSum(axis=1, about=(7,), coefficients=((1, 1),), offset=(0, 1)),)),
            "a sum is of an attribute",
        ),
        (Rules(ranges=(ranges([((2, -3, 0), 0, 0, ()), ((-3, 2, 0), 0, 0, ())]),)), "coefficients of 1"),
        (Rules(ranges=(ranges([((1, -1, 0), 0, 1 << 60, ())]),)), "adds up numbers beyond"),
    ):
        with pytest.raises(ValueError, match=message):
            rules.possible(SHAPE)
    with pytest.raises(ValueError, match="a rising edge for every cell"):
        Rules(ranges=(rule,)).possible((3, 2, 4, 3))
