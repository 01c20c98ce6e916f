"""The numbers of papers/ranges.md: averages, the table of variances, Theorem 2, closed forms."""

import math

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.core.maps.ranges import AllRanges, Range
from dpress.core.maps.workload import Boxes
from dpress.core.methods.mechanism import RangeStrategy
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.binary_tree import BinaryTree
from dpress.mechanisms.linear.boost import Boost
from dpress.mechanisms.linear.identity import Identity
from dpress.mechanisms.linear.privelet import Privelet

HEIGHTS = range(1, 13)


@pytest.mark.parametrize(("cells", "value"), [(2, 2 / 3), (4, 3 / 5), (8, 187 / 288), (1024, 1.695420742500119)])
def test_privelet_averages(cells: int, value: float) -> None:
    assert math.isclose(Privelet(cells).average_variance([1.0]), value, rel_tol=1e-12)


def test_boost_and_naive_tree_averages_at_1024() -> None:
    assert math.isclose(Boost(1024).average_variance([1.0]), 1.9692089257248304, rel_tol=1e-12)
    assert round(BinaryTree(1024).average_variance([1.0]), 4) == 8.0137


@pytest.mark.parametrize(
    ("strategy", "variance"),
    [(BinaryTree(1024), 1939.3), (Identity((1024,)), 684.0), (Boost(1024), 476.5), (Privelet(1024), 410.3)],
    ids=["binary_tree", "identity", "boost", "privelet"],
)
def test_the_table_of_average_variances_at_epsilon_one(strategy: RangeStrategy, variance: float) -> None:
    sensitivity = strategy.map.sensitivity(1, Relation.ADD_REMOVE)
    assert round(2 * sensitivity**2 * strategy.average_variance([1.0]), 1) == variance


def test_the_zcdp_column_privelet_and_the_lower_bound() -> None:
    squared = Privelet(1024).map.sensitivity(2, Relation.ADD_REMOVE)
    assert squared == 11
    assert math.isclose(squared * Privelet(1024).average_variance([1.0]), 18.6496, abs_tol=5e-5)
    assert round(lower_bound(Boxes((AllRanges(1024),)), Relation.ADD_REMOVE), 3) == 12.196


def phi(height: int, level: int) -> float:
    return 2 / 3 * (4.0**-height - 4.0**-level)


@pytest.mark.parametrize("height", range(1, 7))
def test_theorem_2_covariance_by_lowest_common_ancestor(height: int) -> None:
    cells = 2**height
    covariance = np.array([Privelet(cells).map.covariance(cell, 1.0) for cell in np.eye(cells)])
    for i in range(cells):
        for j in range(cells):
            level = (i ^ j).bit_length()
            expected = phi(height, level) if level else 4.0**-height + (1 - 4.0**-height) / 3
            assert math.isclose(covariance[i, j], expected, rel_tol=1e-12, abs_tol=1e-15)
            if level:
                summed = 4.0**-height + sum(4.0**-t for t in range(level + 1, height + 1)) - 4.0**-level
                assert math.isclose(summed, expected, rel_tol=1e-12, abs_tol=1e-15)


def by_pairs(height: int, left: int, right: int) -> float:
    """Theorem 2 summed over every pair of cells of the range."""
    cells = range(left - 1, right)
    diagonal = 4.0**-height + (1 - 4.0**-height) / 3
    return math.fsum(phi(height, (i ^ j).bit_length()) if i != j else diagonal for i in cells for j in cells)


@pytest.mark.parametrize(("height", "left", "right"), [(3, 3, 7), (3, 1, 8), (3, 1, 4), (5, 6, 29), (6, 1, 63)])
def test_error_coefficient_of_a_range_is_theorem_2_added_up(height: int, left: int, right: int) -> None:
    cells = 2**height
    got = Privelet(cells).decoder.query_variance(1.0, [Range(left, right).weights(cells)])
    assert math.isclose(got, by_pairs(height, left, right), rel_tol=1e-12)


def test_the_documents_example_and_why_the_diagonal_alone_is_wrong() -> None:
    """[3, 7] of 8: weights 5/8 on the total, then -1/8, -1/2, 1/4 and 1/2 on the differences."""
    got = Privelet(8).decoder.query_variance(1.0, [Range(3, 7).weights(8)])
    assert math.isclose(got, (25 + 1) / 64 + 1 / 4 + 1 / 16 + 1 / 4, rel_tol=1e-12)
    assert math.isclose(got, by_pairs(3, 3, 7), rel_tol=1e-12)
    diagonal_only = 5 * (4.0**-3 + (1 - 4.0**-3) / 3)
    assert diagonal_only > 1.7 * got


def level_averages(height: int, divisors: list[float], total: float) -> float:
    """ranges.md: [sum_k (n/s) q_k / lambda_k + q_T / lambda_T] / (n N / 2)."""
    n = 2**height
    above = n + 1
    added = (n + 1) ** 2 * (n + 2) / 12 / total
    for level, divisor in enumerate(divisors, start=1):
        s = 2**level
        q = (above * (s / 2) * (s * s / 2 + 1) / 3 - (s / 2) ** 4) / s
        added += n / s * q / divisor
    return added / (n * above / 2)


@pytest.mark.parametrize("height", HEIGHTS)
def test_closed_forms_of_both_averages(height: int) -> None:
    n = 2**height
    closed = height / 6 + 1 / 36 + 1 / (2 * (n + 1)) + 1 / (2 * n) + 2 / (9 * n * n)
    assert math.isclose(Privelet(n).average_variance([1.0]), closed, rel_tol=1e-11)
    haar = level_averages(height, [2.0**k for k in range(1, height + 1)], n)
    assert math.isclose(Privelet(n).average_variance([1.0]), haar, rel_tol=1e-11)
    boost = level_averages(height, [2.0**k - 1 for k in range(1, height + 1)], 2 * n - 1)
    assert math.isclose(Boost(n).average_variance([1.0]), boost, rel_tol=1e-11)


def test_lower_bound_in_closed_form() -> None:
    n = 1024
    values = [(n + 1) / (4 * math.sin(math.pi * k / (2 * (n + 1))) ** 2) for k in range(1, n + 1)]
    closed = math.fsum(map(math.sqrt, values)) ** 2 / n / (n * (n + 1) / 2)
    assert math.isclose(lower_bound(Boxes((AllRanges(n),)), Relation.ADD_REMOVE), closed, rel_tol=1e-12)


def index(strategy: RangeStrategy, cells: int) -> float:
    """log2(n)^3 / (average variance epsilon^2 / 2): the finite-n accuracy index."""
    sensitivity = strategy.map.sensitivity(1, Relation.ADD_REMOVE)
    return math.log2(cells) ** 3 / (sensitivity**2 * strategy.average_variance([1.0]))


def test_accuracy_indices_approach_their_limits_as_the_paper_says() -> None:
    found = [round(index(strategy, 1024), 2) for strategy in (BinaryTree(1024), Boost(1024), Privelet(1024))]
    assert found == [1.03, 4.2, 4.87]
    assert [one.accuracy_index for one in (BinaryTree(4), Boost(4), Privelet(4), Identity((4,)))] == [1, 6, 6, 0]
    for make in (Boost, Privelet):
        gaps = [6 - index(make(2**height), 2**height) for height in (6, 10, 14, 18)]
        assert gaps == sorted(gaps, reverse=True)
        assert 0 < gaps[-1] < 1.2
    assert index(Identity((2**18,)), 2**18) < 0.1
