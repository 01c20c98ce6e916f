"""Rows in a sheet of a workbook of Excel or OpenDocument: every cell is read by itself, as the object that it holds.

book.xlsx#Visits -> the sheet's cells -> a line of names and rows -> columns of objects (`codec.objects`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from dpress.attributes.arrow import objects
from dpress.attributes.value import read, written
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.extras import load
from dpress.core.basics.near import meant
from dpress.data.sources import sound
from dpress.data.sources.files import Stamp, stamp_of
from dpress.data.sources.first_bytes import Proposal
from dpress.data.sources.header_place import LINES, HeaderPlace, places_in
from dpress.data.sources.sheet_lines import likely
from dpress.data.sources.source import BATCH_ROWS, RENAMED, Source, check_columns, check_once, without_quotes
from dpress.data.specification.file_format import FileFormat, joined_names

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
READ_SHEET = """
import sys, python_calamine
book = python_calamine.CalamineWorkbook.from_path(sys.argv[1])
sheets = [one.name for one in book.sheets_metadata if one.typ == python_calamine.SheetTypeEnum.WorkSheet]
book.get_sheet_by_name(sys.argv[2] or sheets[0])
"""
WIDE = (
    "{} holds more cells than memory does, or is damaged: every cell from the first to the last that is filled counts; "
    "delete stray cells, or save the sheet as CSV"
)
LINE = (
    "{} cannot be read as a workbook: it is none, damaged or protected by a password (the reader's words are withheld)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A sheet of a workbook.

    Args:
        path: of the workbook.
        sheet: its name; empty for the first of the workbook.
        format: that states whether a line has the columns' names.
    """

    path: Path
    sheet: str
    format: FileFormat

    def columns(self) -> list[str]:
        """Return the names of all columns; one without a name is none.

        Raises:
            OSError: the workbook cannot be read, or not in bounded memory.
            SchemaMismatch: it has no such sheet.
        """
        sound.check(self.path, READ_SHEET, self.sheet, line=WIDE)
        return [name for name in self._table()[0] if name]

    def check(self, wanted: Sequence[str], present: Sequence[str]) -> None:
        """Refuse a missing column; the first line, which might be a row, is shown only where it is declared a header.

        Raises:
            SchemaMismatch: a column is missing, or there are several of its name.
        """
        if self.format.header is not None:
            check_columns(str(self.path), wanted, present)
        for column in wanted:
            if column in present:
                check_once(str(self.path), column, present, folds=False)
            else:
                shown = f"it has {len(present)} columns; does the sheet start with a line of names?"
                raise SchemaMismatch(f"{self.path} has no column {column!r}; {shown}{self.advice(wanted) or RENAMED}")

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order; lines without any cell are none."""
        names, rows = self._table()
        places = [names.index(name) for name in columns]
        for start in range(0, len(rows), BATCH_ROWS):
            lines = rows[start : start + BATCH_ROWS]
            arrays = [objects.column([_cell(row[place]) for row in lines]) for place in places]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Return the names of the columns, empty where one has none, and the rows."""
        lines = without_quotes(str(self.path), self._lines, LINE)
        filled = [line for line in lines if any(cell != "" for cell in line)]
        filled = filled[: max(0, len(filled) - self.format.footer)]
        if self.format.names:
            if filled and len(filled[0]) != len(self.format.names):
                stated = f"[data] header names {len(self.format.names)}"
                raise SchemaMismatch(f"{self.path} has {len(filled[0])} columns; {stated}")
            return list(self.format.names), filled
        rows = self.format.header_rows
        names = [list(map(_name, line)) for line in filled[:rows]]
        return joined_names(names) if len(names) > 1 else next(iter(names), []), filled[rows:]

    def _lines(self) -> list[list[Any]]:
        calamine = loaded()
        with calamine.CalamineWorkbook.from_path(str(self.path)) as book:
            present = [sheet.name for sheet in book.sheets_metadata if sheet.typ == calamine.SheetTypeEnum.WorkSheet]
            name = self.sheet or (present[0] if present else "")
            if name not in present:
                hint = meant(name, present)
                raise SchemaMismatch(f"{self.path} has no sheet {name!r}; it has {', '.join(present)}{hint}")
            sheet = book.get_sheet_by_name(name)
            above: list[list[Any]] = [[] for _ in range(sheet.start[0] if sheet.start else 0)]  # the reader's first
            lines = [*above, *sheet.to_python()]  # line is the first that is filled
            return lines[self.format.skip :]

    def proposal(self) -> Proposal:
        """Return which lines are probably no rows; see `sheet_lines.likely`.

        Raises:
            OSError, SchemaMismatch: see `columns`.
        """
        sound.check(self.path, READ_SHEET, self.sheet, line=WIDE)
        whole = replace(self, format=FileFormat())
        lines = without_quotes(str(self.path), whole._lines, LINE)  # noqa: SLF001  # its own
        return likely([list(map(_name, line)) for line in lines])

    def advice(self, wanted: Sequence[str]) -> str:
        """Return what to state where other lines of the sheet have all the columns that are wanted."""
        whole = replace(self, format=FileFormat())
        lines = without_quotes(str(self.path), whole._lines, LINE)[:LINES]  # noqa: SLF001  # its own
        if not wanted or not (place := next(places_in([list(map(_name, line)) for line in lines], wanted), None)):
            return ""
        first, now = HeaderPlace(*place), HeaderPlace(self.format.skip, self.format.header_rows)
        fields = [f"{name} = {value}" for name, value in first.stated(now)]
        return (
            f"; its line {first.skip + 1} has all the columns with {' and '.join(fields)} in [data]" if fields else ""
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetPart:
    """All rows of a sheet.

    Args:
        rows: of it.
        columns: that are read.
    """

    rows: Sheet
    columns: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Of the workbook."""
        return self.rows.path

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return self.rows.batches(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbookRows(Source):
    """A sheet of one or several workbooks, with the same columns in each.

    Args:
        sheets: in the order in which they are read.
        name: what to call them in a message.
    """

    sheets: tuple[Sheet, ...]
    name: str
    stable: ClassVar[bool] = True  # sheet after sheet, row after row
    portable: ClassVar[bool] = True  # a part is the name of a file and a sheet

    def stamp(self) -> Stamp:
        """Return what changes when a file does."""
        return stamp_of([sheet.path for sheet in self.sheets])

    def columns(self) -> list[str]:
        """Return the names of all columns.

        Raises:
            SchemaMismatch: the workbooks' columns differ.
        """
        self.stamp()
        first = self.sheets[0].columns()
        for sheet in self.sheets[1:]:
            if sheet.columns() != first:
                raise SchemaMismatch(f"{sheet.path} has other columns than {self.sheets[0].path}")
        return first

    def notes(self) -> int:
        """Return how many of the last lines of the last sheet look like notes and no rows, beside those stated."""
        return max(0, self.sheets[-1].proposal().footer - self.sheets[-1].format.footer)

    def advice(self, columns: Sequence[str]) -> str:
        """Return how many lines to leave out, where another line has all the columns."""
        return self.sheets[0].advice(columns)

    def parts(self, columns: Sequence[str]) -> Sequence[SheetPart]:
        """Return the sheets, each read as a whole."""
        self.sheets[0].check(columns, self.columns())
        return [SheetPart(rows=sheet, columns=tuple(columns)) for sheet in self.sheets]


def loaded() -> Any:
    """Return the library that reads workbooks.

    Raises:
        NotSupported: it is not installed.
    """
    return load("python_calamine", extra="excel", need="workbooks need")


def _name(cell: Any) -> str:
    if isinstance(cell, str):
        return cell.strip()
    value = read(cell)
    return "" if value is None else written(value)


def _cell(cell: Any) -> Any:
    return None if cell == "" else cell
