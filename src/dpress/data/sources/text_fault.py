"""Why a file of text is no table: the first line that is not written as stated, by its number; no word of it is shown.

path, how it is written -> decoded lines -> fields counted by Python's own reader of CSV, a record in memory at a time.
"""

import contextlib
import csv
import io
import itertools
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpress.data.specification.file_format import UTF_8, joined_names

COMPRESSIONS = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
MOST_FOOTER = 30  # lines that are taken for one
PIECE = 1 << 20  # bytes whose lines are counted at once
MARKED = "utf-8-sig"  # leaves out the mark of UTF-8, if there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a file of text is written.

    Args:
        encoding: by the one name that Python has for it.
        separator: between fields.
        quote: around values; empty for none.
        named: whether the first line has the columns' names.
        strict: whether a quote amid a value that does not begin with one is refused.
        skip: lines in front of those of the names.
        header_rows: lines of names.
        footer: lines behind the rows.
    """

    encoding: str
    separator: str
    quote: str
    named: bool
    strict: bool
    skip: int = 0
    header_rows: int = 1
    footer: int = 0


def header(path: Path, dialect: Dialect) -> list[str]:
    """Return the names in the first line of a file as they are written; none where they cannot be read."""
    try:
        with decoded(path, dialect.encoding) as text:
            _skipped(text, dialect)
            records = filter(None, text_reader(text, dialect.separator, dialect.quote))
            lines = list(itertools.islice(records, dialect.header_rows))
            return joined_names(lines) if len(lines) > 1 else next(iter(lines), [])
    except (OSError, csv.Error, UnicodeError, pa.ArrowException):
        return []


def is_compressed(path: Path) -> bool:
    """Return whether a file begins as those of gzip and zstandard do."""
    with path.open("rb") as file:
        return file.read(4).startswith(COMPRESSIONS)


def lines_of(path: Path) -> int:
    """Return how many lines a file has at most, by the ends that it has most of; of a damaged one what can be read."""
    feeds = returns = 0
    with contextlib.suppress(OSError, pa.ArrowException), pa.input_stream(path) as file:
        while piece := file.read(PIECE):
            feeds, returns = feeds + piece.count(b"\n"), returns + piece.count(b"\r")
    return 1 + max(feeds, returns)


def first_fault(path: Path, dialect: Dialect) -> str:
    """Return what is wrong in which line; empty where no line is seen to be wrong."""
    try:
        with decoded(path, dialect.encoding) as text:
            _skipped(text, dialect)
            fault = next(_faults(text, dialect), "")
        lines = _footer(path, dialect) if fault else 0
    except (OSError, UnicodeError, pa.ArrowException):
        return ""
    stated = f"footer = {lines + dialect.footer} in [data] leaves it out"
    return f"{fault}; if what follows there is no row, {stated}" if lines else fault


def decoded(path: Path, encoding: str) -> io.TextIOWrapper:
    """Return the decoded text of a file, decompressed where its name says so."""
    encoding = MARKED if encoding == UTF_8 else encoding
    return io.TextIOWrapper(pa.input_stream(path), encoding=encoding, errors="replace", newline="")


def _footer(path: Path, dialect: Dialect) -> int:
    """Return how many records at the end have other fields than the header; 0 where others, many, or all have."""
    with decoded(path, dialect.encoding) as text, contextlib.suppress(csv.Error):
        _skipped(text, dialect)
        lines = _without_footer(text, dialect.footer) if dialect.footer else text
        first, last, rows = 0, 0, 0
        for fields in filter(None, text_reader(iter(lines), dialect.separator, dialect.quote)):
            rows += len(fields) == first
            first = first or len(fields)
            if last and len(fields) == first:
                return 0
            last += len(fields) != first
        return last if rows and last <= MOST_FOOTER else 0
    return 0


def _skipped(text: io.TextIOWrapper, dialect: Dialect) -> None:
    """Read the lines in front of those of the names."""
    for _ in range(dialect.skip):
        text.readline()


def _without_footer(text: Iterable[str], footer: int) -> Iterator[str]:
    """Yield the lines in front of the last ones that hold something."""
    held: deque[str] = deque()
    filled = 0
    for line in text:
        held.append(line)
        filled += bool(line.strip())
        while filled > footer:
            first = held.popleft()
            filled -= bool(first.strip())
            yield first


def text_reader(text: Iterator[str], separator: str, quote: str) -> Any:
    """Return Python's reader of records of a text."""
    if not quote:
        return csv.reader(text, delimiter=separator, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(text, delimiter=separator, quotechar=quote, strict=True)


def _faults(text: Iterator[str], dialect: Dialect) -> Iterator[str]:
    """Yield what is wrong, line by line; empty lines are none."""
    record, well = list[str](), _well_quoted(dialect)
    lines = _without_footer(text, dialect.footer) if dialect.footer else text
    noted = (record.append(line) or line for line in lines)  # type: ignore[func-returns-value]
    reader = text_reader(noted, dialect.separator, dialect.quote)
    first: list[str] = []
    while True:
        begin = dialect.skip + reader.line_num + 1
        record.clear()
        try:
            fields = next(reader, None)
        except csv.Error as error:
            yield _unread(str(error), begin, dialect.quote)
            return
        if fields is None:
            return
        if well is not None and well.fullmatch("".join(record)) is None:
            yield f"line {begin:,} has a {dialect.quote} amid a value; write the value in quotes and double it"
        first = first or fields
        if fields and len(fields) != len(first):
            yield _unequal(begin, len(fields), first, dialect)


def _well_quoted(dialect: Dialect) -> re.Pattern[str] | None:
    """Return what a record must match where quotes stand around whole values alone."""
    if not dialect.strict or not dialect.quote:
        return None
    quote, sign = re.escape(dialect.quote), re.escape(dialect.separator)
    value = rf"(?:{quote}(?:[^{quote}]|{quote}{quote})*{quote}|[^{quote}{sign}\r\n]*)"
    return re.compile(rf"{value}(?:{sign}{value})*[\r\n]*")


def _unequal(begin: int, fields: int, first: list[str], dialect: Dialect) -> str:
    sign, what = dialect.separator.replace("\t", "\\t"), "header" if dialect.named else "first line"
    fault = f"line {begin:,} has {_fields(fields)}, the {what} {len(first)}; every line needs as many"
    ends = dialect.named and not first[-1].strip() and fields == len(first) - 1
    return f'{fault} (the header ends in "{sign}": take that away)' if ends else fault


def _fields(number: int) -> str:
    return "1 field" if number == 1 else f"{number} fields"


def _unread(reason: str, begin: int, quote: str) -> str:
    """Return in our words why Python's reader stops at the record that begins on a line; its words hold no value."""
    if "expected after" in reason:
        return f"line {begin:,} has a {quote} amid a value in quotes; double it"
    if "end of data" in reason:
        return f"line {begin:,} has a {quote} that is never closed; close it, or double it within a value in quotes"
    if "limit" in reason:
        return f"line {begin:,} has a value beyond {csv.field_size_limit():,} characters; is a {quote} never closed?"
    return f"line {begin:,} is not written as [data] states"
