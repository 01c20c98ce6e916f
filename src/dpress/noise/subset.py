"""Packed exact uniform subsets: a given number of bits, every set of that many equally likely.

A set of r out of u undecided positions is drawn by halving. Every undecided position tosses a fair coin. If at most
half of them are still wanted (2 r <= u), those with tails are decided "out"; otherwise they are decided "in". Where
that cannot be, because too many are tails, the coins of that row are tossed again. It ends when none, or all, of the
undecided positions are wanted.

Why the set is exactly uniform: what happens to a row (which way the tails go, whether to toss again, when to end)
depends on the numbers r and u alone, and the coins of the positions are independent and alike. So the distribution of
the outcome does not change when the positions are permuted, at every round, tosses thrown away included; and as the
outcome always has the weight asked for, all sets of that weight are equally likely.

Flow: 64-bit words -> rounds of halving over the rows not done yet, about log2(size) of them -> the rows.
"""

import numpy as np
import numpy.typing as npt

from dpress.core.basics import bits
from dpress.core.basics.rng import Generator, Words

BLOCK = 1 << 15  # words of one array that the rounds work on: they stay in cache
FEW = 1 << 12  # positions; below that sorting random words is faster than the rounds
LARGEST = np.uint64(2**64 - 1)
Integers = npt.NDArray[np.int64]
Coins = npt.NDArray[np.bool_]


def subsets(codes: Integers, included: Coins, weight: int, size: int, *, rng: Generator) -> npt.NDArray[np.uint8]:
    """Return for every row `weight` positions, one's own as given and the others uniformly at random, packed.

    Promise: exact.

    Args:
        codes: a position of every row, from 0 to size - 1, shape (rows,).
        included: whether it belongs to the set, shape (rows,).
        weight: number of positions in a set, from 1 to size - 1; 1 if there is a single one, which is then included.
        size: number of positions.
        rng: the generator.

    Returns:
        Shape (rows, bytes); the unused bits of the last byte are zero.

    >>> from dpress.core.basics import rng
    >>> np.unpackbits(subsets(np.array([7]), np.array([True]), 2, 8, rng=rng.seeded(1)), bitorder="little").tolist()
    [0, 0, 1, 0, 0, 0, 0, 1]
    """
    if size == 1:
        return included.astype(np.uint8)[:, None]
    if len(codes) * size <= FEW:
        return _smallest(codes, included, weight, size, rng=rng)
    words = -(-size // 64)
    step = max(1, BLOCK // words)
    out = np.empty((len(codes), bits.width(size)), dtype=np.uint8)
    for start in range(0, len(codes), step):
        part = slice(start, start + step)
        chosen = _halved(codes[part], weight - included[part], size, rng=rng)
        out[part] = np.ascontiguousarray(chosen.T).view(np.uint8)[:, : out.shape[1]]
    bits.put(out, codes, included)
    return out


def _smallest(codes: Integers, included: Coins, weight: int, size: int, *, rng: Generator) -> npt.NDArray[np.uint8]:
    """Return the positions of the smallest of independent random numbers; one's own is the smallest or the largest.

    All numbers are drawn again where a tie leaves the set open, which does not tell positions apart.
    """
    rows = np.arange(len(codes))
    while True:
        words = rng.words((codes.size * size + 1) // 2).view(np.uint32)[: codes.size * size].reshape(-1, size)
        words[rows, codes] = np.where(included, 0, 2**32 - 1)
        chosen = words < np.partition(words, weight, axis=1)[:, weight, None]
        if np.count_nonzero(chosen) == weight * len(codes):  # a row with a tie has fewer, none has more
            return np.packbits(chosen, axis=1, bitorder="little")


def _halved(codes: Integers, amounts: Integers, size: int, *, rng: Generator) -> Words:
    """Return sets of these amounts of the other positions for one block, a column a row: shape (words, rows)."""
    undecided = _others(codes, size)
    chosen = np.zeros_like(undecided)
    place = np.arange(len(codes))
    state = _Rows(undecided, np.zeros_like(undecided), amounts, np.full(len(codes), size - 1))
    while True:
        state.finish()
        done = state.wanted == 0
        if 2 * np.count_nonzero(done) >= len(done):
            chosen[:, place[done]] = state.chosen[:, done]
            if done.all():
                return chosen
            place = place[~done]
            state = state.only(np.flatnonzero(~done))
        state.halve(rng=rng)


def _others(codes: Integers, size: int) -> Words:
    """Return all positions but one's own, shape (words, rows)."""
    words = -(-size // 64)
    out = np.full((words, len(codes)), LARGEST)
    out[-1] >>= np.uint64(64 * words - size)
    out[codes >> 6, np.arange(len(codes))] ^= np.uint64(1) << (codes & 63).astype(np.uint64)
    return out


class _Rows:
    """The sets of the rows not done yet, while they are drawn."""

    __slots__ = ("chosen", "left", "undecided", "wanted")

    def __init__(self, undecided: Words, chosen: Words, wanted: Integers, left: Integers) -> None:
        self.undecided, self.chosen, self.wanted, self.left = undecided, chosen, wanted, left

    def only(self, rows: Integers) -> "_Rows":
        """Return some of the rows."""
        return _Rows(
            self.undecided.take(rows, axis=1), self.chosen.take(rows, axis=1), self.wanted[rows], self.left[rows]
        )

    def finish(self) -> None:
        """Take all undecided positions where all are wanted."""
        all_of_them = self.wanted == self.left
        self.chosen |= self.undecided & _mask(all_of_them)
        self.wanted = np.where(all_of_them, 0, self.wanted)

    def halve(self, *, rng: Generator) -> None:
        """Toss a coin for every undecided position."""
        heads = np.empty_like(self.undecided)
        rng.fill(heads)
        heads &= self.undecided
        kept = np.bitwise_count(heads).sum(axis=0, dtype=np.int64)
        tails_in = 2 * self.wanted > self.left
        enough = kept >= np.minimum(self.wanted, self.left - self.wanted)
        tails = self.undecided ^ heads
        tails &= _mask(enough)
        self.undecided ^= tails
        tails &= _mask(tails_in)
        self.chosen |= tails
        gone = np.where(enough, self.left - kept, 0)
        self.left = self.left - gone
        self.wanted = self.wanted - np.where(tails_in, gone, 0)


def _mask(rows: npt.NDArray[np.bool_]) -> Words:
    """Return all ones where true."""
    return np.negative(rows.astype(np.int64)).view(np.uint64)
