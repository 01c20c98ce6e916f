"""How a text file writes its values, as its curator states it: nothing is guessed from the rows.

specification's [data] -> FileFormat; path, format, attributes -> TextFile -> SQL that reads every value by itself.
"""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from dpress.core.attribute import Bounded, Listed, Tabular
from dpress.core.errors import SchemaMismatch
from dpress.core.value import BLANKS

SEPARATORS = {".csv": ",", ".tsv": "\t"}
COMPRESSED = (".gz", ".zst")
UTF_8 = "utf-8"
AS_WRITTEN = "\x1fas written"  # behind a column's name: its text before it is read
READER = (
    "read_csv(?, all_varchar = true, header = {header}, delim = '{delim}', quote = '\"', escape = '\"', comment = '', "
    "skip = 0, strict_mode = true, hive_partitioning = false, encoding = 'utf-8', "
    f"max_line_size = {1 << 24}, buffer_size = {1 << 25}"
    "{names})"
)  # a line may be long: by default one of more than 2 MB is refused
Sign = Annotated[str, Meta(min_length=1, max_length=1, pattern='^[^"\r\n]$')]


class FileFormat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a CSV file is written; a Parquet file says so itself.

    Args:
        separator: between fields; a comma, or a tab in a `.tsv` file, unless stated.
        decimal: the sign before the decimals of a number.
        thousands: the sign between groups of three digits; none unless stated.
        encoding: of the text, by any name that Python has for it, such as "windows-1252".
        null_values: texts that stand for a missing value, such as "NA"; blanks around them do not matter.
        date_format: of the columns whose listed values are dates, such as "%d.%m.%Y"; they are listed as 2024-12-31.
        header: true where the first line has the names, which messages may then show; the names, where no line has
            them. Left out, the first line has them, and as it might be a row it is never shown.
    """

    separator: Sign | None = None
    decimal: Literal[".", ","] = "."
    thousands: Literal["", ".", ",", " ", "'", "\u00a0", "\u202f"] = ""
    encoding: str = UTF_8
    null_values: tuple[str, ...] = ()
    date_format: str = ""
    header: bool | Annotated[tuple[str, ...], Meta(min_length=1)] | None = None

    def __post_init__(self) -> None:
        """Refuse two uses of one sign."""
        if self.thousands == self.decimal:
            raise ValueError(f".thousands: expected another sign than `decimal`, got {self.thousands!r} for both")
        if self.header is False:
            raise ValueError('.header: expected true, or the names of the columns, such as ["age", "sex"], got false')
        names = self.names
        if len(set(names)) < len(names):
            raise ValueError(".header: expected names that differ, got one twice")
        if codec(self.encoding) != UTF_8 and not (self.separator or ",").isascii():
            raise ValueError(
                f".separator: expected an ASCII sign where `encoding` is not utf-8, got {self.separator!r}"
            )
        if codec(self.encoding) is None:
            known = '"utf-8", "windows-1252", "iso-8859-15" or "utf-16"'
            raise ValueError(
                f".encoding: expected the name of an encoding of text, such as {known}, got {self.encoding!r:.60}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, where no line of the file has them."""
        return self.header if isinstance(self.header, tuple) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """A file of text with the format that its curator states.

    Args:
        path: of the file.
        format: as stated.
        numbers: the columns whose values are numbers.
        dates: the columns whose listed values are dates.
    """

    path: Path
    format: FileFormat
    numbers: frozenset[str]
    dates: frozenset[str]

    @property
    def separator(self) -> str:
        """The sign between fields."""
        return self.format.separator or SEPARATORS[kind_of(self.path)]

    @property
    def codec(self) -> str:
        """The encoding by its one name."""
        return codec(self.format.encoding) or UTF_8

    def reader(self) -> str:
        """Return the SQL that reads all columns of a file in UTF-8 as text, with the path as its parameter."""
        names = ", ".join(_text(name) for name in self.format.names)
        return READER.format(
            header=str(not names).lower(),
            delim=self.separator.replace("'", "''"),
            names=f", names = [{names}]" if names else "",
        )

    def read(self, source: str, columns: Iterable[str]) -> str:
        """Return the SQL of some columns as a file without a format of its own would have them."""
        own = ", ".join(f"{self._value(column)} AS {quoted(column)}" for column in columns)
        return f"(SELECT {own} FROM {source})"  # noqa: S608  # names and signs are quoted; the path is a parameter

    def _value(self, column: str) -> str:
        """Return the SQL of one value, made from its text alone."""
        value = self._present(quoted(column.removesuffix(AS_WRITTEN)))
        if column in self.numbers:
            return self._number(value)
        return self._date(value) if column in self.dates else value

    def _present(self, value: str) -> str:
        """Return the SQL of a text, NULL where it stands for a missing value."""
        if self.format.null_values:
            texts = ", ".join(_text(one.strip(BLANKS)) for one in self.format.null_values)
            value = f"CASE WHEN trim({value}, {_text(BLANKS)}) NOT IN ({texts}) THEN {value} END"
        return value

    def _number(self, value: str) -> str:
        """Return the SQL of a number with a decimal point and no thousands; NULL where it is written otherwise."""
        decimal, group = self.format.decimal, self.format.thousands
        if decimal == "." and not group:
            return value
        grouped = rf"|\d{{1,3}}([{group}]\d{{3}})+" if group else ""
        pattern = rf"[+-]?((\d+{grouped})([{decimal}]\d*)?|[{decimal}]\d+)([eE][+-]?\d+)?"
        bare = f"trim({value}, {_text(BLANKS)})"
        plain = f"replace({bare}, {_text(group)}, '')" if group else bare
        plain = f"replace({plain}, {_text(decimal)}, '.')"
        return f"CASE WHEN regexp_full_match({bare}, {_text(pattern)}) THEN {plain} END"

    def _date(self, value: str) -> str:
        """Return the SQL of a date as 2024-12-31; a text that is none stays as it is."""
        found = f"try_strptime(trim({value}, {_text(BLANKS)}), {_text(self.format.date_format)})"
        return f"coalesce(strftime({found}, '%Y-%m-%d'), {value})"


