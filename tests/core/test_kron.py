"""Kronecker products of maps: against the dense product, sensitivities column by column."""

import functools
import itertools
from collections.abc import Callable

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.kron import Kron, kron
from dpress.core.maps.linear import Identity, Invertible
from dpress.core.maps.p_identity_map import PIdentity
from dpress.core.maps.sine import Sine
from dpress.core.maps.tree import Tree
from dpress.mechanisms.linear.haar import Haar
from dpress.mechanisms.linear.prefix_map import Prefix

LOOSE = 1.25  # how far the bound under replace-one may lie above the truth
SHAPES = [(3, 5), (5, 7), (8, 8), (16, 9), (4, 3, 6)]
SMALL_SHAPES = [(1, 1), (1, 5), (2, 2), (2, 3, 1)]


def p_identity(cells: int) -> PIdentity:
    return PIdentity.from_theta(0.2 + np.cos(np.arange(2.0 * cells)).reshape(2, cells) ** 2)


def binary(cells: int) -> Tree:
    return Tree(cells, 2)


def ternary(cells: int) -> Tree:
    return Tree(cells, 3, root=False)


MAKES: list[Callable[[int], Invertible]] = [Identity, binary, ternary, Haar, Prefix, p_identity]


def matrix(one: Invertible) -> np.ndarray:
    return np.stack([one.apply(cell) for cell in np.eye(one.cells, dtype=np.int64)], axis=1)


def inverse(one: Invertible) -> np.ndarray:
    """What turns answers into cells: least squares, or for a padded wavelet the inverse of the padded one."""
    if isinstance(one, Haar):
        return np.linalg.inv(matrix(Haar(one.rows)))[: one.cells]
    return np.linalg.pinv(matrix(one).astype(float) * one.step) * one.step


def product(make: Callable[[int], Invertible], shape: tuple[int, ...]) -> tuple[Kron, np.ndarray]:
    """The implicit product and the explicit one, of exact integers of any size."""
    factors = [make(size) for size in shape]
    return Kron(tuple(factors)), functools.reduce(np.kron, [matrix(factor).astype(object) for factor in factors])


def furthest(columns: np.ndarray, order: int) -> int:
    """The largest sum of |difference|^order of two columns, exactly."""
    if abs(columns).max() < 1 << 20:
        columns = columns.astype(np.int64)
    return max(
        int((abs(columns - columns[:, [place]]) ** order).sum(axis=0).max()) for place in range(columns.shape[1])
    )


@pytest.mark.parametrize("make", MAKES)
def test_every_operation_is_that_of_the_dense_product(make: Callable[[int], Invertible]) -> None:
    for shape in [*SHAPES, *SMALL_SHAPES]:
        if make is p_identity and len(shape) > 2:
            continue  # 64-bit answers in units of 2^-60 hold four rows
        implicit, exact = product(make, shape)
        dense = exact.astype(float) * implicit.step
        assert (implicit.rows, implicit.cells, implicit.shape) == (*dense.shape, shape), shape
        cells = np.arange(implicit.cells) ** 2 % 23
        answers, variance = np.cos(np.arange(implicit.rows)), 0.7
        assert np.array_equal(implicit.apply(cells), exact @ cells), shape
        np.testing.assert_allclose(
            implicit.transpose(answers) * implicit.step, dense.T @ answers, atol=1e-9, err_msg=str(shape)
        )
        back = functools.reduce(np.kron, [inverse(factor) for factor in implicit.factors])
        covariance, unit = variance * back @ back.T, variance * implicit.step**2
        np.testing.assert_allclose(
            implicit.reconstruct(answers, variance), back @ answers, atol=1e-9, err_msg=str(shape)
        )
        np.testing.assert_allclose(
            implicit.reconstruct(implicit.apply(cells).astype(float), variance), cells, atol=1e-9, err_msg=str(shape)
        )
        np.testing.assert_allclose(
            implicit.covariance(cells * 1.0, variance) / unit, covariance @ cells / unit, atol=1e-9, err_msg=str(shape)
        )
        np.testing.assert_allclose(
            implicit.cell_variances(variance) / unit, np.diag(covariance) / unit, rtol=1e-9, err_msg=str(shape)
        )


@pytest.mark.parametrize("make", MAKES)
def test_sensitivity_is_that_of_the_worst_column_and_no_less_than_that_of_the_worst_pair(
    make: Callable[[int], Invertible],
) -> None:
    """Under replace-one the bound is loose where columns overlap: running totals, sums of cells, one or two cells."""
    for case in itertools.product([1, 2], [*SHAPES, *SMALL_SHAPES]):
        order, shape = case
        implicit, exact = product(make, shape)
        assert implicit.sensitivity(order, Relation.ADD_REMOVE) == int((abs(exact) ** order).sum(axis=0).max()), case
        truth, stated = furthest(exact, order), implicit.sensitivity(order, Relation.REPLACE_ONE)
        assert truth <= stated, case
        if make not in (Prefix, p_identity) and shape in SHAPES:
            assert stated <= LOOSE * truth, case


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_running_totals_pay_up_to_twice_and_a_half_for_a_move(shape: tuple[int, ...]) -> None:
    """The difference of two nested columns is at most the longer one less one: the bound is twice that and a little."""
    implicit, exact = product(Prefix, shape)
    assert implicit.sensitivity(1, Relation.REPLACE_ONE) == 2 * implicit.cells
    assert furthest(exact, 1) == implicit.cells - 1


def test_a_single_cell_never_moves() -> None:
    for order in (1, 2):
        assert Kron((Haar(1), Tree(1, 2))).sensitivity(order, Relation.REPLACE_ONE) == 0


def test_no_two_columns_of_a_factor_have_a_negative_product() -> None:
    """What twice the sensitivity as a bound under replace-one rests on."""
    for case in itertools.product([Identity, binary, ternary, Haar, Prefix, p_identity], [2, 5, 8]):
        make, cells = case
        dense = matrix(make(cells)).astype(object)
        assert (dense.T @ dense >= 0).all(), case


def test_sine_transforms_join_in_one_and_a_single_map_stays_what_it_is() -> None:
    assert kron([Sine((3,)), Sine((4,))]) == Sine((3, 4))
    assert kron([Sine((3,))]) == Sine((3,))
    assert kron([Haar(3)]) == Haar(3)
    assert kron([Haar(3), Haar(4)]) == Kron((Haar(3), Haar(4)))


def test_answers_of_different_variances_are_refused() -> None:
    implicit = Kron((Haar(2), Haar(3)))
    variance = np.ones(implicit.rows)
    for call in (
        lambda: implicit.reconstruct(variance, variance),
        lambda: implicit.covariance(np.ones(6), variance),
        lambda: implicit.cell_variances(variance),
    ):
        with pytest.raises(NotSupported, match="answers of one variance"):
            call()


def test_counts_are_never_rounded_on_the_way() -> None:
    counts = np.array([2**53 + 1, 3, 2**53 + 5, 1, 0, 7])
    implicit = Kron((Tree(2, 2), Haar(3)))
    assert implicit.apply(counts).dtype == np.int64
    assert np.array_equal(implicit.apply(counts), (matrix(implicit).astype(object) @ counts.astype(object)).astype(int))
