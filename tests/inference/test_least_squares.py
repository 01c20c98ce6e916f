"""Least squares: estimates, variances and answers against dense algebra."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from dpress.core.maps.linear import Identity, LinearMap
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Decoder
from dpress.inference.least_squares import LeastSquares, flat
from dpress.mechanisms.linear.haar import Haar

Dense = Callable[[LinearMap], np.ndarray]
Solve = Callable[..., tuple[np.ndarray, np.ndarray]]
Uniforms = Callable[[int, int], np.ndarray]
SIZES = [1, 2, 3, 5, 8, 13, 16, 21]
MAPS = [
    *map(Identity, SIZES),
    *map(Tree, SIZES),
    Tree(10, 3),
    Tree(26, 5),
    Haar(1),
    Haar(2),
    Haar(8),
    Haar(16),
]


def test_everything_equals_dense_least_squares(dense: Dense, solution: Solve, uniforms: Uniforms) -> None:
    for case in itertools.product(MAPS, [True, False]):
        implicit, equal = case
        variance = 3.0 if equal else 0.5 + 4 * uniforms(implicit.rows, 1)
        back, covariance = solution(dense(implicit), variance)
        decoder = LeastSquares(implicit, (implicit.cells,))
        measured = Measurement(map=implicit, answers=10 * uniforms(implicit.rows, 2), variance=variance)
        assert np.allclose(decoder.estimate(measured)[0], back @ measured.answers, rtol=1e-9, atol=1e-9), case
        assert np.allclose(decoder.cell_variances(variance)[0], np.diag(covariance), rtol=1e-9), case
        for seed in (3, 4):
            query = uniforms(implicit.cells, seed) - 0.3
            assert np.isclose(
                decoder.answer(measured, [query]), query @ back @ measured.answers, rtol=1e-9, atol=1e-9
            ), case
            assert np.isclose(decoder.query_variance(variance, [query]), query @ covariance @ query, rtol=1e-9), case


def test_padded_haar_has_the_covariance_of_the_padded_inverse(dense: Dense, uniforms: Uniforms) -> None:
    for case in itertools.product([3, 5, 6, 7, 13], [True, False]):
        cells, equal = case
        implicit = Haar(cells)
        variance = 3.0 if equal else 0.5 + 4 * uniforms(implicit.rows, 1)
        back = np.linalg.inv(dense(Haar(implicit.rows)))[:cells]
        covariance = back * variance @ back.T
        decoder, query = LeastSquares(implicit, (cells,)), uniforms(cells, 2)
        assert np.allclose(decoder.cell_variances(variance)[0], np.diag(covariance), rtol=1e-9), case
        assert np.isclose(decoder.query_variance(variance, [query]), query @ covariance @ query, rtol=1e-9), case


def test_product_queries_of_a_flattened_table(uniforms: Uniforms) -> None:
    shape = (2, 3, 4)
    weights = [uniforms(size, size) for size in shape]
    query = np.einsum("i,j,k->ijk", *weights).ravel()
    assert np.allclose(flat(weights), query)
    decoder = LeastSquares(Identity(24), shape)
    measured = Measurement(map=Identity(24), answers=np.arange(24), variance=2.0)
    assert np.isclose(decoder.answer(measured, weights), query @ np.arange(24))
    assert np.isclose(decoder.query_variance(2.0, weights), 2 * query @ query)
    spread = 1 + uniforms(24, 9)
    assert np.isclose(decoder.query_variance(spread, weights), query**2 @ spread)
    assert decoder.tables == ((0, 1, 2),)


def test_exact_answers_are_reproduced() -> None:
    counts = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    for implicit in (Identity(8), Tree(8), Haar(8)):
        decoder = LeastSquares(implicit, (8,))
        measured = Measurement(map=implicit, answers=implicit.apply(counts), variance=1.0)
        assert np.allclose(decoder.estimate(measured)[0], counts)
        assert np.isclose(decoder.answer(measured, [np.ones(8)]), counts.sum())


def test_a_shape_that_is_not_the_maps_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a table of shape \(2, 3\) has no 8 cells"):
        LeastSquares(Haar(8), (2, 3))
    assert isinstance(LeastSquares(Haar(8), (2, 4)), Decoder)