def codec(encoding: str) -> str | None:
    """Return the one name of a text encoding that Python knows; None where it knows none.

    >>> codec("windows-1252"), codec("UTF8"), codec("hex"), codec("ebcdic")
    ('cp1252', 'utf-8', None, None)
    """
    try:
        found = codecs.lookup(encoding)
        "".encode(encoding)  # refused by what encodes no text, such as hex
    except (LookupError, ValueError):
        return None
    return found.name if found.incrementaldecoder is not None else None


def kind_of(path: Path) -> str:
    """Return the ending that says what a file holds, without that of its compression: ".csv", ".tsv", ".parquet"."""
    own = Path(path.stem) if path.suffix.lower() in COMPRESSED else path
    return own.suffix.lower()


def opened(data: Any, written: FileFormat, attributes: Iterable[Tabular]) -> Any:
    """Return data with the format that its specification states, where it is a file of text; any other as it is."""
    if not isinstance(data, (str, Path)) or kind_of(Path(data)) not in SEPARATORS:
        return data
    every = tuple(attributes)
    return TextFile(
        path=Path(data),
        format=written,
        numbers=frozenset(one.name for one in every if _has_numbers(one)),
        dates=frozenset(one.name for one in every if written.date_format and _has_texts(one)),
    )


def _has_numbers(attribute: Tabular) -> bool:
    if isinstance(attribute, Listed):
        first = attribute.values[0]
        return isinstance(first, int) and not isinstance(first, bool)
    return isinstance(attribute, Bounded)


def _has_texts(attribute: Tabular) -> bool:
    return isinstance(attribute, Listed) and isinstance(attribute.values[0], str)


def separators_with(path: Path, encoding: str, wanted: Iterable[str]) -> list[str]:
    """Return the signs by which a file's first line has all the wanted names: what to state instead."""
    try:
        with path.open(encoding=encoding, errors="replace") as file:
            line = file.readline(1 << 16)
    except (OSError, LookupError, UnicodeError):
        return []
    names = set(wanted)
    return [sign for sign in (",", ";", "\t", "|") if names <= {one.strip().strip('"') for one in line.split(sign)}]


def check_kind(path: Path) -> None:
    """Refuse a file that is neither text nor Parquet.

    Raises:
        SchemaMismatch: by its name.
    """
    if kind_of(path) not in {*SEPARATORS, ".parquet"} or (kind_of(path) == ".parquet" and path.suffix in COMPRESSED):
        raise SchemaMismatch(f"{path}: expected a .csv, .tsv or .parquet file (.csv.gz and .csv.zst are read, too)")


def _text(value: str) -> str:
    """Return a text in SQL."""
    return "'" + value.replace("'", "''") + "'"


def quoted(column: str) -> str:
    """Return a column's name in SQL."""
    return '"' + column.replace('"', '""') + '"'
