"""What rules compute, what they leave possible, and what they refuse."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.basics.rng import seeded
from dpress.core.maps.atoms import Condition
from dpress.core.methods.possible import Possible
from dpress.mechanisms.microdata.record_rules import Determined, Impossible, Rules
from dpress.mechanisms.microdata.record_sampling import mixture

SHAPE = (3, 4, 2, 2)


@st.composite
def rules(draw):
    """Rules over four small attributes: the last determined by the second, and boxes that never hold."""
    codes = tuple(draw(st.lists(st.integers(0, 1), min_size=4, max_size=4)))
    boxes = []
    for _ in range(draw(st.integers(1, 3))):
        axes = sorted(draw(st.sets(st.integers(0, 3), min_size=1, max_size=3)))
        places = [(axis, draw(st.integers(0, SHAPE[axis] - 1))) for axis in axes]
        boxes.append(tuple(Condition(axis, ((place, place),)) for axis, place in places))
    determined = (Determined(axis=3, by=1, codes=codes),)
    return Rules(determined=determined, impossible=tuple(Impossible(boxes=(box,)) for box in boxes))


@settings(max_examples=40)
@given(rules(), st.integers(0, 1000))
def test_no_record_of_a_mixture_breaks_a_rule(made, seed):
    every = np.array(list(itertools.product(*map(range, SHAPE))), dtype=np.int32).T
    kept = [column for column in every.T if not made.broken(column[:, None])]
    if not kept:
        with pytest.raises(ValueError, match="leave no record possible"):
            made.possible(SHAPE)
        return
    possible = made.possible(SHAPE)
    free = np.array(list(itertools.product(*map(range, SHAPE[:3]))), dtype=np.int32).T
    expected = {tuple(column[:3]) for column in kept}
    assert {tuple(column) for column in free[:, possible.holds(free)].T} == expected
    tables = [np.array([[5.0, 1.0, 0.0], [1.0, 1.0, 1.0]]), np.full((2, 4), 2.0), np.array([[1.0, 0.0], [3.0, 1.0]])]
    records = mixture(tables, np.array([40, 25]), rng=seeded(seed), possible=possible)
    assert records.shape == (3, 65)
    assert made.broken(made.completed(records, 4)) == 0


def test_a_mixture_that_knows_of_no_rules_breaks_them():
    """The fault that the test above is about."""
    rule = Rules(impossible=(Impossible(boxes=((Condition(0, ((0, 0),)), Condition(1, ((0, 1),))),)),))
    tables = [np.array([[5.0, 1.0]]), np.array([[1.0, 1.0, 1.0]])]
    assert rule.broken(mixture(tables, np.array([60]), rng=seeded(1))) > 20
    assert rule.broken(mixture(tables, np.array([60]), rng=seeded(1), possible=rule.possible((2, 3)))) == 0


def test_sums_are_kept_beside_what_is_impossible():
    """Of a product alone without its impossible cell, the second value would be a twentieth and not a tenth."""
    rule = Rules(impossible=(Impossible(boxes=((Condition(0, ((0, 0),)), Condition(1, ((1, 1),))),)),))
    tables = [np.array([[50.0, 50.0]]), np.array([[90.0, 10.0]])]
    records = mixture(tables, np.array([1000]), rng=seeded(1), possible=rule.possible((2, 2)))
    assert abs(records.mean(axis=1) - [0.5, 0.1]).max() < 0.01


def test_chains_are_computed_in_their_order_and_circles_are_refused():
    chain = (Determined(axis=2, by=1, codes=(1, 0)), Determined(axis=1, by=0, codes=(0, 1, 1)))
    rules = Rules(determined=chain)
    assert rules.measured(3) == (0,)
    assert rules.completed(np.array([[0, 1, 2]], dtype=np.int32), 3).tolist() == [[0, 1, 2], [0, 1, 1], [1, 0, 0]]
    with pytest.raises(ValueError, match="computed from each other"):
        Rules(determined=(*chain, Determined(axis=0, by=2, codes=(0, 1)))).possible((3, 2, 2))


def test_what_is_determined_twice_is_computed_once_and_possible_where_both_agree():
    rules = Rules(determined=(Determined(axis=2, by=0, codes=(0, 1)), Determined(axis=2, by=1, codes=(0, 0, 1))))
    assert rules.measured(3) == (0, 1)
    (part,) = rules.possible((2, 3, 2)).parts
    assert part.allowed.tolist() == [[True, True, False], [False, False, True]]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (Rules(determined=(Determined(axis=1, by=0, codes=(0,)),)), "cells, that there are not"),
        (Rules(determined=(Determined(axis=1, by=0, codes=(0, 9)),)), "a cell that there is not"),
        (Rules(impossible=(Impossible(boxes=((Condition(7, ((0, 0),)),),)),)), "an attribute that there is not"),
        (Rules(impossible=(Impossible(boxes=((Condition(0, ((0, 5),)),),)),)), "a cell that there is not"),
        (Rules(impossible=(Impossible(boxes=((),)),)), "no record possible"),
    ],
)
def test_rules_of_other_attributes_are_refused(rules, message):
    with pytest.raises(ValueError, match=message):
        rules.possible((2, 3))


def test_too_many_cells_together_are_refused():
    box = (Condition(0, ((0, 0),)), Condition(1, ((0, 0),)))
    with pytest.raises(ValueError, match="constraints join attributes of 4,000,000 cells together; they may have 1,04"):
        Rules(impossible=(Impossible(boxes=(box,)),)).possible((2000, 2000))
    assert Rules().possible((2000, 2000)).holds(np.zeros((2, 1), np.int32)).all()
    assert Possible().parts == ()
