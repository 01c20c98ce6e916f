"""Where values stand among very many keys: tables of hashes that are made once, where Arrow makes one for each batch.

texts -> their bytes, zeros behind them -> a hash -> slots, one after the other, until the same bytes or an empty one.
Nothing rests on the hash but speed: words are compared.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.text.arrow import rows

Places = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
FEW = 4096  # keys that Arrow looks up fast enough
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # how an integer of 64 bits is written


@dataclass(frozen=True, eq=False)
class WordTable:
    """Keys of a few words of 64 bits each, shape (keys, words)."""

    keys: Words

    def places(self, words: Words) -> Places:
        """Return the place of every row among the keys, -1 where it is none, shape (rows,)."""
        places, wanted, slot = np.full(len(words), -1), np.arange(len(words)), self._slot(words)
        while len(wanted) and len(self.keys):
            key = self._slots[slot]
            places[wanted] = np.where((self.keys[key] == words[wanted]).all(axis=1) & (key >= 0), key, -1)
            left = (places[wanted] < 0) & (key >= 0)
            wanted, slot = wanted[left], (slot[left] + 1) & (len(self._slots) - 1)
        return places

    @property
    def _bits(self) -> int:
        """Of the number of a slot: there are four of them a key, or more."""
        return (4 * len(self.keys) + 1).bit_length()

    def _slot(self, words: Words) -> Places:
        """Return where each is looked for first."""
        mixed = np.zeros(len(words), dtype=np.uint64)
        for word in words.T:
            mixed = (mixed ^ word) * ODD
            mixed ^= mixed >> np.uint64(29)
        return ((mixed * ODD) >> np.uint64(64 - self._bits)).astype(np.int64)

    @cached_property
    def _slots(self) -> npt.NDArray[np.int32]:
        """The key of every slot, -1 where there is none."""
        slots = np.full(1 << self._bits, -1, dtype=np.int32)
        keys, slot = np.arange(len(self.keys)), self._slot(self.keys)
        while len(keys):
            free = slots[slot] < 0
            slots[slot[free]] = keys[free]
            left = slots[slot] != keys
            keys, slot = keys[left], (slot[left] + 1) & (len(slots) - 1)
        return slots


@dataclass(frozen=True, eq=False)
class KeyIndex:
    """Keys that texts, and integers as they are written, are looked up among.

    Args:
        keys: different texts, large strings.
    """

    keys: pa.Array

    def places(self, texts: pa.Array) -> Places:
        """Return the place of every text among the keys, -1 where it is none or missing.

        Args:
            texts: large strings.
        """
        if self._few:
            return np.asarray(pc.fill_null(pc.index_in(texts, value_set=self.keys), -1)).astype(np.int64)
        return self._texts.places(self._of(texts))

    def places_of_numbers(self, numbers: npt.NDArray[np.int64]) -> Places:
        """Return the place of every integer among the keys as it is written, -1 where it is none."""
        whole, table = self._numbers
        return np.append(whole, -1)[table.places(numbers.view(np.uint64)[:, None])]

    @cached_property
    def _few(self) -> bool:
        """Whether Arrow looks them up fast enough; or one has a zero character, which ends no text here."""
        return len(self.keys) <= FEW or not self._texts.keys.any(axis=1).all()

    @cached_property
    def _width(self) -> int:
        """The bytes of the longest key, rounded up to whole words."""
        return -(-int(pc.max(pc.binary_length(self.keys)).as_py()) // 8) * 8

    @cached_property
    def _texts(self) -> WordTable:
        return WordTable(self._of(self.keys))

    @cached_property
    def _numbers(self) -> tuple[Places, WordTable]:
        """The places of the keys that are written as integers are, and these."""
        pairs = [(place, int(key)) for place, key in enumerate(self.keys.to_pylist()) if WHOLE.fullmatch(key)]
        places, numbers = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
        return places, WordTable(numbers.view(np.uint64)[:, None])

    def _of(self, texts: pa.Array) -> Words:
        """Return the bytes of texts as words, shape (texts, words); zeros of what no key can be."""
        ends = np.frombuffer(texts.buffers()[1], dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
        bytes_of = np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8)[ends[0] : ends[-1]]
        length, sizes = int(ends[1] - ends[0]) if len(texts) else 0, np.diff(ends)
        if not 0 < length <= self._width or (sizes != length).any() or not bytes_of.all():
            return rows(texts, self._width).view(np.uint64)
        block = np.zeros((len(texts), self._width), dtype=np.uint8)
        block[:, :length] = bytes_of.reshape(-1, length)
        return block.view(np.uint64)
