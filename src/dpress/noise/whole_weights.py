"""Choices by whole weights of any length, and uniform sets among some positions of every row: both exact.

Flow: 64-bit words -> how many partial sums lie below -> 64 bits more where a word does not tell.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.noise.expansion import WORD

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
ENTRIES = 1 << 22  # random numbers drawn at a time


def by_weight(weights: Sequence[int], size: int, *, rng: Generator) -> Integers:
    """Return `size` places, each place i with probability exactly weights[i] over the sum of all.

    Promise: exact; a uniform number of as many bits as are needed is compared with the partial sums.

    Args:
        weights: integers >= 0, not all 0.
        size: how many.
        rng: the generator; one word each, and one more with chance below 2^-64 for each weight.

    >>> from dpress.core.basics import rng
    >>> by_weight([1, 0, 3], 8, rng=rng.seeded(1)).tolist()
    [0, 2, 0, 2, 2, 0, 0, 2]
    """
    *ends, total = itertools.accumulate(weights)
    if total <= 0 or min(weights) < 0:
        raise ValueError("weights must be integers >= 0, not all 0")
    ends = [end for end in ends if end < total]
    heads = np.array([(end << WORD) // total for end in ends], dtype=np.uint64)
    words = rng.words(size)
    places = np.searchsorted(heads, words, side="left")
    unclear = np.searchsorted(heads, words, side="right")
    for lane in np.flatnonzero(unclear > places).tolist():
        tails = [(end << WORD) % total for end in ends[places[lane] : unclear[lane]]]
        places[lane] += _passed(tails, total, rng=rng)
    return np.asarray(places, dtype=np.int64)


def _passed(tails: Sequence[int], total: int, *, rng: Generator) -> int:
    """Return how many of the rising fractions tails / total a uniform number between 0 and 1 reaches."""
    certain = 0
    while tails:
        word = int(rng.words(1)[0])
        heads = [(tail << WORD) // total for tail in tails]
        certain += sum(head < word for head in heads)
        tails = [(tail << WORD) % total for tail, head in zip(tails, heads, strict=True) if head == word]
    return certain


def sets_of(candidates: Flags, amounts: Integers, *, rng: Generator) -> Flags:
    """Return for every row a set of so many of its candidates, all such sets equally likely; shape (rows, positions).

    Promise: exact. The candidates with the smallest of independent random numbers are taken; where a tie leaves the
    set open, which does not tell positions apart, the row's numbers are drawn again.

    Args:
        candidates: of every row, shape (rows, positions).
        amounts: how many to take, at most as many as there are, shape (rows,).
        rng: the generator; half a word for every position.

    >>> from dpress.core.basics import rng
    >>> sets_of(np.array([[True, False, True, True]]), np.array([2]), rng=rng.seeded(1)).astype(int).tolist()
    [[1, 0, 1, 0]]
    """
    rows, positions = candidates.shape
    out = np.empty_like(candidates)
    step = max(1, ENTRIES // max(1, positions))
    for start in range(0, rows, step):
        part = slice(start, start + step)
        out[part] = _some(candidates[part], amounts[part], rng=rng)
    return out


def _some(candidates: Flags, amounts: Integers, *, rng: Generator) -> Flags:
    out, left = np.zeros_like(candidates), np.flatnonzero(amounts > 0)
    while left.size:
        allowed, wanted = candidates[left], amounts[left]
        words = rng.words((allowed.size + 1) // 2).view(np.uint32)[: allowed.size]
        keys = words.reshape(allowed.shape).astype(np.int64)
        keys[~allowed] = 1 << 32
        last = np.sort(keys, axis=1)[np.arange(len(left)), wanted - 1]
        chosen = (keys <= last[:, None]) & allowed
        settled = np.count_nonzero(chosen, axis=1) == wanted
        out[left[settled]] = chosen[settled]
        left = left[~settled]
    return out
