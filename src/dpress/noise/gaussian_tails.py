"""Tails of discrete Gaussian noise, and of sums of it, as decimals bounded from above and below.

Weights exp(-x^2 / (2 V)) come by recurrence, w(x + 1) = w(x) r(x), r(x + 1) = r(x) exp(-1 / V), in 60 digits: over the
at most 2^20 steps rounding is below 1e-50 of a weight, which the bounds hold with room.
"""

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from dpress.core.basics.errors import NotSupported

DIGITS = 60
ROOM = Fraction(1, 10**45)  # relative, of every tail
REACH = 24  # standard deviations beyond which all weights together are below 1e-120 of the whole
MOST_STEPS = 1 << 17
SMALLEST = Fraction(4)  # variance of each part of a sum


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """A number between two rationals."""

    low: Fraction
    high: Fraction


def tail(variance: Fraction, start: int) -> Bounds:
    """Return bounds of P(Y >= start), P(Y = x) proportional to exp(-x^2 / (2 variance)) on the integers.

    >>> [round(float(own), 6) for own in (tail(Fraction(9), 4).low, tail(Fraction(9), 4).high)]
    [0.120576, 0.120576]
    """
    beyond, whole = _sums(variance)
    place = abs(start) if start > 0 else 1 - start
    share = Fraction(beyond[min(place, len(beyond) - 1)]) / whole
    above = share if start > 0 else 1 - share
    tiny = Fraction(1, 10**100)
    return Bounds(low=max(Fraction(0), above * (1 - ROOM) - tiny), high=min(Fraction(1), above * (1 + ROOM) + tiny))


def tail_of_sum(variance: Fraction, parts: int, start: int) -> Bounds:
    """Return bounds of P(X_1 + ... + X_parts >= start), each X_i as in `tail`.

    The sum has the law of `tail` for `parts` times the variance, but for a factor within exp(+-t), t = 10 parts
    exp(-pi^2 variance). For adding a part to j of them: sum over x of exp(-(s - x)^2 / (2 j v) - x^2 / (2 v)) is
    exp(-s^2 / (2 (j + 1) v)) times a sum of a Gaussian of variance v j / (j + 1) >= v / 2 over shifted integers, which
    by Poisson's formula is sqrt(2 pi v j / (j + 1)) within a factor 1 +- 2.1 exp(-pi^2 v), whatever the shift. The
    factors of parts - 1 such steps, and once more those of the normalisation, stay within exp(+-t).

    Raises:
        NotSupported: the variance is below 4, where this factor counts.
    """
    if variance < SMALLEST:
        raise NotSupported(f"a sum of noise is bounded from a variance of {SMALLEST} on, got {float(variance):.3g}")
    bounds = tail(variance * parts, start)
    if parts == 1:
        return bounds
    factor = 20 * parts * Fraction(math.exp(-min(700.0, 9.8 * float(variance))))  # exp(t) - 1 < 2 t
    return Bounds(low=bounds.low * (1 - factor), high=min(Fraction(1), bounds.high * (1 + factor)))


@lru_cache(maxsize=16)  # the sums of one calibration
def _sums(variance: Fraction) -> tuple[list[Decimal], Fraction]:
    """Return the sum of the weights from x on for x = 0, 1, ..., and the sum of all weights."""
    steps = REACH * math.isqrt(math.ceil(variance)) + REACH
    if steps > MOST_STEPS:
        raise NotSupported(f"a standard deviation of {math.isqrt(math.ceil(variance)):,} is too large for exact tails")
    context = Context(prec=DIGITS)
    inverse = context.divide(Decimal(variance.denominator), Decimal(variance.numerator))
    shrink = context.exp(inverse.copy_negate())
    ratio, weight, weights = context.exp(context.divide(inverse.copy_negate(), Decimal(2))), Decimal(1), list[Decimal]()
    for _ in range(steps + 1):
        weights.append(weight)
        weight, ratio = context.multiply(weight, ratio), context.multiply(ratio, shrink)
    beyond, total = list[Decimal](), Decimal(0)
    for weight in reversed(weights):
        total = context.add(total, weight)
        beyond.append(total)
    beyond.reverse()
    return beyond, 2 * Fraction(beyond[1]) + 1
