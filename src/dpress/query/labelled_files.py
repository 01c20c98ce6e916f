"""Files of statistics packages and workbooks, with the names of columns and values for people.

batches, attributes -> codes with labels (Stata, SPSS) or texts and a sheet of labels (Excel) -> a file.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.attribute import Tabular
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.extras import load

MOST_CODED = 1 << 12  # labels of a column that is written as codes; texts beyond
MOST_LINES = 1_048_575  # rows of a sheet below its header
LONGEST_NAME = 32  # of a variable in Stata
Batches = Iterable[pa.RecordBatch]


def write_stata(path: Path, batches: Batches, axes: Sequence[Tabular]) -> None:
    """Write a file of Stata; see `_coded`."""
    frame, labels = _coded(batches, axes)
    _package().write_dta(frame, str(path), **labels)


def write_spss(path: Path, batches: Batches, axes: Sequence[Tabular]) -> None:
    """Write a file of SPSS; see `_coded`."""
    frame, labels = _coded(batches, axes)
    _package().write_sav(frame, str(path), **labels)


def write_workbook(path: Path, batches: Batches, axes: Sequence[Tabular]) -> None:
    """Write a workbook: a sheet of rows, and one of the labels of columns and values. No text is taken for a formula.

    Raises:
        NotSupported: there are more rows than a sheet has, or xlsxwriter is not installed.
    """
    library = load("xlsxwriter", extra="excel", need="workbooks need")
    table = pa.Table.from_batches(batches)
    if table.num_rows > MOST_LINES:
        raise NotSupported(f"a sheet has {MOST_LINES:,} rows, got {table.num_rows:,}; use .parquet, .dta or .sav")
    rows, names = [table.column_names, *zip(*table.to_pydict().values(), strict=True)], ("column", "value", "label")
    labels = [names, *((axis.name, "", axis.caption) for axis in axes)]
    labels += [(axis.name, *pair) for axis in axes for pair in _value_labels(axis)]
    options = {"strings_to_formulas": False, "strings_to_urls": False, "default_date_format": "yyyy-mm-dd"}
    with library.Workbook(str(path), options) as book:
        for sheet, lines in ((book.add_worksheet("records"), rows), (book.add_worksheet("labels"), labels)):
            for place, line in enumerate(lines):
                sheet.write_row(place, 0, line)


FORMATS: Mapping[str, Callable[[Path, Batches, Sequence[Tabular]], None]] = {
    ".dta": write_stata,
    ".sav": write_spss,
    ".xlsx": write_workbook,
}


def _package() -> Any:
    return load("pyreadstat", extra="survey", need="files of Stata and SPSS need")


def _coded(batches: Batches, axes: Sequence[Tabular]) -> tuple[Any, dict[str, Any]]:
    """Return the rows as a frame, and the labels of its columns and values as the writers of packages take them.

    A column of listed values is one of codes: of the values themselves where all are whole numbers, else 1, 2, ... in
    the order of the list. A name is changed where it is none of a variable; its label is the attribute's caption.
    """
    polars = load("polars", extra="survey", need="files of Stata and SPSS need")
    table, columns = pa.Table.from_batches(batches), dict[str, pa.ChunkedArray]()
    captions, values = dict[str, str](), dict[str, dict[int, str]]()
    for axis in axes:
        name = _variable(axis.name, columns)
        captions[name], columns[name] = axis.caption, table[axis.name]
        if axis.line is not None or axis.size > MOST_CODED:
            continue
        codes = _codes(axis.labels)
        places = pc.index_in(table[axis.name], pa.array(axis.labels))
        columns[name] = pa.array(codes, type=pa.int32()).take(places)
        values[name] = dict(zip(codes, (caption for _, caption in _value_labels(axis)), strict=True))
    return polars.from_arrow(pa.table(columns)), {"column_labels": captions, "variable_value_labels": values}


def _codes(labels: Sequence[str]) -> list[int]:
    """Return a whole number for every label."""
    whole = all(re.fullmatch(r"0|-?[1-9]\d{0,8}", label) for label in labels)
    return [int(label) for label in labels] if whole else [*range(1, len(labels) + 1)]


def _value_labels(axis: Tabular) -> list[tuple[str, str]]:
    """Return the name of every listed value and its label for people."""
    if axis.line is not None:
        return []
    return [*zip(axis.labels, axis.captions, strict=True)]


def _variable(name: str, taken: Iterable[str]) -> str:
    """Return a name that a variable of a package may have, and that is none of these."""
    whole = re.sub(r"\W", "_", name, flags=re.ASCII)
    whole = (whole if re.match(r"[A-Za-z]", whole) else f"v{whole}")[:LONGEST_NAME]
    lower, number, free = {each.lower() for each in taken}, 2, whole
    while free.lower() in lower:
        free = f"{whole[: LONGEST_NAME - 4]}_{number}"
        number += 1
    return free
