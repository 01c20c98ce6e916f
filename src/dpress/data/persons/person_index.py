"""Numbers of persons: the first that appears is 0, the next 1; found again by comparison, never by a hash alone.

words or bytes -> a keyed 64-bit hash says where to look -> equal words, or equal bytes, are one person -> its number.
"""

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.data.persons.person_columns import PersonColumn

Numbers = npt.NDArray[np.int64]

HASHES = 1 << 32  # different leading halves of a hash: what groups of persons are ranges of
LOAD = 2  # slots per person at least
FIRST_SLOTS = 1 << 10


class PersonIndex:
    """The persons seen so far, of those whose hash falls into a range.

    The hash only says where to look, and which pass over the table a person belongs to; its key is fresh, so that no
    column makes it slow.

    Args:
        low, high: the range of the leading 32 bits of the hash; others have no number.
        key: of the hash.
    """

    __slots__ = ("_ends", "_key", "_range", "_slots", "_text", "persons")

    def __init__(self, *, key: int, low: int = 0, high: int = HASHES) -> None:
        self.persons = 0
        self._key, self._range = np.uint64(key), (np.uint64(low), np.uint64(high))
        self._slots = np.zeros((FIRST_SLOTS, 2), dtype=np.uint64)  # hash, number + 1; zero where a slot is free
        self._text, self._ends = np.zeros(1, dtype=np.uint8), np.zeros(1, dtype=np.uint64)

    @property
    def nbytes(self) -> int:
        """The memory it takes: 32 to 64 bytes a person, and those of its text."""
        return self._slots.nbytes + self._text.nbytes + self._ends.nbytes

    def numbers(self, column: PersonColumn) -> Numbers:
        """Return every row's person, -1 where its hash lies outside the range; shape (rows,)."""
        from dpress.data.persons import person_kernels  # noqa: PLC0415  # compiles, and takes a second to import

        textual = column.ends.size > 0
        self._make_room(column, textual=textual)
        hashes, out = np.empty(column.rows, dtype=np.uint64), np.empty(column.rows, dtype=np.int64)
        stored = (self._slots, self._text, self._ends)
        if textual:
            person_kernels.hash_bytes(column.content, column.ends, self._key, hashes)
        else:
            person_kernels.hash_words(column.words, self._key, hashes)
        rows = (hashes, column.content, column.ends)
        self.persons = person_kernels.find(rows, self._range, stored, self.persons, out)
        if textual:
            self.persons = person_kernels.compare(rows, stored, self.persons, out)
        return out

    def _make_room(self, column: PersonColumn, *, textual: bool) -> None:
        """Grow, so that all rows of a column may be new persons."""
        from dpress.data.persons import person_kernels  # noqa: PLC0415  # as above

        most = self.persons + column.rows
        if most * LOAD > len(self._slots):
            larger = np.zeros((1 << (most * LOAD).bit_length(), 2), dtype=np.uint64)
            person_kernels.rehash(self._slots, larger)
            self._slots = larger
        if textual:
            used = int(self._ends[self.persons])
            self._ends = grown(self._ends, self.persons + 1, most + 1)
            self._text = grown(self._text, used, used + int(column.ends[-1] - column.ends[0]) + 1)


def fresh_key() -> int:
    """Return a secret key of the hash; it decides about speed and the order of passes, never about a row."""
    return secrets.randbits(64)


def grown(array: npt.NDArray[Any], used: int, wanted: int) -> npt.NDArray[Any]:
    """Return an array with at least as many entries as wanted, the first `used` of them kept."""
    if wanted <= len(array):
        return array
    larger = np.empty(max(wanted, 3 * len(array) // 2), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger
