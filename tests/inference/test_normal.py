"""Simulated normal numbers: mean zero, variance one, the same of the same seed; of uniform numbers within 0 and 1."""

import math

import numpy as np

from dpress.core.basics import rng
from dpress.inference.normal import normal, uniform

FALSE_ALARM = 1e-6
Z = 5.2  # two-sided quantile of two normal tests at that false alarm
SIZE = 40_000


def test_standard_normal_numbers_have_mean_zero_and_variance_one() -> None:
    numbers = normal(SIZE, rng=rng.seeded(1))
    assert abs(numbers.mean()) < Z / math.sqrt(SIZE)
    assert abs((numbers**2).mean() - 1) < Z * math.sqrt(2 / SIZE)
    assert not abs((1.05 * numbers).var() - 1) < Z * math.sqrt(2 / SIZE)
    assert np.array_equal(normal(5, rng=rng.seeded(2)), normal(5, rng=rng.seeded(2)))


def test_uniform_numbers_lie_within_zero_and_one_evenly() -> None:
    """A number has mean 1 / 2 and variance 1 / 12, its square 1 / 3 and 4 / 45."""
    numbers = uniform(SIZE, rng=rng.seeded(1))
    assert 0 < numbers.min() < numbers.max() < 1
    assert abs(numbers.mean() - 1 / 2) < Z * math.sqrt(1 / 12 / SIZE)
    assert abs((numbers**2).mean() - 1 / 3) < Z * math.sqrt(4 / 45 / SIZE)
    assert not abs((1.05 * numbers).mean() - 1 / 2) < Z * math.sqrt(1 / 12 / SIZE)
