"""Packed exact coins: many bits that are each 1 with the same 64-bit probability.

Every lane of a word compares a random number with the threshold, most significant bit first, 64 lanes at a time: a
random bit decides a lane with chance 1/2, and words whose lanes are all decided are not looked at again. That takes
about eight random words for one word of coins, whatever the threshold is, instead of 64.

Flow: random words -> eight rounds on every word -> the undecided words alone, until all are decided.
"""

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics.bits import put, unused, width
from dpress.core.basics.rng import Generator, Words
from dpress.core.reports.oracle import Channel
from dpress.noise.expansion import WORD

BLOCK = 1 << 14  # words that one round works on: they stay in cache
PORTION = 1 << 16  # words whose undecided rest is finished together
ROUNDS = 8  # on all words; after them two words in nine have an undecided lane
MORE = 3  # rounds before the decided words are left out once more
FEW = 1 << 6  # words; below that one random word a coin is faster than the rounds
ALL = np.uint64(2**64 - 1)


def packed_coins(p: Fraction, size: int, *, rng: Generator) -> npt.NDArray[np.uint8]:
    """Return `size` bytes of independent bits, each 1 with probability exactly `p`.

    Promise: exact; a uniform 64-bit integer is compared with the threshold, bit by bit; equal ones are not below.
    Error: variance p (1 - p) of each bit.

    Args:
        p: a multiple of 2^-64, from 0 to 1.
        size: number of bytes.
        rng: the generator; about one random word for a byte.

    Raises:
        ValueError: `p` is no such fraction.

    >>> from dpress.core.basics import rng
    >>> int(np.bitwise_count(packed_coins(Fraction(1, 4), 3000, rng=rng.seeded(1))).sum())
    6013
    """
    if p == 1:
        return np.full(size, 0xFF, dtype=np.uint8)
    if size < 8 * FEW:
        return np.packbits(coins(p, 8 * size, rng=rng), bitorder="little")
    digits = digits_of(threshold(p))
    out = np.empty(-(-size // 8), dtype=np.uint64)
    for start in range(0, out.size, PORTION):
        _fill(out[start : start + PORTION], digits, rng=rng)
    return out.view(np.uint8)[:size]


def threshold(p: Fraction) -> int:
    """Return the threshold 2^64 p, a whole number.

    Raises:
        ValueError: `p` is no such fraction.
    """
    times, rest = divmod(p.numerator << WORD, p.denominator)
    if rest or not 0 <= times <= 1 << WORD:
        raise ValueError(f"p must be a multiple of 2^-64 between 0 and 1, got p={p}")
    return times


def coins(p: Fraction, size: int, *, rng: Generator) -> npt.NDArray[np.bool_]:
    """Return `size` independent coins, True with probability exactly `p`: one random word each.

    Args:
        p: a multiple of 2^-64, from 0 to 1.
        size: number of coins.
        rng: the generator.
    """
    limit = threshold(p)
    words = rng.words(size)
    return words <= limit - 1 if limit else np.zeros(size, dtype=np.bool_)


def one_hot(
    codes: npt.NDArray[np.integer], size: int, p: Fraction, q: Fraction, *, rng: Generator
) -> npt.NDArray[np.uint8]:
    """Return for every code `size` packed bits, independent: its own is 1 with probability p, every other with q.

    Promise: exact.

    Args:
        codes: which bit is one's own, shape (rows,).
        size: number of bits.
        p: a multiple of 2^-64, below 1.
        q: a multiple of 2^-64, below 1.
        rng: the generator.
    """
    if codes.size * size < 64 * FEW:
        words, rows = rng.words(codes.size * size).reshape(codes.size, size), np.arange(codes.size)
        ones = words < threshold(q)
        ones[rows, codes] = words[rows, codes] < threshold(p)
        return np.packbits(ones, axis=1, bitorder="little")
    bytes_each = width(size)
    packed = packed_coins(q, codes.size * bytes_each, rng=rng).reshape(codes.size, bytes_each)
    packed[:, -1] &= 0xFF & ~unused(size)
    step = max(1, (1 << 20) // bytes_each)
    for start in range(0, codes.size, step):
        part = slice(start, start + step)
        put(packed[part], codes[part], coins(p, codes[part].size, rng=rng))
    return packed


def one_hot_channel(size: int, p: Fraction, q: Fraction) -> Channel:
    """Return the exact distribution of these rows for every code, all 2^size of them."""
    rows = np.array(list(itertools.product((0, 1), repeat=size)), dtype=np.uint8)

    def probability(row: npt.NDArray[np.uint8], code: int) -> Fraction:
        ones = int(row.sum()) - int(row[code])
        return (p if row[code] else 1 - p) * q**ones * (1 - q) ** (size - 1 - ones)

    probabilities = tuple(tuple(probability(row, code) for row in rows) for code in range(size))
    return Channel(payloads=np.packbits(rows, axis=1, bitorder="little"), probabilities=probabilities)


def digits_of(limit: int) -> list[bool]:
    """Return the binary digits of threshold / 2^64 up to its last 1: after that an undecided lane is not below.

    >>> digits_of(5 << 61)
    [True, False, True]
    """
    return [digit == "1" for digit in f"{limit:064b}".rstrip("0")]


def _fill(out: Words, digits: list[bool], *, rng: Generator) -> None:
    """Overwrite `out` with coins."""
    out[...] = 0
    undecided = np.full(out.size, ALL)
    for start in range(0, out.size, BLOCK):
        part = slice(start, start + BLOCK)
        _compare(out[part], undecided[part], digits[:ROUNDS], rng=rng)
    place = np.arange(out.size)
    for first in range(ROUNDS, len(digits), MORE):
        active = np.flatnonzero(undecided)
        if not active.size:
            return
        place, undecided = place[active], undecided[active]
        below = np.zeros(place.size, dtype=np.uint64)
        _compare(below, undecided, digits[first : first + MORE], rng=rng)
        out[place] |= below


def _compare(below: Words, undecided: Words, digits: list[bool], *, rng: Generator) -> None:
    """Let every undecided lane meet one random bit for each digit, in place.

    Where the random bit differs from the digit the lane is decided: below if the digit is 1, above if it is 0. A random
    bit and its opposite are equally likely, so "differs" may as well be a zero bit whatever the digit is.
    """
    random = np.empty(below.size, dtype=np.uint64)
    for digit in digits:
        rng.fill(random)
        if digit:
            below |= undecided
            undecided &= random
            below ^= undecided
        else:
            undecided &= random
