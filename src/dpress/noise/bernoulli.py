"""Exact coins: rational probabilities, and exp(-gamma) behind a certified float filter.

Paper: the exp(-gamma) coin is the primitive of Canonne, Kamath, Steinke 2020 (Algorithm 1), decided here by its digits.

Flow: 64-bit words -> comparison with the first 64 bits of p -> `expansion.decide` where that leaves it open.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.noise.expansion import WORD, decide, exponential_floor

Coins = npt.NDArray[np.bool_]

BLOCK = 1 << 14
RELATIVE_MARGIN = 2.0**-40
ABSOLUTE_MARGIN = 2.0**-62


def rational_floor(p: Fraction, bits: int) -> int:
    """Return floor(2^bits p).

    >>> rational_floor(Fraction(1, 3), 4)
    5
    """
    return (p.numerator << bits) // p.denominator


def bernoulli(p: Fraction, size: int, *, rng: Generator) -> Coins:
    """Return `size` independent coins that are True with probability exactly `p`.

    Promise: exact for every rational; one word a coin, and one more with chance 2^-64.
    Error: variance p (1 - p) of each coin.
    Paper: the digit comparison described in `dpress.noise.expansion`.

    Args:
        p: in [0, 1].
        size: number of coins.
        rng: the generator.

    Raises:
        ValueError: `p` is no probability.

    >>> from dpress.core.basics import rng
    >>> int(bernoulli(Fraction(1, 3), 3000, rng=rng.seeded(1)).sum())
    973
    """
    if not 0 <= p.numerator <= p.denominator:
        raise ValueError(f"p must lie between 0 and 1, got p={p}")
    threshold = min(rational_floor(p, WORD), 2**WORD - 1)
    out = np.empty(size, dtype=np.bool_)
    words = np.empty(min(size, BLOCK), dtype=np.uint64)
    for start in range(0, size, BLOCK):
        block = words[: min(BLOCK, size - start)]
        rng.fill(block)
        np.less(block, threshold, out=out[start : start + BLOCK])
        for lane in (block == threshold).nonzero()[0]:
            out[start + lane] = decide(threshold, partial(rational_floor, p), rng=rng)
    return out


def exponential_coins(gamma: npt.NDArray[np.float64], exact: Callable[[int], Fraction], *, rng: Generator) -> Coins:
    """Return one coin per lane, True with probability exactly exp(-exact(lane)).

    Promise: exact. The float comparison only decides what it cannot get wrong: with |gamma - exact| <= 2^-43, the
        float exp(-gamma) is off by less than 2^-42 of itself (2^-43 from gamma, 2^-50 from a 4-ulp exp), and the word
        read as a float by less than 2^-53 of itself + 2^-64 (the bits not drawn yet). The margin of
        2^-40 p + 2^-62 is wider than all of that together; inside it (chance 2^-38) exact arithmetic decides.
        Where both exponents exceed 46 the two probabilities lie below 2^-66, within the absolute margin,
        so there gamma may be off by anything.
    Error: variance p (1 - p) of each coin.
    Paper: Canonne, Kamath, Steinke 2020, Algorithm 1 (same distribution).

    Args:
        gamma: exponents >= 0 as floats, within 2^-43 of the exact ones or, like them, above 46.
        exact: lane -> the exact exponent; called for doubtful lanes only.
        rng: the generator; one word a lane, more with chance 2^-64.

    >>> from dpress.core.basics import rng
    >>> exponential_coins(np.array([0.0, 900.0]), lambda lane: Fraction(900 * lane), rng=rng.seeded(1)).tolist()
    [True, False]
    """
    words = rng.words(gamma.size)
    uniform = words * 2.0**-WORD
    p = np.exp(-gamma)
    coins = uniform < p
    doubtful = np.abs(uniform - p) <= p * RELATIVE_MARGIN + ABSOLUTE_MARGIN
    for lane in np.flatnonzero(doubtful):
        coins[lane] = decide(int(words[lane]), partial(exponential_floor, exact(int(lane))), rng=rng)
    return coins
