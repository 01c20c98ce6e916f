"""The rows of a case, the cells that they belong to, and rows as every source and library holds them."""

import csv
import datetime as dt
import gzip
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from tests.matrix.axes import Case, kind_of
from tests.matrix.columns import COLUMNS, COST, MISSING, OTHER, Column

BESIDE = {"texts": COLUMNS["texts"], "integer": COLUMNS["integer"], "edges": COLUMNS["edges"]}
DROPPED = "dropped"
THIRD = ("a", "b")  # values of a third attribute
MONTH_DAYS = (dt.date(2024, 1, 20), dt.date(2024, 2, 20))  # of the two periods that are published
LEFT_OUT = 1  # the cell whose rows a condition over the first attribute leaves out
OUTSIDE_WHERE = ({"kept": "no", "score": 3.0}, {"kept": "yes", "score": 1.0}, {"kept": None, "score": 2.0})
EVERY = 3  # rows, beside which one more is left out
Row = Mapping[str, Any]
Like = Mapping[str, Sequence[Any]]  # columns by name, with values of their types


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A table, and what is true of it.

    Args:
        rows: a mapping of columns to values each.
        cells: of the first attribute, row by row: the place of a cell, the name of one that stands behind them, or
            `DROPPED`.
        capped: whether a person has more rows than stay, so that nobody knows which are counted.
        outside: rows of which the condition of the release does not hold, which nothing counts.
    """

    rows: tuple[Row, ...]
    cells: tuple[int | str, ...]
    capped: bool = False
    outside: tuple[Row, ...] = ()

    @property
    def truth(self) -> Counter[int | str]:
        """How many rows lie in every cell, without those that are dropped."""
        return Counter(one for one in self.cells if one != DROPPED)

    def more(self, row: Row, cell: int | str) -> "Rows":
        """Return the table with one row more, the last."""
        return replace(self, rows=(*self.rows, row), cells=(*self.cells, cell))

    def without_last(self, *, persons: bool) -> "Rows":
        """Return the table without its last row; of persons without all rows of the last row's, wherever they are."""
        last = self.rows[-1]["uid"] if persons else None
        kept = [place for place, row in enumerate(self.rows[:-1]) if last is None or row["uid"] != last]
        rows, cells = (tuple(values[place] for place in kept) for values in (self.rows, self.cells))
        return replace(self, rows=rows, cells=cells)


def rows_of(case: Case) -> Rows:
    """Return the rows of a case."""
    column, size = COLUMNS[str(case["column"])], int(str(case["rows"]))
    persons = {"row": 1, "person": 1, "person of three": 3}[str(case["unit"])]
    rows, cells = [], []
    for number in range(size):
        value, cell = value_of(case, column, number)
        heavy = case["contents"] == "heavy" and number % 2
        person = 0 if heavy else 1 + number // persons
        rows.append(row_of(case, column, value, number) | {"uid": f"p{person}"})
        cells.append(cell)
    capped = case["contents"] == "heavy" and size > 1
    return left_out(case, column, Rows(rows=tuple(rows), cells=tuple(cells), capped=capped))


def left_out(case: Case, column: Column, table: Rows) -> Rows:
    """Return a table with rows that are not of the release, some of the same persons.

    Over the first attribute these are its strays without a cell, too, for what is unknown is not fulfilled.
    """
    if case["where"] == "none":
        return table
    if case["where"] == "another column":
        beyond = [row | OUTSIDE_WHERE[place % 3] for place, row in enumerate(table.rows[::EVERY])]
        return replace(table, outside=tuple(beyond))
    name = str(case["named"])
    unknown = [
        cell in (DROPPED, LEFT_OUT) or (row.get(name) is None and column.discovered)
        for row, cell in zip(table.rows, table.cells, strict=True)
    ]
    kept = [place for place, gone in enumerate(unknown) if not gone]
    beyond = [row for row, gone in zip(table.rows, unknown, strict=True) if gone]
    beyond += [row | {name: column.inside[LEFT_OUT]} for row in table.rows[::EVERY]]
    rows, cells = (tuple(values[place] for place in kept) for values in (table.rows, table.cells))
    return replace(table, rows=rows, cells=cells, outside=tuple(beyond))


