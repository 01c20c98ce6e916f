"""One choice for each of many lists by score: permute-and-flip, or the exponential mechanism, with exact coins.

Paper: McKenna and Sheldon 2020 (permute-and-flip); McSherry and Talwar 2007 (exponential).

Flow: gaps to the best score, list after list -> exact coins of probability exp(-rate gap) -> an index in every list.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.noise.bernoulli import Coins, exponential_coins
from dpress.noise.expansion import WORD

Integers = npt.NDArray[np.int64]

PROPOSALS, MOST_PROPOSALS = 16, 1 << 20


def below_each(ends: Integers, *, rng: Generator) -> Integers:
    """Return an independent uniform integer in [0, n) for every n of `ends`; exact, by rejection.

    >>> from dpress.core.basics import rng
    >>> below_each(np.array([1, 6, 6]), rng=rng.seeded(1)).tolist()
    [0, 0, 2]
    """
    n = ends.astype(np.uint64)
    largest = np.uint64(2**WORD - 1) - (np.uint64(0) - n) % n
    words = rng.words(n.size)
    while (rejected := np.flatnonzero(words > largest)).size:
        words[rejected] = rng.words(rejected.size)
    return (words % n).astype(np.int64)


def permute_and_flip(gaps: Integers, sizes: Integers, rate: Fraction, *, rng: Generator) -> Integers:
    """Return for every list a candidate chosen uniformly among those whose coin of probability exp(-rate gap) shows.

    Promise: with rate = epsilon / (2 D), and scores of one list that one unit changes by at most D, epsilon-DP.
    Error: the expected gap is never above that of `exponential`, and down to half of it.
    Paper: McKenna and Sheldon 2020, Theorems 1-3.

    Args:
        gaps: by which the score of every candidate is below the best of its list, one list after the other; integers
            >= 0, and 0 for at least one candidate of every list.
        sizes: of the lists, at least 1.
        rate: > 0.
        rng: the generator.

    Returns:
        The place in its list, for every list.
    """
    shown = np.flatnonzero(_flipped(gaps, rate, rng=rng))
    starts = np.cumsum(sizes) - sizes
    first = np.searchsorted(shown, starts)
    many = np.searchsorted(shown, starts + sizes) - first
    places: Integers = shown[first + below_each(many, rng=rng)] - starts
    return places


def exponential(gaps: Integers, sizes: Integers, rate: Fraction, *, rng: Generator) -> Integers:
    """Return for every list a candidate with probability proportional to exp(-rate gap).

    Promise: as `permute_and_flip`, and epsilon^2 / 8 of zCDP (Cesar and Rogers 2021, by its bounded range).
    Paper: McSherry and Talwar 2007, Theorem 6.

    Args, Returns: see `permute_and_flip`. Candidates are proposed uniformly and kept with their coin; how many at a
    time depends on the round alone.
    """
    starts = np.cumsum(sizes) - sizes
    chosen, left, tries = np.empty(sizes.size, dtype=np.int64), np.arange(sizes.size), PROPOSALS
    while left.size:
        tries = max(1, min(tries, MOST_PROPOSALS // left.size))
        places = below_each(np.repeat(sizes[left], tries), rng=rng)
        coins = _flipped(gaps[np.repeat(starts[left], tries) + places], rate, rng=rng).reshape(-1, tries)
        done = coins.any(axis=1)
        chosen[left[done]] = places.reshape(-1, tries)[done, coins[done].argmax(axis=1)]
        left, tries = left[~done], 2 * tries
    return chosen


def _flipped(gaps: Integers, rate: Fraction, *, rng: Generator) -> Coins:
    exponents = np.multiply(gaps, float(rate), dtype=np.float64)
    return exponential_coins(exponents, lambda lane: rate * int(gaps[lane]), rng=rng)
