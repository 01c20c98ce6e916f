"""Between Gaussian differential privacy and (epsilon, delta): the exact profile, rounded to the safe side.

A mechanism is mu-GDP where telling two neighbouring tables apart is at least as hard as telling a normal number of mean
0 from one of mean mu, both of variance 1 (Dong, Roth, Su 2022, Definition 2.1). Then it is (epsilon, delta)-DP for all

    delta(epsilon) = Phi(mu / 2 - epsilon / mu) - exp(epsilon) Phi(-mu / 2 - epsilon / mu)

and for no smaller delta (Balle, Wang 2018, Theorem 8; Dong, Roth, Su 2022, Corollary 2.13).

Data flow: mu^2, epsilon -> exp(epsilon) rounded down -> delta rounded up (`normal_excess`); bisection for the others.
"""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from functools import lru_cache

from dpress.core.basics.check import LARGEST_LOSS, SMALLEST_LOSS
from dpress.core.basics.normal_tail import CONTEXT, ROOM, decimal, normal_excess

BELOW = 1 - Fraction(1, 10**100)  # what 110 digits of exp(epsilon) are multiplied by, so as not to be above it
_DOWN, _UP = Context(prec=9, rounding=ROUND_FLOOR), Context(prec=12, rounding=ROUND_CEILING)  # of mu^2, of epsilon


def gaussian_delta(mu2: Fraction, epsilon: Fraction) -> Fraction:
    """Return a delta such that mu-GDP implies (epsilon, delta)-DP, above the least one by at most 3e-45 exp(epsilon).

    >>> round(float(gaussian_delta(Fraction(1), Fraction(1))), 6)
    0.126937
    """
    return normal_excess(mu2, Fraction(CONTEXT.exp(decimal(epsilon))) * BELOW)


@lru_cache(maxsize=4096)
def mu2_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a mu^2, rounded down to 9 digits, such that mu-GDP implies (epsilon, delta)-DP; at most 1000.

    >>> round(float(mu2_for(Fraction(1), Fraction(1, 10**6))), 6)
    0.056029

    Raises:
        ValueError: not even mu^2 = 1e-9 fits.
    """

    def holds(mu2: Fraction) -> bool:
        return gaussian_delta(mu2, epsilon) <= delta

    square = 2 * _log(1 / delta)
    root = 2 * float(epsilon) / (math.sqrt(square + 2 * float(epsilon)) + math.sqrt(square))  # by sub-Gaussian tails
    low = min(max(Fraction(root**2), SMALLEST_LOSS), LARGEST_LOSS)
    low = low if holds(low) else SMALLEST_LOSS
    if not holds(low):
        raise ValueError(f"no mu2 >= 1e-9 fits epsilon={epsilon}, delta={delta}; both must be larger")
    high = min(2 * low, LARGEST_LOSS)
    while high < LARGEST_LOSS and holds(high):
        low, high = high, min(2 * high, LARGEST_LOSS)
    mu2 = _bisected(holds, low, high, _DOWN)
    while gaussian_epsilon(mu2, delta) > epsilon:  # by the rounding of that one
        mu2 -= mu2 / 10**9
    return mu2


@lru_cache(maxsize=4096)
def gaussian_epsilon(mu2: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon, rounded up to 12 digits, such that mu-GDP implies (epsilon, delta)-DP.

    >>> round(float(gaussian_epsilon(Fraction(1), Fraction(1, 10**6))), 6)
    4.886554

    Raises:
        ValueError: delta is below 1e-45, to which tails are computed.
    """
    if delta < ROOM:
        raise ValueError(f"delta must be at least 1e-45 beside mu2, got delta={float(delta):.3g}")

    def holds(epsilon: Fraction) -> bool:
        return gaussian_delta(mu2, epsilon) <= delta

    if holds(Fraction(0)):
        return Fraction(0)
    high = Fraction(float(mu2) / 2 + math.sqrt(2 * float(mu2) * _log(1 / delta)))  # by sub-Gaussian tails
    while not holds(high):
        high *= 2
    return _bisected(holds, high, high / 2**40, _UP)


def _log(value: Fraction) -> float:
    return float(decimal(value).ln())


def _bisected(holds: Callable[[Fraction], bool], inside: Fraction, outside: Fraction, rounding: Context) -> Fraction:
    """Return a number for which something holds, as near as rounding allows to those for which it does not.

    Args:
        holds: what is asked; true of `inside`, and of all on its side of some place.
        inside: one for which it holds.
        outside: one beyond the place, or as near to it as one looks.
        rounding: of the numbers that are tried.
    """
    while True:
        middle = Fraction(rounding.divide(decimal(inside + outside), 2))
        if not min(inside, outside) < middle < max(inside, outside):
            return inside
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
