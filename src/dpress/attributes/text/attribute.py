"""The strings that one round of a collection asks about: prefixes with every way to go on, and whole strings.

value -> its bytes in UTF-8, zeros behind them -> the candidate whose bits it begins with -> a code.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import numpy.typing as npt

from dpress.attributes.listed.attribute import Categorical, with_words
from dpress.attributes.policy import MISSING
from dpress.attributes.protocol import Codes
from dpress.attributes.value import Value, text_of

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES = 32
MOST_CANDIDATES = 1 << 24
DIGITS = frozenset("0123456789abcdef")
Bytes = npt.NDArray[np.uint8]


class StringCandidates(Categorical, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="strings"):
    """A list of strings that grows from round to round; what devices code by, never what a specification says.

    The code of a string that begins with prefix i is i 2^bits and its next `bits` bits; that of a whole string follows
    those of all prefixes, that of any other string is the last one. A string that is empty, longer than `longest`
    bytes, not in UTF-8 or has a zero character is an other one.

    Args:
        longest: the bytes of the longest string, up to 32.
        known: how many bits every prefix has.
        bits: how many bits after those are asked.
        prefixes: hexadecimal, the last byte filled up with zero bits; in their order, each once.
        strings: whole ones, which end within the known bits; in the order of their bytes, each once.
    """

    longest: int
    known: int
    bits: int
    prefixes: tuple[str, ...]
    strings: tuple[str, ...]
    values: Literal["discover"] = "discover"

    def _fault(self) -> str:
        if not 1 <= self.longest <= MOST_BYTES:
            return f"`longest` must lie between 1 and {MOST_BYTES} bytes"
        if min(self.known, self.bits) < 0 or self.known + self.bits > 8 * self.longest:
            return "`known` and `bits` must be bits of the longest string"
        if self.bits > 24 or self.size > MOST_CANDIDATES:
            return f"expected at most {MOST_CANDIDATES:,} candidates"
        if self.prefixes != tuple(sorted(set(self.prefixes))) or not all(map(self._fits, self.prefixes)):
            return f"`prefixes` must be {self.known} bits each, in order, without a zero byte"
        whole = [bytes_of(string, self.longest) for string in self.strings]
        if whole != sorted(set(whole)) or not all(0 < 8 * len(string) <= self._longest_whole for string in whole):
            return f"`strings` must end within {self.known} bits, in the order of their bytes"
        return ""

    def cell_of(self, value: Value) -> int:
        """Return the candidate that a text begins with; MISSING where it is none."""
        text = text_of(value)
        return MISSING if text is None else int(self.cells(padded([bytes_of(text, self.longest)], self.longest))[0])

    def arrow_cells(self, column: "pa.Array") -> Codes:
        """Return the candidate of every text of an Arrow column; see `Cells.arrow_cells`."""
        from dpress.attributes.text import arrow  # noqa: PLC0415  # devices read no columns

        return arrow.cells(self, column)

    @property
    def _longest_whole(self) -> int:
        """The bits of the longest string that ends within the known bits: a zero byte follows, or nothing can."""
        return self.known if self.known == 8 * self.longest else self.known - 8

    def _fits(self, prefix: str) -> bool:
        if set(prefix) - DIGITS or len(prefix) != 2 * -(-self.known // 8):
            return False
        head, unused = bytes.fromhex(prefix), -self.known % 8
        return not (head and head[-1] & ((1 << unused) - 1)) and 0 not in head[: self.known // 8]

    def with_words_of(self, listing: Categorical) -> Self:
        """Return the candidates with another attribute's words for people."""
        return with_words(self, listing)

    @property
    def size(self) -> int:
        """The number of candidates, and one for all others."""
        return (len(self.prefixes) << self.bits) + len(self.strings) + 1

    @cached_property
    def heads(self) -> npt.NDArray[np.bytes_]:
        """The prefixes' bytes, in order."""
        return np.array([bytes.fromhex(prefix) for prefix in self.prefixes], dtype=f"S{max(1, -(-self.known // 8))}")

    @cached_property
    def wholes(self) -> npt.NDArray[np.bytes_]:
        """The whole strings' bytes, in order."""
        return np.array([string.encode() for string in self.strings], dtype=f"S{self.longest}")

    def cells(self, padded: Bytes) -> npt.NDArray[np.int32]:
        """Return the code of every string.

        Args:
            padded: their bytes with zeros behind them, shape (strings, longest); zeros alone for an unfit one.
        """
        codes = np.full(len(padded), self.size - 1, dtype=np.int32)
        begins, place = _placed(self.heads, cut(padded, self.known))
        extension = bits_of(padded, self.known, self.bits)
        codes[begins] = ((place << self.bits) + extension)[begins]
        same, place = _placed(self.wholes, padded)
        codes[same] = ((len(self.prefixes) << self.bits) + place)[same]
        codes[~padded.any(axis=1)] = self.size - 1
        return codes


ATTRIBUTES = (StringCandidates,)


def bytes_of(text: str, longest: int) -> bytes:
    """Return the bytes of a string in UTF-8; none where it is too long, no such text, or has a zero character.

    >>> bytes_of("é", 2).hex(), bytes_of("é", 1), bytes_of("a" + chr(0), 9)
    ('c3a9', b'', b'')
    """
    try:
        encoded = text.encode()
    except UnicodeEncodeError:  # half a character
        return b""
    return encoded if len(encoded) <= longest and 0 not in encoded else b""


def padded(strings: Sequence[bytes], longest: int) -> Bytes:
    """Return strings with zeros behind them, shape (strings, longest)."""
    return np.array(strings, dtype=f"S{longest}").view(np.uint8).reshape(-1, longest)


def cut(rows: Bytes, bits: int) -> Bytes:
    """Return the first bits of every row, the last byte filled up with zero bits; a zero byte where there are none."""
    if not bits:
        return np.zeros((len(rows), 1), dtype=np.uint8)
    heads = rows[:, : -(-bits // 8)].copy()
    heads[:, -1] &= 0xFF & (0xFF << (-bits % 8))
    return heads


def bits_of(rows: Bytes, start: int, bits: int) -> npt.NDArray[np.int64]:
    """Return the number that so many bits of every row are, from bit `start` on, at most 24."""
    first, last = start // 8, -(-(start + bits) // 8)
    number = np.zeros(len(rows), dtype=np.int64)
    for place in range(first, last):
        number = (number << 8) | rows[:, place]
    return (number >> (8 * last - start - bits)) & ((1 << bits) - 1)


def _placed(sorted_keys: npt.NDArray[np.bytes_], rows: Bytes) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Return which rows are among the keys, and where."""
    if not sorted_keys.size:
        return np.zeros(len(rows), dtype=np.bool_), np.zeros(len(rows), dtype=np.int64)
    keys = np.ascontiguousarray(rows).view(sorted_keys.dtype).reshape(-1)
    place = np.minimum(np.searchsorted(sorted_keys, keys), sorted_keys.size - 1)
    return sorted_keys[place] == keys, place
