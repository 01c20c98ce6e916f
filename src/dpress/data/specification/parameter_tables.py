"""Files of totals that parameters of a release name: a CSV of two columns, a code and its total."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpress.core.basics import regular_file
from dpress.core.basics.errors import SchemaMismatch

ENDING = ".csv"
TOTAL = "total"


def with_tables(parameters: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return parameters in whose tables the files that are named stand as what they hold: numbers by code.

    Args:
        parameters: of a release; `{"invariants": {"state": "totals.csv"}}` names a file.
        folder: beside which a file is looked up.

    Raises:
        OSError: a file cannot be read.
        SchemaMismatch: it is no such file; one line that names it and its first fault.
    """
    return {
        name: {key: _of(key, each, folder) for key, each in value.items()} if isinstance(value, Mapping) else value
        for name, value in parameters.items()
    }


def _of(key: str, value: Any, folder: Path) -> Any:
    if not isinstance(value, str) or not value.endswith(ENDING):
        return value
    try:
        return _numbers(regular_file.read(folder / value).decode("utf-8-sig"), key)
    except UnicodeDecodeError:
        raise SchemaMismatch(f"{value}: expected a CSV of two columns, this is no text in UTF-8") from None
    except ValueError as error:
        raise SchemaMismatch(f"{value}: {error}") from None


def _numbers(text: str, key: str) -> dict[str, int]:
    """Return the numbers of the column `total` by the texts of the one that is called as the key."""
    header, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row] or [[]]
    if header != [key, TOTAL]:
        raise ValueError(f"expected the columns {key},{TOTAL}, got {','.join(header) or 'none'}")
    numbers: dict[str, int] = {}
    for line, row in enumerate(rows, 2):
        if len(row) != 2 or not row[1].strip().isdecimal():
            raise ValueError(f"row {line}: expected a code and a whole number >= 0")
        if row[0] in numbers:
            raise ValueError(f"row {line}: the code {row[0]!r} stands twice")
        numbers[row[0]] = int(row[1])
    return numbers
