"""Certified binary digits of a probability, and the exact coin decided by them.

A coin of probability p is "a uniform real in [0, 1) lies below p". The real is read 64 bits at a time and compared
with the same bits of p; only a tie (chance 2^-64 a word) asks for the next 64 bits of both. Nothing is ever rounded.

Flow: rational x -> interval around exp(-x) in `decimal` -> floor(2^bits p) once both ends agree -> comparison.
"""

import functools
import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from dpress.core.basics.rng import Generator

Expansion = Callable[[int], int]
"""A probability p, given as the function bits -> floor(2^bits p)."""

WORD = 64
MASK = (1 << WORD) - 1
PRECISION = 256  # bits of exp(-x) with which a comparison begins


def _interval(x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return rationals low < exp(-x) < high for x > 0, about `digits` decimal digits apart.

    The quotient is rounded outwards, `decimal` rounds exp correctly (to half a unit), one unit more is outwards.
    """
    down = Context(prec=digits, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    up = Context(prec=digits, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    low = down.next_minus(down.exp(up.divide(numerator, denominator).copy_negate()))
    high = up.next_plus(up.exp(down.divide(numerator, denominator).copy_negate()))
    return Fraction(low), Fraction(high)


def _floor(x: Fraction, bits: int, increasing: Callable[[Fraction], Fraction]) -> int:
    """Return floor(2^bits f(exp(-x))) for an increasing f with f(q) <= q: both ends of an interval must agree."""
    if x > bits:
        return 0  # exp(-x) < 2^-bits
    digits = bits // 3 + 20
    while True:
        low, high = (math.floor(increasing(end) * (1 << bits)) for end in _interval(x, digits))
        if low == high:
            return low
        digits *= 2


def exponential_floor(x: Fraction, bits: int) -> int:
    """Return floor(2^bits exp(-x)) for a rational x >= 0.

    >>> exponential_floor(Fraction(1), 10)  # 1024 / 2.718... = 376.7
    376
    """
    return _floor(x, bits, lambda q: q) if x else 1 << bits


@functools.lru_cache(maxsize=4096)
def at_most_exponential(ratio: Fraction, x: Fraction) -> bool:
    """Return whether ratio <= exp(x) for a rational x > 0, decided exactly.

    floor(2^b exp(-x)) bounds exp(-x) from both sides; b doubles until the ratio lies outside: exp(x) is irrational, so
    this ends.

    >>> [at_most_exponential(Fraction(number, 10**9), Fraction(1)) for number in (2718281828, 2718281829)]
    [True, False]
    """
    bits = PRECISION
    while ratio > 1:
        low = exponential_floor(x, bits)
        if (low + 1) * ratio <= 1 << bits:
            return True
        if low * ratio > 1 << bits:
            return False
        bits *= 2
    return True


def logistic_floor(x: Fraction, bits: int) -> int:
    """Return floor(2^bits / (1 + exp(x))) for a rational x > 0.

    >>> logistic_floor(Fraction(1), 10)  # 1024 / 3.718... = 275.4
    275
    """
    return _floor(x, bits, lambda q: q / (1 + q))


def decide(word: int, expansion: Expansion, *, rng: Generator) -> bool:
    """Return whether the uniform real that begins with the bits of `word` lies below the probability.

    Promise: exact; True with probability p over a uniform word and generator.

    Args:
        word: the first 64 bits, already drawn.
        expansion: the probability.
        rng: gives 64 bits more for every tie.

    >>> from dpress.core.basics import rng
    >>> decide(2**63 - 1, lambda bits: 2**bits // 2, rng=rng.seeded(1))
    True
    """
    if expansion(0):
        return True  # p = 1
    bits = WORD
    while word == (digits := expansion(bits) & MASK):
        word = int(rng.words(1)[0])
        bits += WORD
    return word < digits
