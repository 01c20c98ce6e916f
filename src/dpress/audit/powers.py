"""Probabilities that are known through r = e^-x for a rational x: from both sides, and as polynomials in r.

x -> bounds of r to many bits -> bounds of a polynomial -> a rational at or above the log of a ratio of two.
"""

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.losses.convert import log_up
from dpress.noise.expansion import PRECISION, exponential_floor

Polynomial = Mapping[int, Fraction]
"""The coefficient of every power of r."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A number between two rationals."""

    low: Fraction
    high: Fraction


def exponential(x: Fraction, most: int) -> Between:
    """Return e^-x so exactly that its powers up to `most` are known to about PRECISION bits."""
    bits = 2 * PRECISION + 2 * int(x * most + 1)
    floor = exponential_floor(x, bits)
    return Between(low=Fraction(floor, 1 << bits), high=Fraction(floor + 1, 1 << bits))


def valued(polynomial: Polynomial, r: Between) -> Between:
    """Return the value of a polynomial, each term bounded by itself."""
    ends = [(c * r.low**n, c * r.high**n) for n, c in polynomial.items()]
    return Between(
        low=sum((min(pair) for pair in ends), Fraction(0)), high=sum((max(pair) for pair in ends), Fraction(0))
    )


def times(polynomial: Polynomial, other: Polynomial) -> dict[int, Fraction]:
    """Return the product of two polynomials."""
    out: dict[int, Fraction] = {}
    for (n, c), (m, b) in itertools.product(polynomial.items(), other.items()):
        out[n + m] = out.get(n + m, Fraction(0)) + c * b
    return {n: c for n, c in out.items() if c}


def plus(polynomial: Polynomial, other: Polynomial) -> dict[int, Fraction]:
    """Return the sum of two polynomials."""
    out = {n: polynomial.get(n, Fraction(0)) + other.get(n, Fraction(0)) for n in {*polynomial, *other}}
    return {n: c for n, c in out.items() if c}


def log_ratio(polynomial: Polynomial, other: Polynomial, x: Fraction) -> Fraction:
    """Return a rational at or above |ln one(r) - ln other(r)|, r = e^-x: exactly m x where one is r^m the other.

    >>> log_ratio({2: Fraction(1)}, {0: Fraction(1)}, Fraction(1, 3))
    Fraction(2, 3)
    """
    first, second = min(polynomial), min(other)
    if {n - first: c for n, c in polynomial.items()} == {n - second: c for n, c in other.items()}:
        return abs(first - second) * x
    r = exponential(x, max(*polynomial, *other))
    values = valued(polynomial, r), valued(other, r)
    worst = max(values[0].high / values[1].low, values[1].high / values[0].low)
    return log_up(worst) if worst > 1 else Fraction(0)


def wins(counts: tuple[int, ...]) -> list[Polynomial]:
    """Return the probability that each candidate wins, as a polynomial in r = e^-rate.

    A candidate's coin has probability r^(max - count); of the successes any is as likely as another.
    """
    coins = [{max(counts) - count: Fraction(1)} for count in counts]
    out: list[Polynomial] = []
    for place, winner in enumerate(coins):
        others: list[Polynomial] = [{0: Fraction(1)}]  # by how many succeed
        for coin in coins[:place] + coins[place + 1 :]:
            fails = plus({0: Fraction(1)}, {n: -c for n, c in coin.items()})
            grown = [times(law, fails) for law in others] + [{}]
            others = [plus(law, times(before, coin)) for law, before in zip(grown, [{}, *others], strict=True)]
        shared = [{n: c / (wins + 1) for n, c in law.items()} for wins, law in enumerate(others)]
        out.append(times(winner, functools.reduce(plus, shared)))
    return out
