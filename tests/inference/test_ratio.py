"""Fieller's interval: the set that it is defined as, how often it holds, and what is read off three linear forms."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.inference.normal import normal
from dpress.inference.ratio import Pair, fieller, pair_of

FALSE_ALARM = 1e-6  # of all comparisons of this file together
LEVEL, DRAWS = 0.95, 40_000
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / 6)
C = critical(LEVEL, "gaussian")
NONE = (0.0, 0.0)  # steps
CASES = [(30.0, 100.0, (16.0, 25.0), 15.0), (-40.0, 60.0, (80.0, 30.0), -20.0), (5.0, 9.0, (4.0, 4.0), 0.0)]


@pytest.mark.parametrize(("first", "second", "variances", "covariance"), CASES)
def test_the_interval_is_every_ratio_whose_form_is_not_significant(first, second, variances, covariance):
    found = fieller(Pair(first=first, second=second, variances=variances, covariance=covariance), C, NONE)
    grid = np.linspace(-10, 10, 400_001)
    spread = variances[0] - 2 * grid * covariance + grid**2 * variances[1]
    inside = grid[np.abs(first - grid * second) <= C * np.sqrt(spread)]
    assert found.interval == pytest.approx((inside[0], inside[-1]), abs=1e-4)
    assert found.value == first / second
    own = variances[0] - 2 * found.value * covariance + found.value**2 * variances[1]
    assert found.standard_error == pytest.approx(math.sqrt(own) / second)


@pytest.mark.parametrize("steps", [(2.0, 1.0), (1.0, 1.0), (0.0, 3.0)])
@pytest.mark.parametrize(("first", "second", "variances", "covariance"), CASES)
def test_steps_widen_it_by_the_most_that_one_changes_the_form(first, second, variances, covariance, steps):
    found = fieller(Pair(first=first, second=second, variances=variances, covariance=covariance), C, steps)
    grid = np.linspace(-10, 10, 400_001)
    spread = variances[0] - 2 * grid * covariance + grid**2 * variances[1]
    widened = C * np.sqrt(spread) + np.maximum(steps[0], steps[1] * np.abs(grid))
    inside = grid[np.abs(first - grid * second) <= widened]
    assert found.interval == pytest.approx((inside[0], inside[-1]), abs=1e-4)


def test_one_root_is_not_lost_where_the_ratio_is_nearly_exact():
    found = fieller(Pair(first=1e9, second=3e9, variances=(1e-6, 1e-6), covariance=0.0), C, NONE)
    half = C * math.sqrt(1e-6 * (1 + 1 / 9)) / 3e9
    assert found.interval[1] - found.value == pytest.approx(half, rel=1e-3)


def test_a_denominator_that_may_be_zero_bounds_nothing():
    found = fieller(Pair(first=5.0, second=1.9, variances=(1.0, 1.0), covariance=0.0), C, NONE)
    assert not found.bounded
    assert found.interval == (-math.inf, math.inf)
    assert math.isnan(found.standard_error)
    assert fieller(Pair(first=5.0, second=2.0, variances=(1.0, 1.0), covariance=0.0), C, NONE).bounded


def test_where_no_error_is_known_there_is_a_value_alone():
    found = fieller(Pair(first=1.0, second=4.0, variances=(math.nan, math.nan), covariance=math.nan), C, NONE)
    assert found.value == 0.25
    assert math.isnan(found.interval[0])
    assert not fieller(Pair(first=1.0, second=0.0, variances=(math.nan,) * 2, covariance=math.nan), C, NONE).bounded


def held(shorter: float) -> Array:
    """Draws of two correlated sums whose denominator is often near 0: which intervals hold the true ratio 0.4."""
    one, other = normal(2 * DRAWS, rng=rng.seeded(5)).reshape(2, -1)
    second, first = 4.0 + one, 1.6 + 0.8 * one + 0.6 * other
    pairs = (
        Pair(first=a, second=b, variances=(1.0, 1.0), covariance=0.8)
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    )
    return np.array([low <= 0.4 <= high for low, high in (fieller(pair, shorter * C, NONE).interval for pair in pairs)])


@pytest.mark.slow
def test_it_holds_as_often_as_it_says_and_a_fifth_shorter_ones_are_found():
    error = math.sqrt(LEVEL * (1 - LEVEL) / DRAWS)
    assert abs(held(1.0).mean() - LEVEL) < LIMIT * error
    assert held(0.8).mean() < LEVEL - LIMIT * error


def test_three_forms_tell_both_sums_and_their_covariance():
    spread = np.array([[5.0, 1.5], [1.5, 2.0]])

    def form(ratio: float) -> tuple[float, float]:
        weights = np.array([1.0, -ratio])
        return float(weights @ [3.0, 7.0]), float(weights @ spread @ weights)

    found = pair_of(form)
    assert (found.first, found.second) == pytest.approx((3.0, 7.0))
    assert found.variances == pytest.approx((5.0, 2.0))
    assert found.covariance == pytest.approx(1.5)
    assert found.variance(1.7) == pytest.approx(form(1.7)[1])


def test_forms_without_an_error_have_none():
    found = pair_of(lambda ratio: (3.0 - ratio, math.nan))
    assert (found.first, found.second) == (3.0, 1.0)
    assert math.isnan(found.variance(0.5))


@pytest.mark.parametrize(("own", "known"), [(0.0, True), (1e-15, True), (1e-3, False)])
def test_a_count_of_nothing_is_0_whatever_rounding_leaves_of_its_variance(own, known):
    """Conditions that exclude each other: first - r second has no noise but that of r second."""
    found = fieller(pair_of(lambda ratio: (-20.0 * ratio, own + 1.9190347513349437 * ratio**2)), C, (1.0, 1.0))
    assert (found.interval == (0.0, 0.0)) == known
