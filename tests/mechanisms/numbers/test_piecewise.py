"""piecewise: the window of least variance, against the published mechanisms for means."""

import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.inference.numbers.report_sums import sums
from dpress.mechanisms.numbers.one_bit import OneBit
from dpress.mechanisms.numbers.piecewise import EVEN, Piecewise, best_window
from dpress.mechanisms.numbers.square_wave import windows_of_means

LEVELS = 1024
REACH = (LEVELS - 1) / 2


def published(epsilon: float, square: float) -> float:
    """The least variance of Duchi's bit, the piecewise and the hybrid mechanism by one user, numbers in [-1, 1]."""
    half, whole = math.exp(epsilon / 2), math.exp(epsilon)
    bit = ((whole + 1) / (whole - 1)) ** 2 - square
    piecewise = square / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)
    alpha = 1 - 1 / half if epsilon > 0.61 else 0.0
    return min(bit, piecewise, alpha * piecewise + (1 - alpha) * bit)


def bit_variance(levels: int, epsilon: float, square: float) -> float:
    """What a bit adds to the variance of the sum of levels about their middle, s their mean square: reach^2 c^2 - s."""
    reach = (levels - 1) / 2 / math.tanh(epsilon / 2)
    return reach**2 - square


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("square", [0.05, EVEN, 0.8])
def test_the_better_of_window_and_bit_is_not_above_the_best_published_variance(epsilon: float, square: float) -> None:
    window = best_window(LEVELS, 1, epsilon, 0.0, square)
    found = windows_of_means(LEVELS, 1, epsilon, 0.0, square * REACH**2)
    own = (found.min() / REACH**2 - square, bit_variance(LEVELS, epsilon, square * REACH**2) / REACH**2)
    assert found.argmin() == window - 1
    assert min(own) <= 1.005 * published(epsilon, square)


@pytest.mark.parametrize("own", [Piecewise, OneBit])
def test_the_mean_has_the_predicted_variance(own: type) -> None:
    epsilon, users, runs = 1.0, 400, 400
    levels = (np.arange(users) * 64 // users).astype(np.int32)
    square = float(((levels - 31.5) ** 2).mean())
    if own is Piecewise:
        window = best_window(64, 1, epsilon)
        oracle = Piecewise(levels=64, loss=PureDP(epsilon=epsilon), window=window)
        variance = windows_of_means(64, 1, epsilon, 0.0, square)[window - 1] - square
    else:
        oracle, variance = OneBit(size=64, loss=PureDP(epsilon=epsilon)), bit_variance(64, epsilon, square)
    generator, whole = rng.seeded(8), np.ones(1, dtype=bool)
    found, stated = [], []
    for _ in range(runs):
        one = sums(oracle.tally(oracle.perturb(levels, rng=generator))[None], oracle.scores, whole)
        found.append(one.values[1] - (levels - 31.5).sum())
        stated.append(one.covariance[1, 1])
    error = np.array(found) / math.sqrt(variance * users)
    assert abs(error.mean()) < 4.9 / math.sqrt(runs)  # 1e-6
    assert abs((error**2).mean() - 1) < 4.9 * math.sqrt(2 / runs)  # 1e-6
    assert abs((error**2).mean() * 1.6 - 1) > 4.9 * math.sqrt(2 / runs)  # another variance would be seen
    people = 0.0 if own is Piecewise else square  # one bit does not tell how far apart people are
    assert 0.95 < np.mean(stated) / ((variance + people) * users) < 1.05
