"""Generalised least squares over lists of answers: the same as one dense system, and never worse than any list."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpress.inference.generalised_least_squares import Answers, GeneralisedLeastSquares


def answers(generator, unknowns, rows, repeated=0):
    """A list of counts, 0 or 1 of every unknown, with correlated errors; some follow from the others."""
    matrix = generator.integers(0, 2, size=(rows, unknowns)).astype(float)
    loadings = generator.normal(size=(rows, rows + 1)) * generator.uniform(0.1, 10)
    mix = np.vstack([np.eye(rows), generator.integers(-1, 2, size=(repeated, rows))])
    mix = mix[np.abs(mix).any(axis=1)]
    values = generator.normal(size=rows)
    return Answers(matrix=mix @ matrix, values=mix @ values, covariance=mix @ loadings @ loadings.T @ mix.T)


def dense(lists, rows):
    """The estimates of one system, of the rows of each list that no others make up."""
    matrix = np.concatenate([each.matrix[:rows] for each in lists])
    values = np.concatenate([each.values[:rows] for each in lists])
    inverse = np.zeros((len(matrix), len(matrix)))
    for place, each in enumerate(lists):
        part = slice(place * rows, (place + 1) * rows)
        inverse[part, part] = np.linalg.inv(each.covariance[:rows, :rows])
    covariance = np.linalg.inv(matrix.T @ inverse @ matrix)
    return covariance @ matrix.T @ inverse @ values, covariance


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(0, 3))
def test_it_is_one_dense_system(seed, several, repeated) -> None:
    """Also where answers follow from others of their list: those tell nothing more, and take nothing away."""
    generator = np.random.default_rng(seed)  # noqa: TID251  # made-up answers
    unknowns, rows = 3, 4
    lists = tuple(answers(generator, unknowns, rows, repeated) for _ in range(several))
    assume(np.linalg.matrix_rank(np.concatenate([each.matrix for each in lists])) == unknowns)
    values, covariance = GeneralisedLeastSquares(lists=lists).estimates(np.eye(unknowns))
    wanted, spread = dense(lists, rows)
    assert covariance == pytest.approx(spread, rel=1e-5, abs=1e-8 * spread.max())
    assert values == pytest.approx(wanted, rel=1e-5, abs=1e-5 * np.sqrt(spread.max()))


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_no_answer_errs_less(seed, several) -> None:
    generator = np.random.default_rng(seed)  # noqa: TID251  # made-up answers
    lists = tuple(answers(generator, 5, 3, 2) for _ in range(several))
    squares = GeneralisedLeastSquares(lists=lists)
    for each in lists:
        for row, variance in zip(each.matrix, np.diagonal(each.covariance), strict=True):
            if row.any():
                assert squares.determines(row)
                assert squares.estimates(row[None])[1].item() <= variance * (1 + 1e-6)


def test_what_does_not_follow_is_told() -> None:
    """Of a + b and b no more is known than a, and of a third unknown nothing."""
    two = Answers(matrix=np.array([[1.0, 1, 0], [0, 1, 0]]), values=np.array([5.0, 2]), covariance=np.diag([4.0, 1]))
    squares = GeneralisedLeastSquares(lists=(two,))
    assert squares.determines(np.array([1.0, 0, 0]))
    assert not squares.determines(np.array([1.0, 0, 1]))
    values, covariance = squares.estimates(np.array([[1.0, 0, 0]]))
    assert (values[0], covariance[0, 0]) == pytest.approx((3, 5))


def test_only_lists_that_tell_of_a_sum_are_used() -> None:
    lists = tuple(
        Answers(matrix=np.array([row]), values=np.array([1.0]), covariance=np.array([[1.0]]))
        for row in ([1.0, 0], [0.0, 1], [2.0, 0])
    )
    assert GeneralisedLeastSquares(lists=lists).used(np.array([[1.0, 0]])) == [True, False, True]
