"""Atoms: every cell of a table in the one that its answers say, also where the table could never be listed."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.atoms import Atoms, Condition, Predicate

SHAPE = (5, 3, 4)


def holds(predicate: Predicate, codes: np.ndarray) -> np.ndarray:
    """By definition: one of the boxes has every condition satisfied."""
    found = np.zeros(codes.shape[1], dtype=bool)
    for box in predicate:
        own = np.ones(codes.shape[1], dtype=bool)
        for one in box:
            own &= np.any([(codes[one.axis] >= low) & (codes[one.axis] <= high) for low, high in one.runs], axis=0)
        found |= own
    return found


def every(shape: tuple[int, ...]) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, shape)))).T


def random_predicates(seed: int) -> tuple[Predicate, ...]:
    """Two to five unions of one to three boxes; a condition is a random non-empty set of codes."""
    words = iter(rng.seeded(seed).words(500).tolist())

    def condition(axis: int) -> Condition:
        members = [code for code in range(SHAPE[axis]) if next(words) % 2] or [next(words) % SHAPE[axis]]
        runs: list[list[int]] = []
        for code in members:
            if runs and runs[-1][1] == code - 1:
                runs[-1][1] = code
            else:
                runs.append([code, code])
        return Condition(axis, tuple((low, high) for low, high in runs))

    def box() -> tuple[Condition, ...]:
        return tuple(condition(axis) for axis in range(3) if next(words) % 3)

    return tuple(tuple(box() for _ in range(1 + next(words) % 3)) for _ in range(2 + next(words) % 4))


@pytest.mark.parametrize("seed", range(40))
def test_every_cell_is_in_the_atom_of_its_answers(seed: int) -> None:
    predicates, codes = random_predicates(seed), every(SHAPE)
    atoms = Atoms(SHAPE, predicates)
    answers = np.array([holds(one, codes) for one in predicates])
    assert np.array_equal(atoms.sums.matrix[:, atoms.of(codes)], answers)
    assert atoms.size == len(np.unique(answers, axis=1).T)  # no atom is empty, and no two are alike
    assert atoms.counts(codes).sum() == codes.shape[1]
    assert np.array_equal(atoms.sums.apply(atoms.counts(codes)), answers.sum(axis=1))


@pytest.mark.parametrize("seed", range(10))
def test_atoms_are_numbered_by_their_answers_and_by_nothing_else(seed: int) -> None:
    """So that stored answers mean the same whatever finds the atoms."""
    atoms = Atoms(SHAPE, random_predicates(seed))
    columns = [tuple(column) for column in atoms.sums.matrix.T]
    assert columns == sorted(columns, reverse=True)


@pytest.mark.parametrize("seed", range(20))
def test_a_further_predicate_is_a_sum_of_atoms_or_cuts_those_it_cuts(seed: int) -> None:
    predicates, (further, *_) = random_predicates(seed), random_predicates(seed + 100)
    atoms, codes = Atoms(SHAPE, predicates), every(SHAPE)
    number, own = atoms.of(codes), holds(further, codes)
    for atom, weight in enumerate(atoms.weights(further)):
        inside = own[number == atom]
        assert np.isnan(weight) == (inside.any() and not inside.all())
        assert np.isnan(weight) or weight == inside.all()
    for predicate, row in zip(predicates, atoms.sums.matrix, strict=True):
        assert np.array_equal(atoms.weights(predicate), row)


def test_a_domain_that_nobody_can_list_is_no_obstacle() -> None:
    """20 attributes of a million cells: 10^120 cells, 11 atoms of ten disjoint queries."""
    shape = (1 << 20,) * 20
    boxes = tuple(((Condition(0, ((k, k),)), Condition(k + 1, ((5, 99),))),) for k in range(10))
    atoms = Atoms(shape, boxes)
    assert atoms.size == 11
    codes = np.zeros((20, 3), dtype=np.int64)
    codes[0], codes[4, 1] = [3, 3, 12], 50
    assert atoms.of(codes).tolist() == [10, 3, 10]


def test_more_atoms_than_are_taken_on_are_refused() -> None:
    bits = tuple(((Condition(axis, ((1, 1),)),),) for axis in range(13))
    assert Atoms((2,) * 13, bits[:12]).size == 4096
    with pytest.raises(NotSupported, match="more than 4,096 cells; ask for fewer"):
        Atoms((2,) * 13, bits)


@pytest.mark.parametrize(
    ("shape", "predicates", "message"),
    [
        ((), (((),),), "shape must be sizes from 1 to 1,048,576"),
        ((0,), (((),),), "shape must be"),
        ((2**62,), (((),),), "shape must be"),
        ((3,), (), "predicates must each be 1 to 256 boxes"),
        ((3,), ((),), "predicates must each be"),
        ((3,), (((),) * 257,), "predicates must each be"),
        ((3,), (((Condition(1, ((0, 0),)),),),), "rising axes below 1"),
        ((3, 3), (((Condition(1, ((0, 0),)), Condition(0, ((0, 0),))),),), "rising axes"),
        ((3,), (((Condition(0, ()),),),), "runs of axis 0"),
        ((3,), (((Condition(0, ((0, 3),)),),),), "runs of axis 0"),
        ((3,), (((Condition(0, ((-1, 1),)),),),), "runs of axis 0"),
        ((5,), (((Condition(0, ((0, 1), (2, 3))),),),), "runs of axis 0"),
        ((5,), (((Condition(0, ((2, 1),)),),),), "runs of axis 0"),
    ],
)
def test_what_does_not_fit_is_refused(shape: tuple[int, ...], predicates: tuple[Predicate, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Atoms(shape, predicates)
