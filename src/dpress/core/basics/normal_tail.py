"""Tails of the standard normal distribution and its privacy profile, as decimals bounded from above.

squared distance of two means, ratio of probabilities -> two tails -> the largest P(S) - ratio Q(S).
"""

from decimal import Context, Decimal
from fractions import Fraction

ROOM = Fraction(1, 10**45)  # absolute, of every tail
FARTHEST = 16  # standard deviations, beyond which a tail is below 1e-57
CONTEXT = Context(prec=110)
ROOT = Decimal("2.5066282746310005024157652848110452530069867406099383166299235763422936")  # sqrt(2 pi)


def normal_tail(place: Decimal) -> Fraction:
    """Return P(N >= place) of the standard normal distribution, to `ROOM`.

    Formula: 1/2 - phi(z) (z + z^3 / 3 + z^5 / (3 5) + ...); all terms have one sign, and what follows the last one is
    below it, as each is at most half of the one before.

    >>> round(float(normal_tail(Decimal(3))), 6)
    0.00135
    """
    if abs(place) > FARTHEST:
        return Fraction(int(place < 0))
    square = CONTEXT.multiply(place, place)
    term = total = place
    odd = 1
    while odd < 2 * square or abs(term) > Decimal(10) ** -60:
        odd += 2
        term = CONTEXT.divide(CONTEXT.multiply(term, square), Decimal(odd))
        total = CONTEXT.add(total, term)
    density = CONTEXT.divide(CONTEXT.exp(CONTEXT.divide(square.copy_negate(), Decimal(2))), ROOT)
    return Fraction(1, 2) - Fraction(CONTEXT.multiply(density, total))


def normal_excess(square: Fraction, ratio: Fraction) -> Fraction:
    """Return a number at or above the largest P(S) - ratio Q(S), P and Q normal of variance 1.

    It is above by at most 3e-45 times the ratio, 3e-45 where that is below 1.

    Formula: Q(ln a / s - s / 2) - a Q(ln a / s + s / 2), Q the normal tail, a the ratio; it grows with s.
    Paper: Balle, Wang 2018, Theorem 8.

    Args:
        square: s^2, of the distance of the means; above 0.
        ratio: a > 0.

    >>> round(float(normal_excess(Fraction(1), Fraction(1))), 6)
    0.382925
    """
    length = root(square)
    quotient = CONTEXT.divide(CONTEXT.ln(decimal(ratio)), length)
    half = CONTEXT.divide(length, Decimal(2))
    first, second = (normal_tail(CONTEXT.add(quotient, by)) for by in (half.copy_negate(), half))
    return min(Fraction(1), max(Fraction(0), first + ROOM - ratio * max(Fraction(0), second - ROOM)))


def decimal(value: Fraction) -> Decimal:
    """Return a rational to 110 digits."""
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def root(value: Fraction) -> Decimal:
    """Return a square root to 110 digits."""
    return CONTEXT.sqrt(decimal(value))
