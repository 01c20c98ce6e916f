"""The integer p-Identity matrix against dense algebra and brute force."""

import hashlib
import itertools

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Invertible
from dpress.core.maps.p_identity_map import UNIT, PIdentity, _woodbury
from dpress.core.maps.tree import Tree

SHAPES = [(0, 1), (1, 1), (0, 5), (1, 2), (3, 7), (5, 16), (20, 12)]


def theta(p, cells):
    """A fixed non-negative matrix with zeros and irrational entries."""
    rows, columns = np.arange(p)[:, None], np.arange(cells)[None, :]
    return np.sqrt((3 * rows + 5 * columns + rows * columns) % 7 / 3.0)


def dense(matrix):
    return np.vstack([np.diag(matrix.diagonal), matrix.sums]).astype(np.float64)


@pytest.fixture(params=SHAPES, ids=str)
def matrix(request):
    return PIdentity.from_theta(theta(*request.param))


def test_it_keeps_the_protocol_and_can_be_a_key(matrix):
    assert isinstance(matrix, Invertible)
    assert {matrix: 1}[PIdentity(matrix.cells, matrix.weights)] == 1


def test_every_column_adds_up_to_the_unit_exactly(matrix):
    whole = [matrix.apply(row) for row in np.eye(matrix.cells, dtype=np.int64)]
    assert all(answers.dtype == np.int64 and int(answers.sum()) == UNIT for answers in whole)
    assert all((answers >= 0).all() for answers in whole)


def test_it_is_the_strategy_of_theta_up_to_a_unit_an_entry(matrix):
    wanted = theta(matrix.rows - matrix.cells, matrix.cells)
    scale = 1 + wanted.sum(axis=0)
    assert np.abs(matrix.sums / UNIT - wanted / scale).max(initial=0) < 1 / UNIT
    assert np.abs(matrix.diagonal / UNIT - 1 / scale).max() <= len(wanted) / UNIT + 1e-12


def test_apply_and_transpose_are_the_dense_matrix(matrix):
    cells = np.arange(matrix.cells) * 37 % 101
    answers = np.cos(np.arange(matrix.rows))
    assert matrix.rows == len(dense(matrix))
    np.testing.assert_array_equal(matrix.apply(cells), dense(matrix) @ cells)
    np.testing.assert_allclose(matrix.apply(cells / 3), dense(matrix) @ (cells / 3))
    np.testing.assert_allclose(matrix.transpose(answers), dense(matrix).T @ answers)


def test_many_queries_of_one_variance_share_what_depends_on_it_alone():
    matrix = PIdentity.from_theta(theta(3, 11))
    before = _woodbury.cache_info()
    for spread in (np.linspace(1, 2, matrix.rows), np.linspace(2, 5, matrix.rows)):
        covariance = np.linalg.inv(dense(matrix).T @ np.diag(1 / spread) @ dense(matrix))
        for cell in np.eye(matrix.cells):
            np.testing.assert_allclose(matrix.covariance(cell, spread.copy()), covariance @ cell)
    after = _woodbury.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (2, 20)


def test_apply_is_exact_where_floats_are_not():
    matrix = PIdentity.from_theta(theta(3, 7))
    cells = np.array([2**41 + 1, 2**40 + 3, 7, 0, 1, 0, 5])
    exact = [sum(int(a) * int(x) for a, x in zip(row, cells, strict=True)) for row in dense(matrix)]
    assert matrix.apply(cells).tolist() == exact
    assert matrix.apply(np.full(7, 255, dtype=np.uint8)).tolist() == (dense(matrix) @ np.full(7, 255)).tolist()


def test_a_table_beyond_64_bits_is_refused():
    with pytest.raises(NotSupported, match="too many rows for 64-bit answers"):
        PIdentity.from_theta(theta(1, 2)).apply(np.array([2**42, 1]))


def test_sensitivity_is_attained_by_a_pair_of_neighbours(matrix):
    for order in [1, 2]:
        columns = [matrix.apply(row) for row in np.eye(matrix.cells, dtype=np.int64)]
        added = max(int((np.abs(column) ** order).sum()) for column in columns)
        pairs = itertools.combinations(columns, 2)
        moved = max((int((np.abs(one - two) ** order).sum()) for one, two in pairs), default=0)
        assert matrix.sensitivity(order, Relation.ADD_REMOVE) == added, order
        assert matrix.sensitivity(order, Relation.REPLACE_ONE) == moved, order


def test_what_every_two_columns_share_no_moved_row_changes():
    matrix = PIdentity.from_theta(np.vstack([np.ones(4), np.eye(4)]))  # columns of a third each: itself, all, itself
    shared = matrix.sums[0, 0]
    assert shared == UNIT // 3
    assert matrix.sensitivity(1, Relation.REPLACE_ONE) == 2 * (UNIT - shared) < 2 * UNIT
    squares = matrix.sensitivity(2, Relation.ADD_REMOVE)
    assert matrix.sensitivity(2, Relation.REPLACE_ONE) == 2 * (squares - int(shared) ** 2)