def value_of(case: Case, column: Column, number: int) -> tuple[Any, int | str]:
    """Return a row's value of the first attribute, and its cell."""
    if case["contents"] == "stray" and number % 5 == 3:
        return stray_of(case, column, missing=number % 2 == 0)
    place = (
        0 if case["contents"] == "one cell" and number % 10 else (number * number + number // 3) % len(column.inside)
    )
    place = 0 if case["where"] == "an attribute" and place == LEFT_OUT else place
    return column.inside[place], place


def stray_of(case: Case, column: Column, *, missing: bool) -> tuple[Any, int | str]:
    """Return a value that no cell is listed for, and where it is counted: a missing one, or one outside."""
    if missing:
        place = column.attribute["kind"] == "location"
        where = {"cell": MISSING, "drop": DROPPED, "reject": DROPPED}[str(case["missing"])]
        none = (None, None) if place else None
        return none, OTHER if column.discovered else where
    if column.stray is None:
        return column.inside[0], 0
    within = OTHER if column.listed else column.clamped
    return column.stray, within if case["outside"] == "cell" else DROPPED


def row_of(case: Case, column: Column, value: Any, number: int) -> dict[str, Any]:
    """Return a row, whose other attributes follow from its number."""
    row = dict(zip(column.columns, value, strict=True)) if column.columns else {str(case["named"]): value}
    if case["beside"] != "none":
        row["beside"] = beside_of(case).inside[number % 3]
    if kind_of(case) == "statistics":
        row["cost"] = COST.inside[(number * 7 + number // 5) % 5]
    if has_third(case):
        row["third"] = THIRD[number // 2 % 2]
    if case["where"] == "another column":
        row |= {"kept": "yes", "score": 2.0 + number % 2}
    if case["periods"] != "none":
        row["day"] = MONTH_DAYS[number % 2]
    return row


def has_third(case: Case) -> bool:
    """Return whether there is a third attribute, `third`."""
    return case["asked"] == "pairs of three" or (case["asked"] == "distinct" and case["grouped"] != "no")


def weighs(case: Case) -> bool:
    """Return whether the cost is read once more, as `heavy`: as a weight, or as what a cost is related to in groups."""
    return case["asked"] == "sampling weight" or (case["asked"] == "relations" and case["grouped"] != "no")


def beside_of(case: Case) -> Column:
    """Return the second attribute's column."""
    return BESIDE[str(case["beside"])]


def as_text(value: Any) -> str:
    """Return a value as a file of text has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else value if isinstance(value, str) else str(value)


def as_csv(rows: Sequence[Row], like: Like) -> bytes:
    """Return rows as a file of text."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
    writer.writerow(like)
    writer.writerows([as_text(row[name]) for name in like] for row in rows)
    return out.getvalue().encode()


def as_arrow(rows: Sequence[Row], like: Like) -> pa.Table:
    """Return rows as an Arrow table, whose types follow from the columns and not from the rows."""
    return pa.table({name: pa.array([*own, *(row[name] for row in rows)])[len(own) :] for name, own in like.items()})


def as_pandas(rows: Sequence[Row], like: Like) -> pd.DataFrame:
    """Return rows as pandas infers them."""
    return pd.DataFrame({name: pd.Series([row[name] for row in rows]) for name in like})


def as_polars(rows: Sequence[Row], like: Like) -> pl.DataFrame:
    """Return rows as a polars frame."""
    return pl.from_arrow(as_arrow(rows, like))


def in_folder(rows: Sequence[Row], like: Like, folder: Path) -> Path:
    """Write rows as two files of a folder."""
    place, table = folder / "parts", as_arrow(rows, like)
    place.mkdir()
    half = table.num_rows // 2
    pq.write_table(table.slice(0, half), place / "a.parquet")
    pq.write_table(table.slice(half), place / "b.parquet")
    return place


def in_database(rows: Sequence[Row], like: Like, folder: Path) -> str:
    """Write rows as a table of a DuckDB file."""
    held = as_arrow(rows, like)  # DuckDB finds it by its name
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.register("held", held)
        connection.execute("CREATE TABLE people AS FROM held")
    return f"{folder / 'rows.duckdb'}#people"


def in_workbook(rows: Sequence[Row], like: Like, folder: Path) -> Path:
    """Write rows as the first sheet of a workbook."""
    import xlsxwriter

    with xlsxwriter.Workbook(folder / "rows.xlsx", {"strings_to_formulas": False, "strings_to_urls": False}) as book:
        sheet, dates = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
        for place, name in enumerate(like):
            sheet.write_string(0, place, name)
            for line, row in enumerate(rows, start=1):
                if isinstance(row[name], dt.date):
                    sheet.write_datetime(line, place, row[name], dates)
                else:
                    sheet.write(line, place, row[name])
    return folder / "rows.xlsx"


def written(name: str, data: bytes, folder: Path) -> Path:
    """Write a file."""
    (folder / name).write_bytes(data)
    return folder / name


def _parquet(rows: Sequence[Row], like: Like, folder: Path) -> Path:
    pq.write_table(as_arrow(rows, like), folder / "rows.parquet")
    return folder / "rows.parquet"


def _arrow(rows: Sequence[Row], like: Like, folder: Path) -> Path:
    table = as_arrow(rows, like)
    with pa.OSFile(str(folder / "rows.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    return folder / "rows.arrow"


def _relation(rows: Sequence[Row], like: Like, folder: Path) -> Any:
    del folder
    return duckdb.connect().from_arrow(as_arrow(rows, like))


SOURCES: Mapping[str, Callable[[Sequence[Row], Sequence[str], Path], Any]] = {
    "pandas": lambda rows, like, _: as_pandas(rows, like),
    "polars": lambda rows, like, _: as_polars(rows, like),
    "pyarrow": lambda rows, like, _: as_arrow(rows, like),
    "lazy": lambda rows, like, _: as_polars(rows, like).lazy(),
    "dataset": lambda rows, like, _: ds.dataset(as_arrow(rows, like)),
    "duckdb": _relation,
    "csv": lambda rows, like, folder: written("rows.csv", as_csv(rows, like), folder),
    "gzip": lambda rows, like, folder: written("rows.csv.gz", gzip.compress(as_csv(rows, like)), folder),
    "parquet": _parquet,
    "arrow": _arrow,
    "folder": in_folder,
    "database": in_database,
    "workbook": in_workbook,
}


def like_of(case: Case) -> Like:
    """Return values of every column, by its name, from which its type is known whatever the rows."""
    column = COLUMNS[str(case["column"])]
    found = dict(zip(column.columns, zip(*column.inside, strict=True), strict=True)) if column.columns else {}
    found |= {} if column.columns else {str(case["named"]): column.inside}
    found |= {"uid": ("p1",)} | ({} if case["beside"] == "none" else {"beside": beside_of(case).inside})
    found |= {"cost": COST.inside} if kind_of(case) == "statistics" else {}
    found |= {"kept": ("yes",), "score": (2.0,)} if case["where"] == "another column" else {}
    found |= {"third": THIRD} if has_third(case) else {}
    return found | ({"day": MONTH_DAYS} if case["periods"] != "none" else {})


def mixed(table: Rows) -> list[Row]:
    """Return all rows in the order in which a source has them: those that are left out among the others."""
    rows = list(table.rows)
    for place, row in enumerate(table.outside):
        rows.insert(min(place * (EVERY + 1), len(rows)), row)
    return rows


def held(case: Case, table: Rows, folder: Path) -> Any:
    """Return a case's rows as its source or library holds them.

    Args:
        case: that names the source.
        table: the rows.
        folder: a new one, for files.
    """
    folder.mkdir(parents=True)
    return SOURCES[str(case["source"])](mixed(table), like_of(case), folder)
