"""How a text file writes its values, as its curator states it: nothing is guessed from the rows.

The specification's [data], as a value.
"""

import codecs
import itertools
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

SEPARATORS = {".csv": ",", ".tsv": "\t"}
COMPRESSED = (".gz", ".zst")
UTF_8 = "utf-8"
WINDOWS = "a path of Windows stands in single quotes, as 'C:\\data\\rows.csv', or has / in place of \\"
QUOTES = ("", *(sign for sign in string.punctuation if sign != "\\"))
Count = Annotated[int, Meta(ge=0, le=1000)]
Sign = Annotated[str, Meta(min_length=1, max_length=1, pattern='^[^"\r\n]$')]


class FileFormat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a CSV file is written; a Parquet file says so itself.

    Args:
        separator: between fields; a comma, or a tab in a `.tsv` file, unless stated.
        quote: around values that hold separators or ends of lines, doubled within them; "" where no sign is one.
        decimal: the sign before the decimals of a number.
        thousands: the sign between groups of three digits; none unless stated.
        encoding: of the text, by any name that Python has for it, such as "windows-1252".
        null_values: texts that stand for a missing value, such as "NA"; blanks around them do not matter.
        date_format: of dates and times, such as "%d.%m.%Y"; among listed values they are written as 2024-12-31.
        skip: lines before that of the names, such as titles; of a file of text or a sheet.
        header_rows: lines of names, which are joined; an empty one but in the last line has the name before it.
        footer: lines behind the rows, such as sources; empty ones do not count.
        missing_unit: what becomes of a row that names no person, of any source: "reject" refuses the table,
            "drop" leaves it out.
        where: which rows are those of the release, of any source: a public condition as queries have them, such as
            "year = 2024", over attributes, released or not, and other columns. All rows, where it is left out.
        rows: of two [[table]], the one whose rows are counted; left out, records of both are made.
        header: true where the first line has the names, which messages may then show; the names, where no line has
            them. Left out, the first line has them, and as it might be a row it is never shown.
    """

    separator: Sign | None = None
    quote: str = '"'
    decimal: Literal[".", ","] = "."
    thousands: Literal["", ".", ",", " ", "'", "\u00a0", "\u202f"] = ""
    encoding: str = UTF_8
    null_values: tuple[str, ...] = ()
    date_format: str = ""
    skip: Count = 0
    header_rows: Annotated[int, Meta(ge=1, le=9)] = 1
    footer: Count = 0
    missing_unit: Literal["reject", "drop"] = "reject"
    where: str = ""
    rows: str = ""
    header: bool | Annotated[tuple[str, ...], Meta(min_length=1)] | None = None

    def __post_init__(self) -> None:
        """Refuse two uses of one sign."""
        if self.quote not in QUOTES or (self.quote and self.quote in (self.separator, self.decimal, self.thousands)):
            wanted = "one sign that is no letter, digit or blank and has no other use, or none"
            raise ValueError(f".quote: expected {wanted}, got {self.quote!r:.60}")
        if self.thousands == self.decimal:
            raise ValueError(f".thousands: expected another sign than `decimal`, got {self.thousands!r} for both")
        if self.date_format and "%" not in self.date_format:
            raise ValueError(f'.date_format: expected signs such as in "%d.%m.%Y", got {self.date_format!r:.60}')
        if self.header is False:
            raise ValueError('.header: expected true, or the names of the columns, such as ["age", "sex"], got false')
        names = self.names
        if names and self.header_rows > 1:
            raise ValueError(".header_rows: expected nothing where `header` lists the names, for no line has them")
        if len(set(names)) < len(names):
            raise ValueError(".header: expected names that differ, got one twice")
        if codec(self.encoding) != UTF_8 and not (self.separator or ",").isascii():
            raise ValueError(
                f".separator: expected an ASCII sign where `encoding` is not utf-8, got {self.separator!r}"
            )
        if codec(self.encoding) is None:
            examples = '"utf-8", "windows-1252", "iso-8859-15" or "utf-16"'
            raise ValueError(
                f".encoding: expected the name of an encoding of text, such as {examples}, got {self.encoding!r:.60}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, where no line of the file has them."""
        return self.header if isinstance(self.header, tuple) else ()


def joined_names(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the names that several lines hold: the texts of a column one below the other, with blanks between them.

    An empty text in all but the last line is that before it, as of cells that are merged.

    >>> joined_names([["id", "Persons", ""], ["", "men", "women"]])
    ['id', 'Persons men', 'Persons women']
    """
    above = [itertools.accumulate(line, lambda last, text: text.strip() or last, initial="") for line in lines[:-1]]
    filled = [list(texts)[1:] for texts in above] + [[text.strip() for text in line] for line in lines[-1:]]
    return [" ".join(filter(None, texts)) for texts in itertools.zip_longest(*filled, fillvalue="")]


def codec(encoding: str) -> str | None:
    """Return the one name of a text encoding that Python knows; None where it knows none.

    >>> codec("windows-1252"), codec("UTF8"), codec("hex"), codec("ebcdic")
    ('cp1252', 'utf-8', None, None)
    """
    try:
        looked_up = codecs.lookup(encoding)
        "".encode(encoding)  # refused by what encodes no text, such as hex
    except (LookupError, ValueError):
        return None
    return looked_up.name if looked_up.incrementaldecoder is not None else None


def beside(source: str, folder: Path) -> str:
    """Return the place of rows that a specification names: of a file, beside the specification's own."""
    return str(folder / source) if source and "://" not in source else source


def kind_of(path: Path) -> str:
    """Return the ending that says what a file holds, without that of its compression: ".csv", ".tsv", ".parquet"."""
    uncompressed = Path(path.stem) if path.suffix.lower() in COMPRESSED else path
    return uncompressed.suffix.lower()
