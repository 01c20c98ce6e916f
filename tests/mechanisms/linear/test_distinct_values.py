"""`distinct_values`: what a unit can change of the number of different values, by all tables of up to four rows."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.linear.distinct_values import DistinctValues
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.person_sums import PersonSums

GROUPED = DistinctValues(shape=(3, 3), by=(0,), axis=1, levels=2)  # the last code is no value
ALONE = DistinctValues(shape=(4,), by=(), axis=0, levels=3)
MOST_ROWS = 4


def codes_of(part, cells):
    return np.array(np.unravel_index(np.array(cells, dtype=np.int64), part.shape), dtype=np.int32)


def counted(part, cells):
    return part.answers(part.sums(codes_of(part, cells)))


def tables(part, most):
    """Return all tables of so many rows at most: rows of one cell are alike."""
    cells = range(part.cells)
    return [rows for size in range(most + 1) for rows in itertools.combinations_with_replacement(cells, size)]


def test_a_value_counts_once_in_a_group_and_once_over_all():
    codes = np.array([[0, 0, 1, 2, 2], [1, 1, 1, 0, 2]], dtype=np.int32)
    assert GROUPED.answers(GROUPED.sums(codes)).tolist() == [1, 1, 1, 2]
    assert ALONE.answers(ALONE.sums(np.array([[0, 3, 3, 0, 2]], dtype=np.int32))).tolist() == [2]


def test_batches_add_up_and_a_value_of_two_batches_counts_once():
    codes = codes_of(GROUPED, [0, 0, 4, 4, 7, 8, 3])
    apart = GROUPED.sums(codes[:, :3]) + GROUPED.sums(codes[:, 3:])
    assert GROUPED.answers(apart).tolist() == GROUPED.answers(GROUPED.sums(codes)).tolist()


@pytest.mark.parametrize(("part", "rows"), [(GROUPED, 1), (GROUPED, 2), (ALONE, 1), (ALONE, 2), (ALONE, 4)])
def test_the_sensitivity_is_the_largest_change_over_all_tables_of_up_to_four_rows(part, rows):
    """A unit of at most so many rows comes, or is replaced; the table has up to four rows with it."""
    units, worst = tables(part, rows), dict.fromkeys(itertools.product(Relation, (1, 2)), 0)
    for others in tables(part, MOST_ROWS - rows):
        with_unit = np.array([counted(part, others + unit) for unit in units])
        added = with_unit - counted(part, others)
        replaced = (with_unit[:, None] - with_unit[None]).reshape(-1, part.rows)
        for relation, changes in ((Relation.ADD_REMOVE, added), (Relation.REPLACE_ONE, replaced)):
            for order in (1, 2):
                most = int((np.abs(changes) ** order).sum(axis=1).max())
                worst[relation, order] = max(worst[relation, order], most)
    for (relation, order), most in worst.items():
        stated = part.unit_sensitivity(order, relation, rows)
        assert most <= stated
        if relation is Relation.ADD_REMOVE or rows == 1:
            assert most == stated  # a smaller bound would not hold


@pytest.mark.parametrize("loss", [PureDP(Fraction(1)), ZCDP(Fraction(1, 2))])
def test_the_claim_is_that_of_the_noise_and_rows_of_sums_alone_would_claim_less(loss):
    unit = Unit(relation=Relation.ADD_REMOVE, column="uid", rows=2)
    strategy = GroupStatistics(moments=(), distinct=(GROUPED,), shares=(Fraction(1),))
    mechanism = MatrixMechanism(strategy=strategy, loss=loss, unit=unit)
    assert mechanism.claim.proven.amount <= loss.amount
    (noise,) = mechanism.noises
    values = {2: 4, 1: 4}[loss.order] + (4 if loss.order == 2 else 0)  # two pairs and two values; squares of two, twice
    assert GROUPED.unit_sensitivity(loss.order, unit.relation, 2) == values
    assert loss.cost(noise.spread, Fraction(values)) <= loss.amount
    assert loss.cost(noise.spread, Fraction(values + 1)) > loss.amount * Fraction(105, 100)  # a planted fault is seen


def test_different_values_stand_between_rows_and_persons():
    persons = PersonSums(shape=(3, 3), by=(0,))
    shares = (Fraction(1, 2), Fraction(1, 2))
    strategy = GroupStatistics(moments=(), distinct=(GROUPED,), persons=(persons,), shares=shares)
    codes = codes_of(GROUPED, [0, 1, 3, 3])
    sums = np.concatenate([strategy.sums(codes), strategy.person_sums(codes, np.array([5, 5, 5, 6]))])
    assert strategy.answers(sums).tolist() == [2, 1, 0, 2, 1, 2, 0, 2]


@pytest.mark.parametrize("wrong", [{"axis": 0}, {"axis": 2}, {"levels": 0}, {"levels": 4}])
def test_a_part_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match=r"axes must be|levels must lie"):
        DistinctValues(**{"shape": (3, 3), "by": (0,), "axis": 1, "levels": 2} | wrong)
