"""Generalisation hierarchies: files that say into which groups every value falls, level by level."""

import csv
import io
import itertools
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from dpress.core.basics import regular_file
from dpress.core.basics.errors import SchemaMismatch

Rows = tuple[tuple[str, ...], ...]


def read(path: Path, name: str, attribute: str, values: Sequence[str]) -> Rows:
    """Return the rows `value, level1, ...` of a hierarchy.

    The file is a CSV with the header `value,level1,...`, or as ARX writes it: separated by `;`, without a header.

    Args:
        path: of the file.
        name: of the file, as the specification has it.
        attribute: whose values they are.
        values: each needs a row.

    Raises:
        OSError: the file cannot be read.
        SchemaMismatch: it is no hierarchy over these values; one line says why.
    """
    try:
        rows = _rows(path)
        _check(rows)
    except UnicodeDecodeError:
        raise SchemaMismatch(f"{name}: expected a hierarchy, this is no text in UTF-8") from None
    except ValueError as error:
        raise SchemaMismatch(f"{name}: {error}") from None
    listed = {row[0] for row in rows}
    if (missing := next((value for value in values if value not in listed), None)) is not None:
        raise SchemaMismatch(f"{name}: no row for the value {missing!r} of {attribute}")
    return rows


def _rows(path: Path) -> Rows:
    file = io.StringIO(regular_file.read(path).decode("utf-8-sig"), newline="")
    first = file.readline()
    file.seek(0)
    headed = first.rstrip().startswith(("value,", "value;")) or first.strip() == "value"
    arx = ";" in first and not first.startswith("value,")
    rows = tuple(tuple(row) for row in csv.reader(file, delimiter=";" if arx else ",") if row)
    if not headed and not arx:
        raise ValueError("expected a CSV with the header value,level1,... (or `;` between fields and no header)")
    return rows[headed:]


def _check(rows: Rows) -> None:
    """Refuse rows that are no hierarchy."""
    if not rows or len(rows[0]) < 2:
        raise ValueError("expected a value and at least one level in every row")
    if ragged := [row[0] for row in rows if len(row) != len(rows[0])]:
        raise ValueError(f"expected {len(rows[0]) - 1} levels in every row, as in the first, not so for {ragged[0]!r}")
    parents: dict[str, set[str]] = {}
    for level, names in enumerate(itertools.pairwise(zip(*rows, strict=True))):
        above: dict[str, str] = {}
        for label, parent in zip(*names, strict=True):
            if above.setdefault(label, parent) != parent:
                at = "value" if level == 0 else f"level {level} label"
                raise ValueError(
                    f"the {at} {label!r} lies in both {above[label]!r} and {parent!r} of level {level + 1}"
                )
        for label, parent in above.items():
            parents.setdefault(label, set()).update({parent} - {label})
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        raise ValueError(f"a cycle: {' in '.join(repr(label) for label in error.args[1])}") from None
    if repeated := len(rows) - len({row[0] for row in rows}):
        raise ValueError(f"expected one row a value, {repeated} more were found")
