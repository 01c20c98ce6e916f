"""Why a file of text is no table: the first line that is not written as stated, by its number; no word of it is shown.

path, how it is written -> decoded lines -> fields counted by Python's own reader of CSV, a record in memory at a time.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpress.data.specification.file_format import UTF_8

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
    """

    encoding: str
    separator: str
    quote: str
    named: bool
    strict: bool


def header(path: Path, dialect: Dialect) -> list[str]:
    """Return the names in the first line of a file as they are written; none where they cannot be read."""
    try:
        with _text(path, dialect) as text:
            return next(_reader(text, dialect), [])
    except (OSError, csv.Error, UnicodeError, pa.ArrowException):
        return []


def first_fault(path: Path, dialect: Dialect) -> str:
    """Return what is wrong in which line; empty where no line is seen to be wrong."""
    try:
        with _text(path, dialect) as text:
            return next(_faults(text, dialect), "")
    except (OSError, UnicodeError, pa.ArrowException):
        return ""


def _text(path: Path, dialect: Dialect) -> io.TextIOWrapper:
    """Return the decoded text of a file, decompressed where its name says so."""
    encoding = MARKED if dialect.encoding == UTF_8 else dialect.encoding
    return io.TextIOWrapper(pa.input_stream(path), encoding=encoding, errors="replace", newline="")


def _reader(text: Iterator[str], dialect: Dialect) -> Any:
    if not dialect.quote:
        return csv.reader(text, delimiter=dialect.separator, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(text, delimiter=dialect.separator, quotechar=dialect.quote, strict=True)


def _faults(text: Iterator[str], dialect: Dialect) -> Iterator[str]:
    """Yield what is wrong, line by line; empty lines are none."""
    record, well = list[str](), _well_quoted(dialect)
    reader = _reader((record.append(line) or line for line in text), dialect)  # type: ignore[func-returns-value]
    first: list[str] = []
    while True:
        begin = reader.line_num + 1
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
