"""Quotes of a CSV stand where they may, checked as it is read: else one line could swallow others.

bytes in UTF-8 -> the same bytes, or a refusal at the first quote that begins or ends a value amid other signs.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

MARK = b"\xef\xbb\xbf"


class QuotesChecked:
    """A file of UTF-8 for reading whose quotes are checked.

    A value that begins with a quote ends with one, in front of a separator or the end of its line; a quote within it is
    doubled; other values have none.
    """

    def __init__(self, source: Any, separator: str, quote: str = '"') -> None:
        """Begin a file.

        Args:
            source: what has `read(size)`.
            separator: between fields.
            quote: around values; empty for none, and then nothing is checked.
        """
        self._source = source
        self._quote = quote
        self._may_be_beside = np.isin(np.arange(256), list(f"\r\n{quote}{separator}".encode()))
        self._last = b""  # the byte before those that are read next
        self._quotes = 0  # before that byte

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, without a mark of their order in front.

        Raises:
            ValueError: a quote stands where none may, or is never closed.
        """
        content: bytes = self._source.read(size)
        if not self._last:
            content, self._last = content.removeprefix(MARK), b"\n"
        if self._quote:
            self._check(np.frombuffer(self._last + (content or b"\n"), dtype=np.uint8))
        if not content and self._quotes % 2:
            raise ValueError("a quote that is never closed")
        self._last = content[-1:] or b"\n"
        return content

    def _check(self, held: npt.NDArray[np.uint8]) -> None:
        """Check what is in front of quotes that begin and behind those that end; the last byte waits for the next.

        A doubled quote ends and begins: each of the two is beside the other.
        """
        places = np.flatnonzero(held == ord(self._quote))
        ends = (np.arange(places.size) + self._quotes) % 2 == 1
        front, behind = places[~ends] - 1, places[ends] + 1
        beside = np.concatenate([held[front[front >= 0]], held[behind[behind < held.size]]])
        if not self._may_be_beside[beside].all():
            raise ValueError("a quote within a value that does not begin with one, or is not doubled")
        self._quotes += int(np.count_nonzero(places < held.size - 1))
