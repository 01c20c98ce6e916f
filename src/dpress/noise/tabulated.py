"""Noise on a few consecutive integers whose probabilities are whole multiples of 2^-128, as a table says.

Flow: 64-bit words -> how many partial sums lie below (their first 64 bits) -> 64 bits more where those are equal.
"""

import bisect
import itertools
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator, Words
from dpress.noise.expansion import WORD

BITS = 2 * WORD
WHOLE = 1 << BITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Tabulated:
    """P(X = lowest + i) = weights[i] / 2^128.

    Promise: the sampler is exact; what the noise costs is its mechanism's to prove.
    Error: `variance` around `mean`, both exact.
    Paper: none; the inverse of the distribution function in whole numbers.

    Args:
        lowest: the smallest value.
        weights: of the values from `lowest` on, integers >= 0 that add up to 2^128.
    """

    lowest: int
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if min(self.weights, default=-1) < 0 or sum(self.weights) != WHOLE:
            raise ValueError("weights must be integers >= 0 that add up to 2^128")

    @property
    def highest(self) -> int:
        """The largest value."""
        return self.lowest + len(self.weights) - 1

    @property
    def mean(self) -> Fraction:
        """The exact mean."""
        return self.lowest + Fraction(sum(place * weight for place, weight in enumerate(self.weights)), WHOLE)

    @property
    def variance(self) -> Fraction:
        """The exact variance."""
        squares = sum(place * place * weight for place, weight in enumerate(self.weights))
        return Fraction(squares, WHOLE) - (self.mean - self.lowest) ** 2

    def at_least(self, value: int) -> Fraction:
        """Return P(X >= value)."""
        return Fraction(sum(self.weights[max(0, value - self.lowest) :]), WHOLE)

    def excess(self, ratio: Fraction) -> Fraction:
        """Return the smallest delta for which X and X + 1 are (ln ratio, delta)-indistinguishable, in both directions.

        Formula: the larger one of the sums over x of max(0, P(X = x) - ratio P(X = x - 1)) and of the same with x + 1.
        """
        rows = (0, *self.weights, 0)
        times, over = ratio.numerator, ratio.denominator
        up = sum(max(0, over * weight - times * below) for below, weight in itertools.pairwise(rows))
        down = sum(max(0, over * weight - times * above) for weight, above in itertools.pairwise(rows))
        return Fraction(max(up, down), over * WHOLE)

    def sample(self, size: int, *, rng: Generator) -> npt.NDArray[np.int64]:
        """Return `size` independent draws; one word each, and one more with chance below 2^-64 for each value.

        >>> from dpress.core.basics import rng
        >>> Tabulated(lowest=-1, weights=(WHOLE // 4, WHOLE // 2, WHOLE // 4)).sample(6, rng=rng.seeded(1)).tolist()
        [-1, 1, -1, 0, 0, -1]
        """
        ends, heads = _ends(self.weights)
        words = rng.words(size)
        places = np.searchsorted(heads, words, side="left")
        for lane in np.flatnonzero(np.searchsorted(heads, words, side="right") > places):
            exact = (int(words[lane]) << WORD) | int(rng.words(1)[0])
            places[lane] = bisect.bisect_right(ends, exact)
        return np.asarray(self.lowest + places, dtype=np.int64)


@lru_cache(maxsize=16)
def _ends(weights: tuple[int, ...]) -> tuple[list[int], Words]:
    """Return the partial sums but for the last one, which is 2^128, and the first 64 of their 128 bits."""
    ends = list(itertools.accumulate(weights[:-1]))
    ends = [end for end in ends if end < WHOLE]
    return ends, np.array([end >> WORD for end in ends], dtype=np.uint64)
