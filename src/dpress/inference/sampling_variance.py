"""The error that an estimate has as that of a sample: its variance, and intervals that hold noise and sampling.

variance of sampling, as sure as noise leaves it -> estimates with the intervals of both.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import cut_ends

FIVE_PERCENT = 1.6448536269514722  # standard errors above which a variance is with a chance of 5 %
HALVINGS = 60  # of an angle, down to a float's last bits


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingVariance:
    """The variance that an estimate has as that of a sample, of many sets of groups.

    Args:
        value: unbiased as far as the noise is concerned, so that it may be below 0.
        error: its standard error by the noise.
        degrees: of the variance's own estimate, as a chi-square variable has; infinite where rows are drawn one by one.
    """

    value: Array
    error: Array
    degrees: float

    @property
    def most(self) -> Array:
        """What the variance is at most, as far as noise tells, with a chance of 95 %."""
        most: Array = np.clip(self.value, 0, None) + FIVE_PERCENT * self.error
        return most

    @property
    def standard_error(self) -> Array:
        """The root of the variance, 0 where noise hides it."""
        return np.sqrt(np.clip(self.value, 0, None))


def with_sampling(
    estimates: Estimates,
    sampling: SamplingVariance,
    z: float,
    bounds: tuple[float, float] | None = None,
    alone: Array | None = None,
) -> Estimates:
    """Return estimates with the error of sampling, and intervals that hold noise and sampling.

    Both ends move away from the value as independent errors add up: sqrt((end - value)^2 + t^2 V), V the most that the
    variance is, t Student's with the degrees that V has. Where there is no value, the
    interval is all that is possible.

    Args:
        estimates: with intervals of the noise.
        sampling: the variance, in the same units.
        z: standard errors to each side.
        bounds: between which the truth lies.
        alone: the variance that as many rows have that are drawn one by one; the design effect is over it, and NaN
            where noise hides the error of sampling.
    """
    wide = student(z, sampling.degrees) * np.sqrt(sampling.most)
    value, missing = estimates.value, np.isnan(estimates.value)
    low = value - np.hypot(value - estimates.low, wide)
    high = value + np.hypot(estimates.high - value, wide)
    if bounds is not None:
        low, high = cut_ends(low, high, bounds)
    low, high = np.where(missing, estimates.low, low), np.where(missing, estimates.high, high)
    error = np.where(missing, np.nan, sampling.standard_error)
    if alone is not None:
        alone = np.where(error > 0, error, np.nan) ** 2 / np.where(alone > 0, alone, np.nan)
    return replace(estimates, sampling=error, population=(low, high), design_effect=alone)


def student(z: float, degrees: float) -> float:
    """Return the quantile of Student's distribution where a normal one has z > 0, by halving an angle's interval.

    >>> round(student(1.959964, 79), 3), round(student(1.959964, 4), 3), round(student(1.959964, 1), 3)
    (1.99, 2.776, 12.706)
    """
    if math.isinf(degrees):
        return z
    inside, low, high = math.erf(z / math.sqrt(2)), 0.0, math.pi / 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, int(degrees)) < inside else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def _within(angle: float, degrees: int) -> float:
    """Return the chance that |t| is at most sqrt(degrees) tan(angle), exact (Abramowitz, Stegun 1964, 26.7.3 and 4)."""
    odd = degrees % 2
    term, total, square = math.cos(angle) if odd else 1.0, 0.0, math.cos(angle) ** 2
    for place in range(1 + odd, degrees, 2):
        total += term
        term *= square * place / (place + 1)
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
