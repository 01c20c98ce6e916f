"""The difference and the quotient of two estimates: the interval from both of theirs, and how surprising it is.

two estimates with intervals, the correlation of their noise -> estimate with an interval; interval at any confidence ->
p-value.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates
from dpress.inference.ratio import Pair, fieller
from dpress.inference.sampling_variance import FIVE_PERCENT, SamplingVariance

HALVINGS = 18  # of an interval of logarithms, down to a ten-thousandth of a value
LEAST = 1e-9
"""The smallest p-value that is stated: of noise further out no more is known."""


def difference_of(first: Estimates, second: Estimates, correlation: float | None) -> Estimates:
    """Return first - second with the noise's standard error and interval.

    Formula: with l and u the distances of an interval's ends from its value, the ends are
    first - second - sqrt(l1^2 + u2^2 - 2 r l1 u2) and + sqrt(u1^2 + l2^2 - 2 r u1 l2); variance
    s1^2 + s2^2 - 2 r s1 s2. Source: Zou and Donner 2008, the method of variance estimates recovery.

    Args:
        first: of some rows; every column of any one shape, in the units of the statistic.
        second: of other rows, of the same shape.
        correlation: r, of their noise; None where it is not known: then -1, which gives the longest interval.

    >>> first = Estimates(value=np.array(5.0), standard_error=np.array(1.5), low=np.array(2.0), high=np.array(9.0))
    >>> second = Estimates(value=np.array(1.0), standard_error=np.array(2.0), low=np.array(-3.0), high=np.array(4.0))
    >>> made = difference_of(first, second, 0.0)
    >>> [round(float(each), 2) for each in (made.value, made.standard_error, made.low, made.high)]
    [4.0, 2.5, -0.24, 9.66]
    """
    value, r = first.value - second.value, -1.0 if correlation is None else correlation
    return Estimates(
        value=value,
        standard_error=_joined(first.standard_error, second.standard_error, r),
        low=value - _joined(first.value - first.low, second.high - second.value, r),
        high=value + _joined(first.high - first.value, second.value - second.low, r),
    )


def quotient_of(first: Estimates, second: Estimates, correlation: float | None) -> Estimates:
    """Return first / second with the noise's standard error and interval, the second positive in truth.

    Formula: Fieller's interval, with the longer half of each interval in the place of z standard errors: all R with
    |first - R second| <= sqrt(h1^2 + R^2 h2^2 - 2 r R h1 h2); infinite where second <= h2, and no value then. Standard
    error: sqrt(s1^2 + R^2 s2^2 - 2 r R s1 s2) / second, R the value.

    Args:
        first: of some rows; every column of shape (sets,), in the units of its statistic.
        second: of the same rows, of the same shape.
        correlation: r, of their noise; None where it is not known: then whatever 1 or -1 makes longer.

    >>> sums = [np.array([each]) for each in (50.0, 9.0, 0.0, 0.5, 8.0, 10.0)]
    >>> first = Estimates(value=sums[0], standard_error=sums[2], low=sums[0], high=sums[0])
    >>> second = Estimates(value=sums[1], standard_error=sums[3], low=sums[4], high=sums[5])
    >>> made = quotient_of(first, second, 0.0)
    >>> [round(float(each[0]), 3) for each in (made.value, made.standard_error, made.low, made.high)]
    [5.556, 0.309, 5.0, 6.25]
    """
    if correlation is None:
        return _longest(quotient_of(first, second, -1.0), quotient_of(first, second, 1.0))
    halves = [np.maximum(each.value - each.low, each.high - each.value) for each in (first, second)]
    ratios = [
        fieller(
            Pair(first=above, second=below, variances=(a**2, b**2), covariance=correlation * a * b), 1.0, (0.0, 0.0)
        )
        for above, below, a, b in zip(first.value, second.value, *halves, strict=True)
    ]
    value = np.array([each.value for each in ratios])
    error = _joined(first.standard_error, value * second.standard_error, correlation) / second.value
    low, high = np.array([each.interval for each in ratios]).T
    return Estimates(value=value, standard_error=error, low=low, high=high)


def _longest(one_way: Estimates, other: Estimates) -> Estimates:
    """Return estimates of the same values with the larger errors, and intervals that hold both."""
    return Estimates(
        value=one_way.value,
        standard_error=np.maximum(one_way.standard_error, other.standard_error),
        low=np.minimum(one_way.low, other.low),
        high=np.maximum(one_way.high, other.high),
    )


def _joined(first: Array, second: Array, correlation: float) -> Array:
    return np.sqrt(np.maximum(first**2 + second**2 - 2 * correlation * first * second, 0.0))


def p_value(interval: Callable[[float], tuple[float, float]]) -> float:
    """Return one less the highest confidence at which an interval leaves out 0, `LEAST` where it is smaller.

    Args:
        interval: at a confidence, longer with it.

    >>> from statistics import NormalDist
    >>> round(p_value(lambda level: (3 - NormalDist().inv_cdf((1 + level) / 2), math.inf)), 4)
    0.0027
    """
    low, high = math.log(LEAST), 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        first, last = interval(-math.expm1(middle))
        low, high = (low, middle) if first > 0 or last < 0 else (middle, high)
    return math.exp(high)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRows:
    """Rows that are drawn one by one from a population, of which a mean is taken.

    Args:
        variance: of the number among them.
        most: what it is at most, as far as noise tells, with a chance of 95 %.
        count: of the rows.
        count_error: the standard error of its noise.
    """

    variance: float
    most: float
    count: float
    count_error: float


def variance_of_means(samples: Sequence[SampledRows]) -> SamplingVariance:
    """Return the variance of sampling of the difference of the means of different rows: sum of variance / count.

    What it is at most is made of the largest variances and the smallest counts that the noise leaves.
    """
    value = sum(max(each.variance, 0.0) / max(each.count, 1.0) for each in samples)
    most = sum(max(each.most, 0.0) / max(each.count - FIVE_PERCENT * each.count_error, 1.0) for each in samples)
    error = max(most - value, 0.0) / FIVE_PERCENT
    return SamplingVariance(value=np.array([value]), error=np.array([error]), degrees=math.inf)


def variance_of_share(share: float, ends: tuple[float, float]) -> tuple[float, float]:
    """Return the variance of a condition among rows, p (1 - p), and the most of it for a share between two ends."""
    nearest = min(max(0.5, ends[0]), ends[1])
    return share * (1 - share), nearest * (1 - nearest)
