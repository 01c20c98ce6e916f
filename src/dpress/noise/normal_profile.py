"""What discrete Gaussian noise hides of any change: bounded by the normal distribution's tails, as decimals.

squared length of the change, variance -> a normal distribution with a little less variance -> its privacy profile.
"""

from decimal import Decimal
from fractions import Fraction

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.normal_tail import CONTEXT, ROOM, normal_excess, normal_tail, root

SPARED = 4  # variance by which the normal distribution has less
FACTOR = Fraction(1, 10**33)  # of each number, see `shift_delta`


def tail_above(variance: Fraction, start: int) -> Fraction:
    """Return a number at or above P(X >= start), X discrete Gaussian; what it adds is below 0.4 / sigma.

    Every weight is at most the integral of exp(-x^2 / (2 variance)) over the unit below it where start > 0, and all
    weights together are at least sqrt(2 pi variance), by Poisson's formula; else the same of what lies below.
    """
    return min(Fraction(1), normal_tail(CONTEXT.divide(Decimal(start - 1), root(variance))) + ROOM)


def shift_delta(variance: Fraction, square: Fraction, numbers: int, ratio: Fraction) -> Fraction:
    """Return a number at or above the largest P(X in S) - ratio P(X + v in S), X independent discrete Gaussians.

    Holds for all integer changes v of so many numbers with sum of squares at most `square`, equal or not. Let Y be
    normal with variance V - 4, and X', given Y = y, an integer with chance proportional to exp(-(x - y)^2 / 8). The sum
    of these weights over all integers is sqrt(8 pi) within a factor 1 +- r, r = 2.1 exp(-8 pi^2) < 1.1e-34, whatever y
    (Poisson), so that X' has the law of X within factors exp(+- 3 r) (Peikert 2010). X' + v is made in the same way of
    Y + v, so its profile is at most that of Y, of n numbers: (1 + n 1e-33) profile(ratio / (1 + n 1e-33)^2). With
    s^2 = square / (V - 4) that is Q(ln a / s - s / 2) - a Q(ln a / s + s / 2), Q the normal tail, which grows with s
    (Balle, Wang 2018, Theorem 8).

    Args:
        variance: V, of each noise; more than 4.
        square: the squared length of v.
        numbers: how many change.
        ratio: > 0, of the two probabilities; at or below 0 the bound is 1.

    Raises:
        NotSupported: the variance is at most 4.
    """
    if variance <= SPARED:
        raise NotSupported(f"noise of this kind needs a variance above {SPARED}, got {float(variance):.3g}")
    factor = 1 + numbers * FACTOR
    above = ratio / factor**2
    if above <= 0:
        return Fraction(1)
    if not square:
        return max(Fraction(0), 1 - ratio)
    return min(Fraction(1), factor * normal_excess(square / (variance - SPARED), above))
