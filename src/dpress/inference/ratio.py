"""A ratio of two noisy sums with an interval: Fieller's, from the exact variance of first - r second.

two sums with their covariance -> the r for which first - r second is not significantly different from 0 -> interval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

Form = Callable[[float], tuple[float, float]]
"""From r to the estimate of first - r second and its variance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two unbiased noisy sums with their covariance.

    Args:
        first: the numerator.
        second: the denominator.
        variances: of both, in the squares of their units; NaN where no error is known.
        covariance: of the two.
    """

    first: float
    second: float
    variances: tuple[float, float]
    covariance: float

    def variance(self, ratio: float) -> float:
        """Return the variance of first - ratio second: Var(first) - 2 ratio Cov + ratio^2 Var(second)."""
        own, other = self.variances
        return _at_least_zero(own - 2 * ratio * self.covariance + ratio**2 * other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A ratio with its error.

    Args:
        value: first / second; NaN where the denominator is not significantly above 0.
        standard_error: sqrt(Var(first - value second)) / second, its linear approximation; NaN with `value`.
        interval: Fieller's; infinite where the denominator is not significantly above 0, NaN where no error is known.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]

    @property
    def bounded(self) -> bool:
        """Whether the denominator is significantly above 0."""
        return not math.isnan(self.value)


def fieller(pair: Pair, critical: float) -> Ratio:
    """Return a ratio of two sums, the denominator positive in truth.

    The interval is all r with |first - r second| <= c sqrt(Var(first - r second)), c the critical value. The true ratio
    is missed where its own first - r second, whose mean is 0, is beyond c standard errors: as often as c says, however
    small the denominator. The set is an interval where second > c sqrt(Var(second)); else it is unbounded.
    Formula: with A = second^2 - c^2 Var(second), B = first second - c^2 Cov and D = first^2 - c^2 Var(first), the roots
    of A r^2 - 2 B r + D.
    Source: Fieller 1954.

    Args:
        pair: the sums.
        critical: how many standard errors are significant, such as 1.96.

    >>> fieller(Pair(first=50.0, second=100.0, variances=(0.0, 0.0), covariance=0.0), 1.96)
    Ratio(value=0.5, standard_error=0.0, interval=(0.5, 0.5))
    """
    own, other = pair.variances
    if math.isnan(own + other):
        value = pair.first / pair.second if pair.second > 0 else math.nan
        return Ratio(value=value, standard_error=math.nan, interval=(math.nan, math.nan))
    if pair.second <= critical * math.sqrt(other):
        return Ratio(value=math.nan, standard_error=math.nan, interval=(-math.inf, math.inf))
    value, square = pair.first / pair.second, critical**2
    spread = pair.variance(value)
    lead = pair.second**2 - square * other
    middle = (pair.first * pair.second - square * pair.covariance) / lead
    # the discriminant as a sum of two terms >= 0: nothing cancels
    turned = square * (pair.covariance - value * other)
    half = math.sqrt(lead * square * spread + turned**2) / lead
    return Ratio(
        value=value,
        standard_error=math.sqrt(spread) / pair.second,
        interval=(min(middle - half, value), max(middle + half, value)),
    )


def pair_of(form: Form) -> Pair:
    """Return two sums and their covariance from three linear forms first - r second, at r = -2, 2 and 3.

    The value is linear in r and the variance quadratic, so that three of each say everything: the covariance is read
    off exact variances. No weight of first / second lies at these r where first is scaled to -1..1 times second: forms
    keep every difference between weights, so that a decoder that adds up nodes of equal weights adds up the same nodes.

    Args:
        form: of r.
    """
    (low, low_variance), (high, high_variance), (_, last) = form(-2.0), form(2.0), form(3.0)
    covariance = (low_variance - high_variance) / 8
    mean = (low_variance + high_variance) / 2
    second = (last + 6 * covariance - mean) / 5
    variances = _at_least_zero(mean - 4 * second), _at_least_zero(second)
    most = math.sqrt(variances[0] * variances[1])
    return Pair(
        first=(low + high) / 2,
        second=(low - high) / 4,
        variances=variances,
        covariance=covariance if math.isnan(most) else min(most, max(-most, covariance)),
    )


def _at_least_zero(variance: float) -> float:
    """Return a variance that rounding may have made negative; NaN as it is."""
    return variance if math.isnan(variance) else max(0.0, variance)
