"""`dst`: within a few per cent of the lower bound under zCDP, rounding counted in."""

import functools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.ranges import AllRanges, Range, Ranges
from dpress.core.maps.sine import Sine
from dpress.core.maps.workload import Boxes
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.dst import CARD, Dst
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.sine_ranges import sine_average

RHO = ZCDP(rho="0.5")
SIZES = [1, 2, 3, 5, 31, 32, 33, 64, 130]


def dense(cells: int) -> np.ndarray:
    """The strategy as the document has it: diag(eigenvalue^1/4) DST-I, columns scaled to norm 1."""
    positions = np.arange(1, cells + 1)
    basis = np.sqrt(2 / (cells + 1)) * np.sin(np.pi * np.outer(positions, positions) / (cells + 1))
    eigenvalues = (cells + 1) / (4 * np.sin(np.pi * positions / (2 * (cells + 1))) ** 2)
    matrix = eigenvalues[:, None] ** 0.25 * basis
    return matrix / np.linalg.norm(matrix, axis=0)


@pytest.mark.parametrize("cells", SIZES)
def test_the_transform_is_the_matrix_rounded_to_whole_steps(cells: int) -> None:
    implicit, matrix = Sine((cells,)), dense(cells)
    table = (np.arange(cells) ** 2) % 97
    answers = np.cos(np.arange(cells))
    assert np.abs(implicit.apply(table) * implicit.step - matrix @ table).max() <= 0.51 * implicit.step
    np.testing.assert_allclose(implicit.transpose(answers) * implicit.step, matrix.T @ answers)
    back = np.linalg.inv(matrix) * implicit.step
    np.testing.assert_allclose(implicit.reconstruct(answers, 1.0), back @ answers, atol=1e-12)
    np.testing.assert_allclose(implicit.covariance(answers, 1.0), back @ back.T @ answers, atol=1e-14)
    np.testing.assert_allclose(implicit.cell_variances(1.0), np.diag(back @ back.T))


@pytest.mark.parametrize("cells", SIZES)
def test_sensitivity_bounds_every_column_and_every_pair_of_columns(cells: int) -> None:
    implicit, matrix = Sine((cells,)), dense(cells)
    norms = (matrix**2).sum(axis=0) / implicit.step**2
    gaps = ((matrix[:, :, None] - matrix[:, None, :]) ** 2).sum(axis=0) / implicit.step**2
    assert norms.max() < implicit.sensitivity(2, Relation.ADD_REMOVE) < 1.001 * norms.max()
    assert gaps.max() < implicit.sensitivity(2, Relation.REPLACE_ONE)
    with pytest.raises(NotSupported, match="calibrated to rho"):
        implicit.sensitivity(1, Relation.ADD_REMOVE)