def variances(matrix):
    return [2.5, 1 + np.arange(matrix.rows) % 3 / 2]


def test_covariance_and_reconstruction_are_dense_least_squares(matrix):
    weights, answers = np.sin(1 + np.arange(matrix.cells)), np.cos(np.arange(matrix.rows)) * 1e5
    for variance in variances(matrix):
        weighted = dense(matrix) / np.broadcast_to(variance, (matrix.rows,))[:, None]
        covariance = np.linalg.inv(weighted.T @ dense(matrix))
        np.testing.assert_allclose(matrix.covariance(weights, variance), covariance @ weights, rtol=1e-8, atol=1e-18)
        np.testing.assert_allclose(matrix.cell_variances(variance), np.diag(covariance), rtol=1e-9)
        wanted = covariance @ weighted.T @ answers
        np.testing.assert_allclose(matrix.reconstruct(answers, variance), wanted, rtol=1e-8, atol=1e-9)


def test_exact_answers_give_the_cells_back(matrix):
    cells = np.arange(matrix.cells) * 1000 + 7
    for variance in variances(matrix):
        np.testing.assert_allclose(matrix.reconstruct(matrix.apply(cells).astype(float), variance), cells, rtol=1e-10)


def test_a_sum_of_infinite_variance_is_ignored_and_a_cell_is_refused():
    matrix = PIdentity.from_theta(theta(3, 7))
    variance = np.ones(matrix.rows)
    variance[7:] = np.inf
    np.testing.assert_allclose(matrix.cell_variances(variance), 1 / matrix.diagonal.astype(float) ** 2)
    variance[0] = np.inf
    with pytest.raises(ValueError, match="every cell"):
        matrix.cell_variances(variance)


def test_without_sums_it_is_the_identity_times_the_unit():
    matrix = PIdentity(4, b"")
    assert matrix.rows == 4
    np.testing.assert_array_equal(matrix.apply(np.arange(4)), UNIT * np.arange(4))


def test_a_tree_scaled_to_one_has_the_trees_least_squares():
    tree = Tree(9, 3, root=False)
    nodes = np.array([tree.apply(row) for row in np.eye(9)]).T
    matrix = PIdentity.from_theta(nodes[: len(nodes) - 9])
    ratio = UNIT**2 * matrix.cell_variances(1.0) / tree.cell_variances(1.0)
    np.testing.assert_allclose(ratio, 4, rtol=1e-5)


@pytest.mark.parametrize(
    ("cells", "weights", "words"),
    [
        (0, b"", "cells"),
        (2, b"abcd", "whole rows"),
        (1, np.array([-1], dtype="<i4").tobytes(), "non-negative"),
        (1, np.array([UNIT], dtype="<i4").tobytes(), "less than"),
        (1, np.array([2**31 - 1, 2**31 - 1], dtype="<i4").tobytes(), "less than"),  # would wrap in 32 bits
    ],
)
def test_bad_weights_are_refused(cells, weights, words):
    with pytest.raises(ValueError, match=words):
        PIdentity(cells, weights)


@pytest.mark.parametrize("bad", [np.array([[-0.1]]), np.array([[np.nan]]), np.array([[np.inf]]), np.ones(3)])
def test_a_bad_theta_is_refused(bad):
    with pytest.raises(ValueError, match="theta must be"):
        PIdentity.from_theta(bad)


def test_an_entry_so_large_that_a_cell_loses_its_own_row_still_leaves_one_unit_or_is_refused():
    assert PIdentity.from_theta(np.array([[2.0**19]])).diagonal.min() >= 1
    matrix = PIdentity.from_theta(np.array([[2.0**40]]))
    assert matrix.diagonal.min() >= 1


def test_the_stored_bytes_do_not_depend_on_the_machine():
    digest = hashlib.sha256(PIdentity.from_theta(np.array([[0.5, 1.0], [0.25, 0.0]])).weights).hexdigest()
    wanted = np.array([[299593, 524288], [149796, 0]], dtype="<i4").tobytes()
    assert digest == hashlib.sha256(wanted).hexdigest()


def test_the_form_for_a_page_has_the_covariance(matrix) -> None:
    weights = np.linspace(-1, 2, matrix.cells)
    for variance in (3.0, np.arange(1.0, matrix.rows + 1)):
        form = matrix.covariance_form(variance)
        runs = np.split(form["values"], np.cumsum(form["lengths"])[:-1]) if form["lengths"] else []
        summed = np.array(
            [run @ weights[start : start + len(run)] for run, start in zip(runs, form["starts"], strict=True)]
        )
        inverse = np.zeros((len(summed), len(summed)))
        inverse[np.triu_indices(len(summed))] = form["inverse"]
        inverse += np.triu(inverse, 1).T
        exact = weights @ matrix.covariance(weights, variance)
        assert form["alone"] @ weights**2 - summed @ inverse @ summed == pytest.approx(exact)
        assert matrix.cells < 5 or not len(matrix.sums) or form["alone"] @ weights**2 > exact * 1.01
