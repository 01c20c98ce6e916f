"""Codebooks of a whole table: which values its columns have, and what they mean. Read from a file that has no rows."""

import csv
import io
from pathlib import Path

from dpress.core.basics import regular_file
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.declared import Declared
from dpress.data.sources.open_source import open_source
from dpress.data.sources.survey_rows import SURVEYS
from dpress.data.specification.file_format import kind_of

HEADER = ["column", "value", "label"]


def read(path: str) -> list[Declared]:
    """Return what a codebook says of columns.

    A file of SPSS, Stata or SAS is one by its dictionary: its labels are the values. Or a CSV in UTF-8 with the header
    `column,value,label` and a row for each value of each column, in order; an empty label is none.

    Raises:
        OSError: the file cannot be read.
        SchemaMismatch: it is no codebook.
    """
    if kind_of(Path(path)) in SURVEYS:
        return [column for column in open_source(path).source.declared() if column.labels]
    try:
        file = io.StringIO(regular_file.read(path).decode("utf-8-sig"), newline="")
        header, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (UnicodeDecodeError, csv.Error):
        raise SchemaMismatch(f"{path}: expected a codebook, this is no CSV in UTF-8") from None
    if header != HEADER or any(len(row) != len(HEADER) for row in rows):
        raise SchemaMismatch(
            f"{path}: expected a codebook, a CSV with the header {','.join(HEADER)} and three fields a row"
        )
    listed: dict[str, list[str]] = {}
    for name, value, label in rows:
        listed.setdefault(name, []).append(f"{value} = {label}" if label else value)
    return [Declared(name=name, kind="categorical", labels=tuple(lines)) for name, lines in listed.items()]
