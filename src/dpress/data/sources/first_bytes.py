"""How a file of text is probably written, by its first bytes: proposed to whoever holds it, who says what is stated.

the first bytes -> mark of byte order, UTF-8 or not -> encoding; how many separators stand in each of their lines, and
in the last lines -> separator, lines before that of the names, lines behind the rows.
"""

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from dpress.data.specification.file_format import COMPRESSED, SEPARATORS, UTF_8, kind_of

FIRST = 1 << 16  # bytes
MARKS = ((b"\xef\xbb\xbf", UTF_8), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
ELSE = "windows-1252"  # what offices wrote before UTF-8; every byte is text in it, so that it is only a proposal
LONGEST = 4  # bytes of a sign in UTF-8
MOST = 9  # lines before the names, and behind the rows


@dataclass(frozen=True, slots=True)
class Proposal:
    """How a file is probably written.

    Args:
        encoding: of its text.
        separator: between fields.
        skip: lines before that of the names.
        header_rows: lines of names: two where the first leaves fields empty, as merged cells do.
        footer: lines behind the rows.
    """

    encoding: str
    separator: str
    skip: int = 0
    header_rows: int = 1
    footer: int = 0


def proposed(path: Path) -> Proposal:
    r"""Return how a file of text is probably written.

    All rests on bytes of rows, too: that some are no UTF-8 says that a value has a letter beyond ASCII, and the names
    are thought to stand in the first line that has as many separators as most lines, and text behind one. So it is
    shown to whoever holds the file and is never taken unasked; no text of a line is part of it.

    Args:
        path: of the file; one that ends in .gz or .zst is decompressed, and its last lines are not looked at.

    Raises:
        OSError: it cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_bytes("Visits, 2024\nGröße;Ort\n3;Köln\n4;Bonn\nSource: the town\n".encode("latin-1"))
    ...     proposed(path)
    Proposal(encoding='windows-1252', separator=';', skip=1, header_rows=1, footer=1)
    """
    with pa.input_stream(path) as stream:
        first = stream.read(FIRST)
    encoding = _encoding(first)
    lines = _lines(first, encoding, cut=len(first) == FIRST)
    usual = SEPARATORS[kind_of(path)]
    signs = dict.fromkeys((usual, ",", ";", "\t", "|"))
    places = {sign: place for sign in signs if (place := _place(lines, sign)) is not None}
    if not places:
        return Proposal(encoding=encoding, separator=usual)
    separator = min(places, key=lambda sign: (places[sign], -lines[places[sign]].count(sign)))
    skip = places[separator]
    return Proposal(
        encoding=encoding,
        separator=separator,
        skip=skip,
        header_rows=1 + _has_gap(lines[skip].split(separator)),
        footer=0 if path.suffix.lower() in COMPRESSED else _footer(path, encoding, separator),
    )


def _lines(part: bytes, encoding: str, *, cut: bool) -> list[str]:
    """Return the lines of some bytes; of those that end within a line, without that."""
    lines = part.decode(encoding, errors="replace").removeprefix("\ufeff").splitlines()
    return lines[:-1] if cut and len(lines) > 1 else lines


def _place(lines: Sequence[str], sign: str) -> int | None:
    """Return the first line with as many signs as most lines, and text behind one; None if none near the top has."""
    counts = [line.count(sign) for line in lines if line.strip()]
    usual, lines_so = Counter(counts).most_common(1)[0] if counts else (0, 0)
    if not usual or 2 * lines_so < len(counts):
        return None
    full = (place for place, line in enumerate(lines[: MOST + 1]) if line.count(sign) == usual)
    return next((place for place in full if any(field.strip() for field in lines[place].split(sign)[1:])), None)


def _has_gap(fields: Sequence[str]) -> bool:
    """Say whether a field behind the first is empty: the names go on in the next line."""
    return not all(field.strip() for field in fields[1:])


def _footer(path: Path, encoding: str, separator: str) -> int:
    """Return how many of the last lines have no separator at all; none where that is more than a few."""
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - FIRST))
        lines = [line for line in _lines(file.read(), encoding, cut=False) if line.strip()]
    bare = next((place for place, line in enumerate(reversed(lines)) if separator in line), 0)
    return bare if bare <= MOST else 0


def _encoding(first: bytes) -> str:
    marked = next((name for mark, name in MARKS if first.startswith(mark)), "")
    if marked:
        return marked
    cut = LONGEST if len(first) == FIRST else 0  # a sign may go on behind the first bytes
    for left_out in range(cut + 1):
        try:
            first[: len(first) - left_out].decode(UTF_8)
        except UnicodeDecodeError:
            continue
        return UTF_8
    return ELSE
