"""How far a measured mean squared error may lie from the predicted one by chance: bounds that are proven, not fitted.

Let T = e^2 / predicted for one query, or the mean of such ratios over many queries, with e a weighted sum of
independent noise. Then E T = 1, and with mu_p the p-th moment of noise / its standard deviation

    E T^p <= mu_2p,

for Laplace noise, and for Gaussian noise of sigma2 >= 4 (for the discrete ones, too: the tests check what is needed):
expand E e^2p, bound it term by term, and use Minkowski's inequality for the mean over queries, however they depend on
one another. So one noise value is the worst case, and over independent runs

*below*: P(mean T <= 1 - t) <= exp(-runs t^2 / (2 mu_4))  (one-sided Bernstein, T >= 0);
*above*: P(mean T >= 1 + t) <= min_p E[(mean T)^p] / (1 + t)^p, moments of the sum by multiplying power series.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.noise.distribution import Noise
from dpress.noise.laplace import DiscreteLaplace

ORDERS = 100
POINTS = 1 << 16  # of the sums for the moments; wide distributions are smooth


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """Measured over predicted stays within these two except with the stated chance.

    Args:
        low: the smallest ratio.
        high: the largest ratio.
        alarm: the chance that a ratio lies outside although the prediction is right, at most.
    """

    low: float
    high: float
    alarm: float

    def holds(self, ratio: float) -> bool:
        """Say whether the ratio lies within."""
        return self.low <= ratio <= self.high


def tolerance(noises: Sequence[Noise], runs: int, alarm: float) -> Tolerance:
    """Return the bounds for the mean of T over independent runs.

    Args:
        noises: every distribution that was drawn from; the heaviest tail decides.
        runs: the number of independent runs.
        alarm: the chance of a false alarm, both sides together.
    """
    logs = np.max([log_moments(noise) for noise in noises], axis=0)
    return Tolerance(
        low=max(0.0, 1 - math.sqrt(2 * math.exp(logs[2]) * math.log(2 / alarm) / runs)),
        high=_upper(tuple(logs.tolist()), runs, alarm / 2),
        alarm=alarm,
    )


@functools.lru_cache(maxsize=64)
def log_moments(noise: Noise) -> npt.NDArray[np.float64]:
    """Return log E (X / sd)^2p for p = 0..ORDERS."""
    laplace = isinstance(noise, DiscreteLaplace)
    reach = math.ceil(400 * float(noise.scale) if laplace else 60 * math.sqrt(noise.variance)) + 60
    x = np.unique(np.linspace(1, reach, min(reach, POINTS)).round())
    step = reach / len(x)
    mass = np.log(np.maximum(noise.pmf(x), 1e-300)) + math.log(2 * step)
    logs = [0.0] + [np.logaddexp.reduce(mass + 2 * p * np.log(x)) for p in range(1, ORDERS + 1)]
    return np.array(logs) - np.arange(ORDERS + 1) * logs[1]


@functools.lru_cache(maxsize=256)
def _upper(logs: tuple[float, ...], runs: int, alarm: float) -> float:
    """Return the t for which the best moment bound is `alarm`."""
    factorials = np.array([math.lgamma(p + 1) for p in range(ORDERS + 1)])
    series = np.exp(np.array(logs) - factorials - np.arange(ORDERS + 1) * math.log(runs))  # E (T / runs)^p / p!
    power = np.eye(1, ORDERS + 1)[0]
    for digit in f"{runs:b}":
        power = np.convolve(power, power)[: ORDERS + 1]
        if digit == "1":
            power = np.convolve(power, series)[: ORDERS + 1]
    orders = np.arange(1, ORDERS + 1)
    moments = np.log(power[1:]) + factorials[1:]
    return float(np.exp(np.min((moments - math.log(alarm)) / orders)))
