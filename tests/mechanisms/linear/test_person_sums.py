"""`person_sums`: what persons add, what one of them can change, and that a smaller bound would not hold."""

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.linear import group_statistics_audit
from dpress.mechanisms.linear.group_statistics import CARD, GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.person_sums import STEPS, PersonSums

SHAPE = (3, 5)
PERSONS = PersonSums(shape=SHAPE, by=(0,))
TOTALS = PersonSums(
    shape=SHAPE,
    by=(0,),
    degree=1,
    axis=1,
    levels=4,
    values=(Fraction(-2), Fraction(2)),
    bounds=(Fraction(0), Fraction(5)),
)
PARTS = [PERSONS, TOTALS, PersonSums(shape=SHAPE, by=()), PersonSums(shape=(1, 5), by=(0,))]
RELATIONS = list(Relation)


def test_a_person_counts_once_in_a_group_and_once_over_all() -> None:
    codes = np.array([[0, 0, 1, 0, 2], [1, 1, 2, 3, 4]], dtype=np.int32)
    persons = np.array([7, 7, 7, 3, 3])
    assert PERSONS.sums(codes, persons).tolist() == [2, 1, 1, 2]


def test_totals_are_clipped_by_group_and_over_all_and_no_level_is_no_total() -> None:
    codes = np.array([[0, 0, 1, 0, 2], [3, 3, 0, 2, 4]], dtype=np.int32)  # stand for 4, 4, -2, 2, none
    persons = np.array([7, 7, 7, 3, 3])
    sums = TOTALS.sums(codes, persons).reshape(4, 2) / STEPS
    assert sums.sum(axis=1).tolist() == [2, 1, 0, 2]
    assert 5 * sums[:, 1] == pytest.approx([5 + 2, 0, 0, 5 + 2], abs=1e-5)  # 8 is clipped to 5, -2 to 0, 4 + 4 - 2 to 5


def test_persons_in_any_order_and_apart_have_the_same_sums() -> None:
    draw = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    codes = np.array([draw.integers(0, size, 300) for size in SHAPE], dtype=np.int32)
    persons = draw.integers(0, 80, 300)
    order = draw.permutation(300)
    for part in PARTS[:3]:
        whole = part.sums(codes, persons)
        assert np.array_equal(part.sums(codes[:, order], persons[order]), whole)
        first = persons < 40
        apart = part.sums(codes[:, first], persons[first]) + part.sums(codes[:, ~first], persons[~first])
        assert np.array_equal(apart, whole)


def changes(part: PersonSums, rows: int, relation: Relation) -> np.ndarray:
    """What every person of at most so many rows changes, who comes, or is replaced by any other."""
    cells = np.array(np.unravel_index(np.arange(part.cells), part.shape), dtype=np.int32)
    sets = [one for size in range(rows + 1) for one in itertools.combinations_with_replacement(range(part.cells), size)]
    own = np.unique([part.sums(cells[:, list(one)], np.zeros(len(one), dtype=np.int64)) for one in sets], axis=0)
    if relation is Relation.ADD_REMOVE:
        return own
    return (own[:, None] - own[None]).reshape(-1, own.shape[1])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("part", PARTS, ids=["persons", "totals", "one group", "one cell"])
def test_no_person_changes_more_than_the_sensitivity(part: PersonSums, rows: int, relation: Relation) -> None:
    moved = changes(part, rows, relation)
    for order in (1, 2):
        worst = int((np.abs(moved) ** order).sum(axis=1).max())
        stated = max(part.unit_sensitivity(order, one, rows) for one in {relation, Relation.ADD_REMOVE})
        assert worst <= stated
        if relation is Relation.ADD_REMOVE or part.degree == 0:
            assert worst == stated  # a smaller bound would not hold


@pytest.mark.parametrize("loss", [PureDP(epsilon=2), ZCDP(rho=2)], ids=["epsilon", "rho"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_claim_covers_every_person_and_a_bound_of_rows_alone_would_not(
    loss: PureDP | ZCDP, relation: Relation
) -> None:
    unit = Unit(relation=relation, column="uid", rows=2)
    strategy = GroupStatistics(moments=(), persons=(PERSONS, TOTALS), shares=(Fraction(1, 4), Fraction(3, 4)))
    made = MatrixMechanism(strategy=strategy, loss=loss, unit=unit)
    order, stated = (1, 2) if isinstance(loss, PureDP) else (2, 2)
    costs = []
    for part, noise in zip(strategy.persons, made.noises, strict=True):
        worst = int((np.abs(changes(part, 2, relation)) ** order).sum(axis=1).max())
        costs.append(Fraction(worst) / (noise.scale if isinstance(loss, PureDP) else 2 * noise.sigma2))
    assert sum(costs) <= stated
    without = [cost * Fraction(3, 2) for cost in costs]  # noise for k, not k + 1, numbers
    assert sum(without) > stated
    assert made.claim.proven == loss


def test_totals_need_bounds_and_an_axis() -> None:
    for wrong in ({"bounds": (Fraction(1), Fraction(1))}, {"axis": None}, {"axis": 0}, {"levels": 6}):
        with pytest.raises(ValueError, match=r"total|levels|axes"):
            PersonSums(**({"shape": SHAPE, "by": (0,), "degree": 1, "axis": 1, "levels": 4} | wrong))


@pytest.mark.parametrize("loss", [PureDP(epsilon=1), ZCDP(rho=1)], ids=["epsilon", "rho"])
def test_the_audit_finds_the_loss_of_persons_and_noise_that_is_too_small(loss: PureDP | ZCDP) -> None:
    for relation, rows in itertools.product(Relation, (1, 3)):
        unit = Unit(relation=relation, column="uid", rows=rows)
        made = group_statistics_audit.tiny(CARD.example(loss, unit))
        found = group_statistics_audit.person_loss(made, Fraction(1))
        assert found.kept
        assert relation is Relation.REPLACE_ONE or found.loss == 1
        spent = type(loss)(**dict.fromkeys(type(loss).__slots__, Fraction(21, 10)))
        assert not group_statistics_audit.person_loss(dataclasses.replace(made, loss=spent), Fraction(1)).kept
