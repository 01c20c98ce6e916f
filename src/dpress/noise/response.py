"""The probability of a truthful answer in randomised response, as a 64-bit fraction that never spends too much."""

import functools
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.rng import Generator
from dpress.noise.expansion import WORD, exponential_floor

PRECISION = 192  # bits of exp(-epsilon) that are known exactly


@functools.lru_cache(maxsize=1024)
def truth_probability(epsilon: Fraction, others: Fraction = Fraction(1)) -> Fraction:
    """Return the largest T / 2^64 (less at most 2^-64) with odds p / (1 - p) <= e^epsilon / others.

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


def truthful(p: Fraction, size: int, *, rng: Generator) -> npt.NDArray[np.bool_]:
    """Return `size` independent coins that are True with probability exactly `p`, a multiple of 2^-64 below 1.

    Promise: exact; 2^64 p of the 2^64 words lie below 2^64 p. As `bernoulli`, without its ties: for blocks of lanes.

    >>> from dpress.core import rng
    >>> int(truthful(truth_probability(Fraction(1)), 3000, rng=rng.seeded(1)).sum())
    2176
    """
    threshold, rest = divmod(p.numerator << WORD, p.denominator)
    if rest or not 0 <= threshold < 1 << WORD:
        raise ValueError(f"p must be a multiple of 2^-64 in [0, 1), got p={p}")
    return rng.words(size) < threshold