@pytest.mark.parametrize("cells", SIZES)
def test_the_mean_over_all_ranges_is_the_dense_one(cells: int) -> None:
    back = np.linalg.inv(dense(cells))
    positions = np.arange(1, cells + 1)
    gram = np.minimum.outer(positions, positions) * (cells + 1 - np.maximum.outer(positions, positions))
    mean = float((back @ back.T * gram).sum()) / (cells * (cells + 1) / 2)
    implicit = Sine((cells,))
    assert sine_average(implicit) / implicit.step**2 == pytest.approx(mean, rel=1e-9)
    asked = Range(1 + cells // 3, cells)
    weights = asked.weights(cells)
    found = Dst(cells).range_variances(Ranges.of(cells, [asked]), [1.0])[0]
    assert found / implicit.step**2 == pytest.approx(weights @ back @ back.T @ weights)


def test_the_document_s_figure_at_1024() -> None:
    mechanism = MatrixMechanism(strategy=Dst(1024), loss=RHO)
    variance = Dst(1024).average_variance([1.0]) * float(np.max(mechanism.variance))
    assert lower_bound(Boxes((AllRanges(1024),)), Relation.ADD_REMOVE) == pytest.approx(12.196, abs=1e-3)
    assert 12.3565 < variance <= 12.36


def test_answers_are_unbiased_and_as_wrong_as_stated() -> None:
    """60 releases of 64 cells: the mean squared z-score has standard deviation sqrt(2/3840) = 0.023; six of these."""
    mechanism = MatrixMechanism(strategy=Dst(64), loss=RHO)
    table, generator = np.arange(64) * 10, rng.seeded(5)
    errors = np.stack(
        [mechanism.strategy.decoder.estimate(mechanism.measure(table, rng=generator))[0] - table for _ in range(60)]
    )
    squares = (errors**2 / mechanism.strategy.decoder.cell_variances(mechanism.variance)[0]).mean()
    assert squares == pytest.approx(1, abs=0.15)
    assert squares * 1.3 != pytest.approx(1, abs=0.15)


def test_it_serves_ranges_under_rho_only() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(Boxes((AllRanges(8),)), RHO) == Dst(8)
    assert CARD.strategy(Boxes((AllRanges(8),)), PureDP(epsilon=1)) is None
    with pytest.raises(NotSupported):
        MatrixMechanism(strategy=Dst(8), loss=PureDP(epsilon=1), unit=ROW)


def test_a_table_too_large_for_exact_rounding_is_refused() -> None:
    with pytest.raises(NotSupported, match=r"more than 2\^28 rows"):
        Sine((4,)).apply(np.array([2**31, 0, 0, 0]))


PLANES = [(1, 1), (2, 3), (5, 4), (1, 7), (8, 9), (3, 2, 4)]


def dense_over(shape: tuple[int, ...]) -> np.ndarray:
    return functools.reduce(np.kron, [dense(cells) for cells in shape])


@pytest.mark.parametrize("shape", PLANES, ids=str)
def test_over_several_axes_it_is_the_product_rounded_once(shape: tuple[int, ...]) -> None:
    implicit, matrix = Sine(shape), dense_over(shape)
    table = (np.arange(implicit.cells) ** 2) % 97
    answers = np.cos(np.arange(implicit.cells))
    assert np.abs(implicit.apply(table) * implicit.step - matrix @ table).max() <= 0.51 * implicit.step
    np.testing.assert_allclose(implicit.transpose(answers) * implicit.step, matrix.T @ answers, atol=1e-12)
    back = np.linalg.inv(matrix) * implicit.step
    np.testing.assert_allclose(implicit.reconstruct(answers, 1.0), back @ answers, atol=1e-12)
    np.testing.assert_allclose(implicit.covariance(answers, 1.0), back @ back.T @ answers, atol=1e-14)
    np.testing.assert_allclose(implicit.cell_variances(1.0), np.diag(back @ back.T))
    if len(shape) > 1:
        with pytest.raises(NotSupported, match="several axes has answers of one variance"):
            implicit.cell_variances(answers**2)


@pytest.mark.parametrize("shape", PLANES, ids=str)
def test_sensitivity_over_several_axes_bounds_columns_pairs_and_what_is_rounded(shape: tuple[int, ...]) -> None:
    implicit, matrix = Sine(shape), dense_over(shape)
    norms = (matrix**2).sum(axis=0) / implicit.step**2
    gaps = ((matrix[:, :, None] - matrix[:, None, :]) ** 2).sum(axis=0) / implicit.step**2
    added, moved = (implicit.sensitivity(2, relation) for relation in Relation)
    assert norms.max() < added < 1.001 * norms.max()
    assert gaps.max() < moved
    table = (np.arange(implicit.cells) * 7) % 13 + 1000
    answers = [implicit.apply(table + cell) for cell in np.eye(implicit.cells, dtype=np.int64)]
    assert max(int(((one - implicit.apply(table)) ** 2).sum()) for one in answers) <= added
    assert max(int(((one - other) ** 2).sum()) for one in answers for other in answers) <= moved


def test_the_factors_of_a_plane_are_no_less_than_three_fifths_of_the_bound_under_replace_one() -> None:
    """Columns have no negative products, so twice is a bound; far cells of a larger plane come close to it."""
    matrix = dense_over((16, 16))
    gaps = 2 - 2 * (matrix.T @ matrix).min()
    assert 1.2 < gaps <= 2
