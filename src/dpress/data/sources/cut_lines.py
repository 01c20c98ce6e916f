"""A file of text without the lines in front of its names and behind its rows, as it is read.

bytes in UTF-8 -> without the first lines -> without the last lines that hold something.
"""

from typing import Any

NEWLINE = b"\n"


class CutLines:
    r"""A file of UTF-8 for reading whose first and last lines are left out.

    >>> import io
    >>> CutLines(io.BytesIO(b"title\nage\n3\nsource\n\n"), skip=1, footer=1).read(99)
    b'age\n3\n'
    """

    def __init__(self, source: Any, *, skip: int = 0, footer: int = 0) -> None:
        """Begin a file.

        Args:
            source: what has `read(size)`.
            skip: lines in front, empty ones too; those that are empty behind them are left out with them.
            footer: lines at the end; those that are empty do not count, and are left out with them.
        """
        self._source = source
        self._skip = skip
        self._cut = skip > 0
        self._footer = footer
        self._held = b""

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; none at the end."""
        while part := self._source.read(size):
            self._held += part
            if self._cut and not self._without_first():
                continue
            end = self._last_lines() if self._footer else len(self._held)
            if end:
                content, self._held = self._held[:end], self._held[end:]
                return content
        content, self._held = (b"" if self._skip else self._held[: self._last_lines()]), b""
        return content

    def _without_first(self) -> bool:
        """Leave out the first lines, and empty ones behind them; say whether what follows has begun."""
        while NEWLINE in self._held:
            line, _, behind = self._held.partition(NEWLINE)
            if not self._skip and line.strip():
                self._cut = False
                return True
            self._skip, self._held = max(0, self._skip - 1), behind
        return False

    def _last_lines(self) -> int:
        """Return where the last lines begin that might be the footer."""
        end = len(self._held)
        for _ in range(self._footer):
            filled = len(self._held[:end].rstrip())
            end = self._held.rfind(NEWLINE, 0, filled) + 1
        return end
