"""A ratio of two noisy sums with an interval: Fieller's, from the exact variance of first - r second.

two sums with their covariance -> the r for which first - r second is not significantly different from 0 -> interval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpress.inference.interval import margin

ROUNDING = 1e-12
"""Of a variance that is the difference of others, in shares of these."""
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
        first, second = self.variances
        return _at_least_zero(first - 2 * ratio * self.covariance + ratio**2 * second)


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


def fieller(pair: Pair, critical: float, steps: tuple[float, float]) -> Ratio:
    """Return a ratio of two sums, the denominator positive in truth.

    The interval is all r with |first - r second| <= c sqrt(Var(first - r second)) + max(a, b |r|), c the critical value
    and a, b the steps. The true ratio is missed where its own first - r second, whose mean is 0, is beyond that: as
    seldom as c says, however small the denominator. The set is an interval where second > c sqrt(Var(second)) + b; else
    it is unbounded. Where first - r second has no variance at the estimate, the interval is the estimate.
    Formula: with A = second^2 - c^2 Var(second), B = first second - c^2 Cov and D = first^2 - c^2 Var(first), the
    roots of A r^2 - 2 B r + D, the outermost ones for first - a, first + a, second - b and second + b.
    Source: Fieller 1954, without steps.

    Args:
        pair: the sums.
        critical: how many standard errors are significant, such as 1.96.
        steps: the most that one step of one noise changes first - r second: max(a, b |r|); 0 where noise has no steps.

    >>> fieller(Pair(first=50.0, second=100.0, variances=(0.0, 0.0), covariance=0.0), 1.96, (1.0, 1.0))
    Ratio(value=0.5, standard_error=0.0, interval=(0.5, 0.5))
    """
    first, second = pair.variances
    if math.isnan(first + second):
        value = pair.first / pair.second if pair.second > 0 else math.nan
        return Ratio(value=value, standard_error=math.nan, interval=(math.nan, math.nan))
    if pair.second <= margin(second, critical, steps[1]):
        return Ratio(value=math.nan, standard_error=math.nan, interval=(-math.inf, math.inf))
    value = pair.first / pair.second
    spread = pair.variance(value)
    noisy = spread > ROUNDING * (first + value**2 * second)
    up, right = steps[0] * noisy, steps[1] * (noisy and second > 0)
    shifts = {(-up, 0.0), (up, 0.0), (0.0, -right), (0.0, right)}
    lows, highs = zip(*(_roots(pair, critical**2, shift) for shift in shifts), strict=True)
    return Ratio(
        value=value,
        standard_error=math.sqrt(spread) / pair.second,
        interval=(min(*lows, value), max(*highs, value)),
    )


def _roots(pair: Pair, square: float, shift: tuple[float, float]) -> tuple[float, float]:
    """Return Fieller's roots, c^2 given, for sums that are shifted."""
    first, second = pair.first + shift[0], pair.second + shift[1]
    value, other = first / second, pair.variances[1]
    lead = second**2 - square * other
    middle = (first * second - square * pair.covariance) / lead
    # the discriminant as a sum of two terms >= 0: nothing cancels
    turned = square * (pair.covariance - value * other)
    half = math.sqrt(lead * square * pair.variance(value) + turned**2) / lead
    return middle - half, middle + half


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
    variances = _above(ROUNDING * mean, mean - 4 * second), _above(ROUNDING * mean, second)
    most = math.sqrt(variances[0] * variances[1])
    return Pair(
        first=(low + high) / 2,
        second=(low - high) / 4,
        variances=variances,
        covariance=covariance if math.isnan(most) else min(most, max(-most, covariance)),
    )


def _at_least_zero(variance: float) -> float:
    """Return a variance that rounding may have made negative; NaN as it is."""
    return _above(0.0, variance)


def _above(least: float, variance: float) -> float:
    """Return a variance, 0 where it is that small or negative; NaN as it is."""
    return 0.0 if variance <= least else variance
