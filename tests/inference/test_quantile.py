"""Quantiles by inverted cumulative counts: their cells, how often the interval holds, and that they rise with q."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.inference.normal import normal
from dpress.inference.quantile import QuantileCells, invert, quantile_weights

FALSE_ALARM = 1e-6  # of all comparisons of this file together
LEVEL, DRAWS, SIGMA = 0.95, 4000, 6.0
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / 12)
C = critical(LEVEL, "gaussian")
COUNTS = np.round(400 * np.exp(-np.arange(40) / 6)) + (np.arange(40) % 7 == 0)  # skewed, and small at the end


def forms(counts: Array, level: float) -> Array:
    return np.array([quantile_weights(k, level, counts.size) for k in range(counts.size)])


def exact_cell(counts: Array, level: float) -> int:
    return int(np.argmax(np.cumsum(counts) >= level * counts.sum() - 1e-9))


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_without_noise_it_is_the_first_cell_that_reaches_the_share(level):
    found = invert(forms(COUNTS, level) @ COUNTS, np.zeros(COUNTS.size))
    cell = exact_cell(COUNTS, level)
    assert found == QuantileCells(estimate=(cell, cell), interval=(cell, cell))


def test_empty_cells_around_a_border_are_all_of_the_estimate_s_first_cell():
    found = invert(forms(np.array([5.0, 0, 0, 5]), 0.5) @ np.array([5.0, 0, 0, 5]), np.zeros(4))
    assert found.estimate == (0, 0)


def test_noise_that_crosses_twice_leaves_all_cells_between():
    found = invert(np.array([-3.0, 1.0, -1.0, 4.0]), np.full(4, 0.1 * C))
    assert found == QuantileCells(estimate=(1, 3), interval=(1, 3))


def test_a_cell_whose_own_border_is_above_may_hold_it_where_the_one_before_may_be_below():
    found = invert(np.array([-10.0, 1.0, 5.0, 30.0]), np.full(4, C))
    assert found == QuantileCells(estimate=(1, 1), interval=(1, 2))


def test_it_rises_with_q_whatever_the_noise():
    noisy = COUNTS + 60 * normal(COUNTS.size, rng=rng.seeded(2))
    cells = [invert(forms(noisy, q) @ noisy, np.full(40, C)).estimate for q in np.linspace(0.02, 0.98, 49)]
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.pairwise(cells))


def test_no_count_above_zero_is_refused():
    with pytest.raises(ValueError, match="the last difference must be > 0"):
        invert(np.array([-1.0, -2.0]), np.ones(2))


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.25, 0.5, 0.9])
def test_the_interval_holds_and_a_fifth_shorter_ones_are_found(level):
    """Cells of few people under much noise, so that a standard error is many cells wide and no step hides a miss."""
    counts = np.round(12 * np.exp(-np.arange(300) / 90))
    weights, truth = forms(counts, level), exact_cell(counts, level)
    deviations = SIGMA * np.sqrt((weights**2).sum(axis=1))
    noisy = counts + SIGMA * normal(DRAWS * counts.size, rng=rng.seeded(9)).reshape(DRAWS, -1)
    error = math.sqrt(LEVEL * (1 - LEVEL) / DRAWS)
    assert held(noisy @ weights.T, deviations, truth, C) > LEVEL - LIMIT * error
    assert held(noisy @ weights.T, deviations, truth, 0.8 * C) < LEVEL - LIMIT * error


def held(differences: Array, deviations: Array, truth: int, critical: float) -> float:
    found = [invert(one, critical * deviations).interval for one in differences]
    return float(np.mean([low <= truth <= high for low, high in found]))
