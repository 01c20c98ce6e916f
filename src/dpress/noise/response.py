"""The probability of a truthful answer in randomised response, as a 64-bit fraction that never spends too much.

epsilon -> calibrated once, when an oracle is made -> written down -> checked exactly, whoever wrote it.
"""

import functools
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.rng import Generator
from dpress.noise.expansion import WORD, at_most_exponential, exponential_floor

PRECISION = 192  # bits of exp(-epsilon) that are known exactly
LEFT_OUT = Fraction(0)
"""A probability that is not given: it is calibrated from the loss."""


@functools.lru_cache(maxsize=1024)
def truth_probability(epsilon: Fraction, others: Fraction = Fraction(1)) -> Fraction:
    """Return the largest multiple of 2^-64 (less at most one) with odds p / (1 - p) <= e^epsilon / others.

    It is e^epsilon / (e^epsilon + others) rounded down, and below 1, so that a coin of 64 bits tosses it exactly and
    the loss ln(others p / (1 - p)) is at most epsilon.

    Args:
        epsilon: > 0.
        others: > 0; k - 1 for an answer among k, (k - w) / w for a subset of w.

    >>> float(truth_probability(Fraction(1)))
    0.7310585786300049
    """
    above = Fraction(exponential_floor(epsilon, PRECISION) + 1, 1 << PRECISION)  # just above exp(-epsilon)
    p = 1 / (1 + others * above)
    return Fraction(min((p.numerator << WORD) // p.denominator, (1 << WORD) - 1), 1 << WORD)


def resolve_probability(p: check.Number, epsilon: Fraction, others: Fraction = Fraction(1)) -> Fraction:
    """Return P(truth): the given one, checked, or the largest that `truth_probability` finds where it is left out.

    Args:
        p: as given, or `LEFT_OUT`.
        epsilon: > 0.
        others: as in `truth_probability`; 0 where there is one answer only, and p is 1.

    Raises:
        ValueError: a coin of 64 bits does not toss it, it says nothing of the value, or it spends more than epsilon.
    """
    given = check.exact("p", p)
    if not others:
        if given not in (LEFT_OUT, 1):
            raise ValueError(f"p must be 1 where there is one answer only, got p={float(given)}")
        return Fraction(1)
    if given == LEFT_OUT:
        given = truth_probability(epsilon, others)
    check_coin("p", given)
    check_odds(given / (1 - given) * others, epsilon)
    return given


def check_coin(name: str, p: Fraction) -> None:
    """Refuse a probability that is no multiple of 2^-64 strictly between 0 and 1."""
    if not 0 < p < 1 or (1 << WORD) % p.denominator:
        raise ValueError(f"{name} must be a multiple of 2^-64 strictly between 0 and 1, got {name}={float(p)}")


def check_odds(odds: Fraction, epsilon: Fraction) -> None:
    """Refuse a likelihood ratio of the true value against another that is not above 1, or above e^epsilon: exactly."""
    if odds <= 1:
        raise ValueError(f"reports would say nothing of the value: their odds are {float(odds)}")
    if not at_most_exponential(odds, epsilon):
        raise ValueError(f"reports would spend more than epsilon = {float(epsilon):.6g}: their odds are {float(odds)}")


def truthful(p: Fraction, size: int, *, rng: Generator) -> npt.NDArray[np.bool_]:
    """Return `size` independent coins that are True with probability exactly `p`, a multiple of 2^-64 below 1.

    Promise: exact; 2^64 p of the 2^64 words lie below 2^64 p. As `bernoulli`, without its ties: for blocks of lanes.

    >>> from dpress.core.basics import rng
    >>> int(truthful(truth_probability(Fraction(1)), 3000, rng=rng.seeded(1)).sum())
    2176
    """
    threshold, rest = divmod(p.numerator << WORD, p.denominator)
    if rest or not 0 <= threshold < 1 << WORD:
        raise ValueError(f"p must be a multiple of 2^-64 in [0, 1), got p={p}")
    return rng.words(size) < threshold
