"""The variance of sampling from replicates: unbiased under noise, and covering, with its false alarms stated.

Runs of one estimate each; a mean beyond its standard error, and a share below .94 beyond its own, are false alarms at
1e-6 each.
"""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from dpress.core.maps.linear import Array
from dpress.inference.group_moments import linear
from dpress.inference.interval import critical
from dpress.inference.replicate_variance import sampling_variance
from dpress.inference.sampling_variance import SamplingVariance, student, with_sampling

FALSE_ALARM = 1e-6
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM)
RUNS, REPLICATES = 20_000, 40


def noisy(order: int, shape: tuple[int, ...], variance: float, seed: int) -> Array:
    draw = np.random.default_rng(seed)  # noqa: TID251  # made-up noise
    scale = math.sqrt(variance)
    return draw.laplace(0, scale / math.sqrt(2), shape) if order == 1 else draw.normal(0, scale, shape)


def made(order: int, sampling: float, variance: float, *, planted: float = 1.0) -> SamplingVariance:
    """Return variances of runs whose deviations are drawn anew, as samples are."""
    draw = np.random.default_rng(7)  # noqa: TID251  # made-up samples
    true = draw.normal(0, sampling * math.sqrt(1 / REPLICATES), (RUNS, REPLICATES))
    deviations = true + noisy(order, true.shape, variance, 8)
    return sampling_variance(deviations, np.full(deviations.shape, planted * variance), factor=1.0, order=order)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("sampling", [0.0, 1.0, 20.0])
def test_what_the_noise_adds_is_subtracted(order: int, sampling: float) -> None:
    value = made(order, sampling, 1.0).value
    z = abs(value.mean() - sampling**2) / (value.std() / math.sqrt(RUNS))
    assert z < LIMIT
    biased = made(order, sampling, 1.0, planted=0.9).value
    if sampling < 20:
        assert abs(biased.mean() - sampling**2) / (biased.std() / math.sqrt(RUNS)) > LIMIT


@pytest.mark.parametrize("order", [1, 2])
def test_its_error_is_that_of_the_noise(order: int) -> None:
    variance = made(order, 0.0, 1.0)
    assert variance.value.std() == pytest.approx(math.sqrt(np.mean(variance.error**2)), rel=0.25)
    assert variance.error.min() > 0


def held(order: int, sampling: float, noise: float, *, most: float = 1.0) -> float:
    """Return how often the interval of a normal sample, with noise, holds the population's value 0."""
    tail = "laplace" if order == 1 else "gaussian"
    z = critical(0.95, tail)
    draw = np.random.default_rng(9)  # noqa: TID251  # made-up samples
    value = draw.normal(0, sampling, RUNS) + noisy(order, (RUNS,), noise, 10)
    estimates = linear(value, np.full(RUNS, noise), z, 0.0)
    told = made(order, sampling, noise)
    told = SamplingVariance(value=most * told.value, error=most * told.error, degrees=told.degrees)
    low, high = with_sampling(estimates, told, z).population or (value, value)
    return float(((low <= 0) & (high >= 0)).mean())


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("sampling", [0.0, 0.5, 2.0, 5.0, 100.0])
def test_intervals_hold_noise_and_sampling(order: int, sampling: float) -> None:
    assert held(order, sampling, 1.0) > 0.94 - LIMIT * math.sqrt(0.94 * 0.06 / RUNS)
    if sampling > 50:
        assert held(order, sampling, 1.0, most=0.5) < 0.94 - LIMIT * math.sqrt(0.94 * 0.06 / RUNS)


def test_where_there_is_no_value_everything_is_possible() -> None:
    nothing = np.array([np.nan])
    estimates = linear(nothing, np.ones(1), 2.0, 0.0)
    made_up = SamplingVariance(value=np.ones(1), error=np.ones(1), degrees=3)
    both = with_sampling(estimates, made_up, 2.0, (0.0, 1.0))
    assert both.sampling is not None
    assert np.isnan(both.sampling).all()


def test_students_quantiles_are_those_of_the_tables() -> None:
    assert [round(student(1.959964, degrees), 3) for degrees in (10, 30, 79)] == [2.228, 2.042, 1.990]
    assert [round(student(1.959964, degrees), 3) for degrees in (1, 2, 3)] == [12.706, 4.303, 3.182]
    for z, degrees in itertools.product((0.5, 1.0, 3.0, 4.5), (1, 2, 3, 4, 199)):
        assert 2 * stats.t.sf(student(z, degrees), degrees) == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-6)
