"""Where the names of columns stand in a file of text or a sheet: found by the names that a specification has, alone.

the first lines -> every place and separator by which they have all the names -> the first of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from dpress.data.sources.text_fault import decoded
from dpress.data.specification.file_format import FileFormat, joined_names

LINES = 30  # that are looked at
LONGEST = 1 << 16  # of such a line
SEPARATORS = (",", ";", "\t", "|")
ROWS = (1, 2)  # lines of names that are tried


@dataclass(frozen=True, slots=True)
class HeaderPlace:
    """Where the names stand, and what is between them.

    Args:
        skip: lines in front.
        rows: lines of names.
        separator: between fields; empty in a sheet.
    """

    skip: int
    rows: int
    separator: str = ""

    def stated(self, now: "HeaderPlace") -> Iterator[tuple[str, str]]:
        """Yield the fields that differ from another place, as a specification writes them."""
        if self.separator != now.separator:
            yield "separator", '"{}"'.format(self.separator.replace("\t", "\\t"))
        if self.skip != now.skip:
            yield "skip", str(self.skip)
        if self.rows != now.rows:
            yield "header_rows", str(self.rows)


def header_place(path: Path, written: FileFormat, wanted: Sequence[str]) -> HeaderPlace | None:
    """Return where the first lines of a file of text have all the names that are wanted; None where they have not.

    Args:
        path: of the file.
        written: how it is, for its encoding and quotes.
        wanted: the names.
    """
    try:
        with decoded(path, written.encoding) as file:
            lines = [file.readline(LONGEST) for _ in range(LINES)]
    except (OSError, LookupError, UnicodeError, pa.ArrowException):
        return None
    places = (
        HeaderPlace(skip, rows, sign)
        for sign in SEPARATORS
        for skip, rows in places_in([_fields(line, sign, written.quote) for line in lines], wanted)
    )
    return min(places, key=lambda place: (place.rows, place.skip), default=None)


def places_in(lines: Sequence[Sequence[str]], wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield how many lines stand in front of names that have all that are wanted, and in how many lines these stand."""
    for rows in ROWS:
        for skip in range(len(lines)):
            if {*wanted} <= {*joined_names(lines[skip : skip + rows])}:
                yield skip, rows
                return


def _fields(line: str, sign: str, quote: str) -> list[str]:
    return [field.strip().strip(quote or None) for field in line.lstrip("\ufeff").split(sign)]
