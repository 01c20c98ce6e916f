"""Sums over sets of cells: sensitivity, least squares and what is determined, against brute force."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation
from dpress.core.maps.set_sums import MOST_CELLS, MOST_SETS, SetSums

NESTED = SetSums(3, ((0, 1, 2), (0, 1), (0,)))
DEPENDENT = SetSums(4, ((0, 1), (2, 3), (0, 1, 2, 3)))


def some(seed: int) -> SetSums:
    bits = rng.seeded(seed).words(40).astype(np.int64).reshape(5, 8) % 2
    sets = [tuple(np.flatnonzero(row).tolist()) for row in bits]
    return SetSums(8, tuple(dict.fromkeys(own for own in sets if own)))


CASES = [NESTED, DEPENDENT, SetSums(1, ((0,),)), SetSums(3, ((1,),)), *map(some, range(20))]


def dense(sums: SetSums) -> np.ndarray:
    return np.stack([sums.apply(cell) for cell in np.eye(sums.cells, dtype=np.int64)], axis=1)


@pytest.mark.parametrize("sums", CASES, ids=str)
def test_the_matrix_and_its_transpose_are_the_sets(sums: SetSums) -> None:
    matrix = dense(sums)
    assert matrix.dtype == np.int64
    assert [tuple(np.flatnonzero(row).tolist()) for row in matrix] == list(sums.sets)
    assert np.array_equal(matrix, sums.matrix)
    assert np.array_equal(sums.transpose(np.arange(1.0, sums.rows + 1)), matrix.T @ np.arange(1, sums.rows + 1))
    assert sums.counted == np.count_nonzero(matrix.any(axis=0))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("sums", CASES, ids=str)
def test_the_sensitivity_is_the_worst_column_or_the_worst_two(sums: SetSums, order: int) -> None:
    columns = dense(sums).T
    single = max((np.abs(one) ** order).sum() for one in columns)
    moved = max((np.abs(one - other) ** order).sum() for one, other in itertools.product(columns, columns))
    assert sums.sensitivity(order, Relation.ADD_REMOVE) == single
    assert sums.sensitivity(order, Relation.REPLACE_ONE) == moved


def test_the_sensitivity_is_less_than_the_number_of_sets_where_they_exclude_each_other() -> None:
    disjoint = SetSums(4, ((0,), (1,), (2,)))
    assert disjoint.sensitivity(1, Relation.ADD_REMOVE) == 1 < disjoint.rows
    assert disjoint.sensitivity(1, Relation.REPLACE_ONE) == 2
    assert NESTED.sensitivity(1, Relation.ADD_REMOVE) == 3
    assert NESTED.sensitivity(1, Relation.REPLACE_ONE) == 2  # the whole never changes


@pytest.mark.parametrize("sums", CASES, ids=str)
def test_least_squares_is_that_of_the_normal_equations(sums: SetSums) -> None:
    matrix, answers = dense(sums).astype(float), np.arange(1.0, sums.rows + 1) ** 2
    fitted = matrix @ np.linalg.lstsq(matrix, answers, rcond=None)[0]
    assert np.allclose(matrix @ sums.reconstruct(answers, 1.0), fitted)
    covariance = np.linalg.pinv(matrix.T @ matrix, rcond=1e-10)
    assert np.allclose(sums.covariance(matrix, 3.0), 3 * matrix @ covariance)
    assert np.allclose(sums.covariance(matrix[0], 3.0), 3 * covariance @ matrix[0])
    assert np.allclose(sums.cell_variances(3.0), 3 * np.diag(covariance))


def test_sets_that_are_combinations_of_others_gain_from_them() -> None:
    assert NESTED.independent
    assert not DEPENDENT.independent
    variances = [float(row @ DEPENDENT.covariance(row, 1.0)) for row in DEPENDENT.matrix]
    assert variances == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert sum(variances) == pytest.approx(np.linalg.matrix_rank(DEPENDENT.matrix))


def test_a_query_is_determined_if_it_is_a_combination() -> None:
    assert DEPENDENT.determines(np.array([1.0, 1.0, 0.0, 0.0]))
    assert DEPENDENT.determines(np.array([1.0, 1.0, -2.0, -2.0]))
    assert not DEPENDENT.determines(np.array([1.0, 0.0, 0.0, 0.0]))
    assert NESTED.determines(np.array([0.0, 1.0, 0.0]))


@pytest.mark.parametrize(
    ("cells", "sets", "message"),
    [
        (0, ((0,),), "cells must be"),
        (MOST_CELLS + 1, ((0,),), "cells must be at most 4,096"),
        (3, (), "sets must be 1 to 1,024, got 0"),
        (3, ((0,),) * (MOST_SETS + 1), "sets must be 1 to 1,024, got 1025"),
        (3, ((0,), ()), r"sets\[#2\] must be rising numbers of cells from 0 to 2"),
        (3, ((0, 3),), r"sets\[#1\]"),
        (3, ((-1,),), r"sets\[#1\]"),
        (3, ((1, 0),), r"sets\[#1\]"),
        (3, ((1, 1),), r"sets\[#1\]"),
    ],
)
def test_what_are_no_sets_of_cells_is_refused(cells: int, sets: tuple[tuple[int, ...], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SetSums(cells, sets)


def test_answers_of_several_variances_are_refused() -> None:
    with pytest.raises(ValueError, match="one variance"):
        NESTED.reconstruct(np.zeros(3), np.ones(3))
