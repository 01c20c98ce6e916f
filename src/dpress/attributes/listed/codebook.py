"""Codebooks: files that say what the values of an attribute mean to people."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from dpress.core.basics import regular_file
from dpress.core.basics.errors import SchemaMismatch

HEADER = ["value", "label"]


def read(path: Path, name: str, attribute: str, values: Sequence[str]) -> dict[str, str]:
    """Return the label of every value that a codebook describes; its rows about other values are left out.

    The file is a CSV in UTF-8 with the header `value,label`.

    Args:
        path: of the file.
        name: of the file, as the specification has it.
        attribute: whose values they are.
        values: their texts.

    Raises:
        OSError: the file cannot be read.
        SchemaMismatch: it is no codebook of these values; one line says why.
    """
    try:
        file = io.StringIO(regular_file.read(path).decode("utf-8-sig"), newline="")
        header, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (UnicodeDecodeError, csv.Error):
        raise SchemaMismatch(f"{name}: expected a codebook, this is no CSV in UTF-8") from None
    if header != HEADER:
        raise SchemaMismatch(f"{name}: expected a codebook with the header value,label (a comma between them)")
    if ragged := [row[0] for row in rows if len(row) != len(HEADER)]:
        raise SchemaMismatch(f"{name}: expected a value and a label in every row, not so for {ragged[0]!r}")
    listed = [row[0] for row in rows]
    if repeated := [value for value in values if listed.count(value) > 1]:
        raise SchemaMismatch(f"{name}: expected one row a value, found more for {repeated[0]!r}")
    labels = {value: label for value, label in rows if value in values}
    if not labels:
        raise SchemaMismatch(f"{name}: no row is about a value of {attribute}")
    return labels
