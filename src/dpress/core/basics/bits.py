"""Packed bits: bit v of a row is bit (v mod 8) of byte v // 8, and the unused bits of the last byte are zero.

Flow of the column counts: rows as 64-bit words -> carry-save adders over thirds of a block -> the few rows left over.
"""

import math

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

BLOCK = 1 << 20  # bytes that the adders work on at a time
LEFT = 32  # rows: fewer than 3 (LEFT + 1) are added up as bytes, without overflow
LARGEST_SIZE = 1 << 19  # bits of a report: 2^16 bytes
LEAST_ROWS = 64  # of a block, however wide a row is


def width(size: int) -> int:
    """Return the number of bytes of `size` bits.

    >>> width(9)
    2
    """
    return -(-size // 8)


def unused(size: int) -> int:
    """Return the mask of the last byte's bits that lie beyond `size` bits.

    >>> bin(unused(13))
    '0b11100000'
    """
    return 0xFF & (-1 << ((size - 1) % 8 + 1))


def padded(rows: Bytes, size: int) -> npt.NDArray[np.bool_]:
    """Return which rows have a bit set beyond `size` bits, shape (rows,)."""
    return np.asarray((rows[:, -1] & unused(size)) != 0)


def weights(rows: Bytes) -> Integers:
    """Return the number of bits set in every row, shape (rows,)."""
    return np.asarray(np.bitwise_count(_widest(rows)).sum(axis=1, dtype=np.int64))


def put(rows: Bytes, columns: npt.NDArray[np.integer], coins: npt.NDArray[np.bool_]) -> None:
    """Overwrite one bit of every row, in place.

    Args:
        rows: contiguous, shape (rows, width).
        columns: which bit, shape (rows,).
        coins: what it becomes, shape (rows,).
    """
    column = columns.astype(np.int64)
    places = np.arange(len(rows)) * rows.shape[1] + (column >> 3)
    shifts = (column & 7).astype(np.uint8)
    flat = rows.reshape(-1)
    flat[places] = (flat[places] & ~(np.uint8(1) << shifts)) | (coins.astype(np.uint8) << shifts)


def column_counts(rows: Bytes, size: int) -> Integers:
    """Return how many rows have each bit set, exactly, shape (size,).

    Rows narrower than a word are joined until they fill whole words; the counts of the joined columns are added up.
    The memory beside `rows` is bounded by a few blocks.

    >>> column_counts(np.array([[0b101], [0b001]], dtype=np.uint8), 3).tolist()
    [2, 0, 1]
    """
    width = rows.shape[1]
    joined = 8 // math.gcd(width, 8)
    whole = len(rows) // joined * joined
    words = np.ascontiguousarray(rows[:whole]).reshape(whole // joined, width * joined).view(np.uint64)
    total = np.zeros(width * joined * 8, dtype=np.int64)
    step = max(LEAST_ROWS, BLOCK // (width * joined))
    for start in range(0, len(words), step):
        total += _block_counts(words[start : start + step])
    counts = total.reshape(joined, width * 8).sum(axis=0)
    counts += _unpacked(rows[whole:]).sum(axis=0, dtype=np.int64)
    return np.asarray(counts[:size])


def _block_counts(words: Words) -> Integers:
    """Return the column counts of one block: three rows of weight 2^j become one, and one of weight 2^(j+1)."""
    total = np.zeros(words.shape[1] * 64, dtype=np.int64)
    weight = 0
    while len(words):
        carries = []
        while (third := len(words) // 3) > LEFT:
            low, carry = _added(words[:third], words[third : 2 * third], words[2 * third : 3 * third])
            carries.append(carry)
            words = np.concatenate([low, words[3 * third :]])
        total += _unpacked(words.view(np.uint8)).sum(axis=0, dtype=np.uint8).astype(np.int64) << weight
        words = np.concatenate(carries) if carries else words[:0]
        weight += 1
    return total


def _added(first: Words, second: Words, third: Words) -> tuple[Words, Words]:
    """Return the sum and the carry of three bits, in every lane: a carry-save adder."""
    differs = first ^ second
    carry = first & second
    carry |= differs & third
    differs ^= third
    return differs, carry


def _unpacked(rows: Bytes) -> Bytes:
    return np.unpackbits(np.ascontiguousarray(rows), axis=1, bitorder="little")


def _widest(rows: Bytes) -> npt.NDArray[np.unsignedinteger]:
    """Return contiguous rows seen as the widest words that fit."""
    kind = {0: np.uint64, 4: np.uint32, 2: np.uint16, 6: np.uint16}.get(rows.shape[1] % 8, np.uint8)
    return np.ascontiguousarray(rows).view(kind)
