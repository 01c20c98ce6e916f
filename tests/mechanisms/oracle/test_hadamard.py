"""hadamard: the transform against the dense matrix, the variance formula, layout of the reports."""

import math

import numpy as np
import pytest
from scipy.linalg import hadamard as dense

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported, ReportRejected
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.oracle.hadamard import Hadamard, transform


def oracle_of(size: int, epsilon: float = 1) -> Hadamard:
    return Hadamard(size=size, loss=PureDP(epsilon=epsilon))


@pytest.mark.parametrize("rows", [1, 2, 4, 64])
def test_the_transform_is_the_dense_matrix_and_leaves_its_input(rows: int) -> None:
    x = np.arange(rows) ** 2 - 7
    before = x.copy()
    assert np.array_equal(transform(x), dense(rows) @ x)
    assert np.array_equal(x, before)


@pytest.mark.parametrize("size", [1, 2, 5, 64, 1000])
def test_without_noise_a_report_is_a_row_and_its_sign(size: int) -> None:
    oracle = oracle_of(size, 1000)
    values = (np.arange(5000) % size).astype(np.int32)
    numbers = oracle.perturb(values, rng=rng.seeded(1)).view(f"<u{oracle.width}").reshape(-1)
    rows, signs = numbers >> 1, 1 - 2 * (numbers & 1).astype(int)
    assert np.array_equal(signs, dense(oracle.rows)[rows, values])
    assert rows.max() < oracle.rows
    assert len(np.unique(rows)) > 0.9 * oracle.rows


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_the_variance_is_the_papers_less_the_count_itself(epsilon: float) -> None:
    power = math.exp(epsilon)
    square = ((power + 1) / (power - 1)) ** 2
    assert math.isclose(oracle_of(9, epsilon).variance(1000), 1000 * square, rel_tol=1e-9)
    assert math.isclose(oracle_of(9, epsilon).variance(1000, 0.25), 1000 * square - 250, rel_tol=1e-9)


def test_sums_of_signs_by_row() -> None:
    reports = np.array([[0], [0], [1], [5], [6]], dtype=np.uint8)  # rows 0 0 0 2 3
    assert oracle_of(3).tally(reports).tolist() == [1, 0, -1, 1]


@pytest.mark.parametrize(("size", "width"), [(1, 1), (128, 1), (129, 2), (2**15, 2), (2**15 + 1, 3), (2**30, 4)])
def test_reports_take_the_fewest_bytes(size: int, width: int) -> None:
    oracle = oracle_of(size)
    reports = oracle.perturb(np.array([0, size - 1], dtype=np.int32), rng=rng.seeded(1))
    assert oracle.width == width == reports.shape[1]
    assert not oracle.faults(reports)["out of range"].any()


def test_a_row_that_there_is_not_is_a_fault() -> None:
    reports = np.array([[7], [8]], dtype=np.uint8)
    assert oracle_of(3).faults(reports)["out of range"].tolist() == [False, True]
    with pytest.raises(ReportRejected):
        oracle_of(3).tally(reports)


def test_too_many_values_are_refused() -> None:
    with pytest.raises(NotSupported, match="size must be at most 1073741824"):
        oracle_of(2**30 + 1)
