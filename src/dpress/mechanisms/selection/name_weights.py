"""Weights of persons with few names or many: what they are, and the chance that a name shows which only one has.

number of names -> weight; threshold, noise -> the largest chance over all numbers of names.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from dpress.core.basics.errors import NotSupported
from dpress.noise.normal_profile import tail_above

LENGTH = 1 << 16  # of a person's weights; at 10,000 names rounding takes 0.1 % of each
MOST_ROWS = 1 << 20
EACH = 32  # numbers of names that are looked at one by one; from there on those within a sixteenth together
LARGEST_DEVIATION = 1 << 24  # of the noise, in lengths


def weight(length: int, names: int) -> int:
    """Return floor(length / sqrt(names)).

    >>> [weight(16, names) for names in (1, 2, 3, 4)]
    [16, 11, 9, 8]
    """
    return math.isqrt(length * length // names)


def weights_of(length: int, rows: int) -> tuple[int, ...]:
    """Return what a unit with 1, 2, ... `rows` names adds to each."""
    return tuple(weight(length, names) for names in range(1, rows + 1))


def shown_at_most(sigma2: Fraction, threshold: int, length: int, rows: int) -> Fraction:
    """Return a number at or above m p(m) for all m up to `rows`, p(m) the chance of a name that only one person has."""
    return max(high * tail_above(sigma2, threshold - weight(length, low)) for low, high in _sizes(rows))


def _sizes(rows: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of numbers of names, which together are all from 1 to `rows`."""
    low = 1
    while low <= rows:
        high = low if low <= EACH else min(rows, low + low // 16)
        yield low, high
        low = high + 1


def shares_of_names(steps: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield ranges of the share of a unit's names that only it has: none, all, or at least one in `steps`."""
    yield Fraction(0), Fraction(0)
    yield Fraction(1), Fraction(1)
    high = Fraction(1)
    while high * steps > 1:
        low = max(high / 2, Fraction(1, steps))
        yield low, high
        high = low


def least_that_fits(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Return a number above `low` that fits, less than a part in 4096 above one that does not.

    Raises:
        NotSupported: not even `high` does.
    """
    if not fits(high):
        raise NotSupported("no weighted threshold was found for this loss")
    while high - low > 1 + high // 4096:
        middle = (low + high) // 2 if high < 4 * low else math.isqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
