"""Rows in Parquet files: the unit of work is a row group.

DuckDB reads the footers, for a damaged one makes Arrow end the process; Arrow reads the rows, each row group by itself.
"""

import functools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources import duckdb_values
from dpress.data.sources.files import Stamp, escaped, stamp_of
from dpress.data.sources.source import BATCH_ROWS, Dialect, Source, check_columns, without_quotes
from dpress.data.sources.sql_text import text

Footer = tuple[tuple[str, str | None, str | None], ...]  # of every column its path, physical and logical type
PARQUET = ".parquet"
LINE = "{} cannot be read as a Parquet file: it is none, damaged or cut short (the reader's message is withheld)"
ENCRYPTED = b"PARE"  # at the end of such a file
DIGITS = 38  # of DuckDB's longest decimals
GROUP_ROWS = 1 << 20  # small row groups are read together, up to so many rows


@dataclass(frozen=True, slots=True)
class ParquetRows(Source):
    """One or several Parquet files of one schema.

    Args:
        files: in the order in which they are read.
        name: what to call them in a message.
    """

    files: tuple[Path, ...]
    name: str
    stable: ClassVar[bool] = True  # file after file, row after row
    portable: ClassVar[bool] = True  # a part is the name of a file and of its row groups
    dialect: ClassVar[Dialect | None] = "duckdb"

    def stamp(self) -> Stamp:
        """Return what changes when a file does."""
        return stamp_of(self.files)

    def schema(self) -> pa.Schema:
        """Return the columns and their Arrow types.

        Raises:
            SchemaMismatch: the files' schemas differ.
        """
        self.stamp()
        with duckdb.connect() as engine:
            self._footers(engine)
        return without_quotes(str(self.files[0]), lambda: _opened(self.files[0]).schema_arrow, LINE)

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return list(self.schema().names)

    @property
    def relation(self) -> str:
        """DuckDB's reader of these files."""
        files = ", ".join(text(escaped(path)) for path in self.files)
        return f"read_parquet([{files}], hive_partitioning = false)"

    def types(self) -> dict[str, str]:
        """Return the type of every column as DuckDB declares it; Arrow's where DuckDB reads other values."""
        as_arrow = {field.name: str(field.type) for field in self.schema() if _other_in_arrow(field.type)}
        with duckdb.connect() as engine:
            query = f"FROM {self.relation}"
            declared = without_quotes(self.name, lambda: duckdb_values.types(engine.sql(query)), duckdb_values.LINE)
        return declared | as_arrow

    def fetch(self, statement: str) -> pa.Table:
        """Return what one statement selects."""
        with duckdb.connect() as engine:
            engine.execute("SET enable_progress_bar = false")
            return without_quotes(self.name, lambda: engine.sql(statement).to_arrow_table(), duckdb_values.LINE)

    def parts(self, columns: Sequence[str]) -> Sequence["ParquetPart"]:
        """Return the row groups, small ones together."""
        schema = self.schema()
        check_columns(self.name, columns, schema.names)
        texts = tuple(name for name in columns if pa.types.is_string(schema.field(name).type))
        return [
            ParquetPart(path=path, groups=groups, columns=tuple(columns), texts=texts)
            for path in self.files
            for groups in _together(without_quotes(str(path), functools.partial(_group_sizes, path), LINE))
        ]

    def row_count(self) -> int:
        """Return the sum of what the footers state."""
        self.schema()
        return sum(sum(without_quotes(str(path), functools.partial(_group_sizes, path), LINE)) for path in self.files)

    def _footers(self, engine: duckdb.DuckDBPyConnection) -> None:
        """Refuse a file that is none, or that has another schema than the first."""
        first = _footer(engine, self.files[0])
        for path in self.files[1:]:
            footer = _footer(engine, path)
            if footer != first:
                raise SchemaMismatch(f"{path} has another schema than {self.files[0]}{_difference(first, footer)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetPart:
    """Some row groups of a file.

    Args:
        path: of the file.
        groups: the numbers of the row groups.
        columns: that are read.
        texts: those of them that are text: read as dictionaries, so that every text is coded once.
    """

    path: Path
    groups: tuple[int, ...]
    columns: tuple[str, ...]
    texts: tuple[str, ...]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        reader = without_quotes(str(self.path), self._reader, LINE)
        while (batch := without_quotes(str(self.path), functools.partial(next, reader, None), LINE)) is not None:
            yield batch

    def _reader(self) -> Iterator[pa.RecordBatch]:
        file = _opened(self.path, self.texts)
        columns = list(self.columns)
        batches = file.iter_batches(BATCH_ROWS, row_groups=list(self.groups), columns=columns, use_threads=False)
        return (batch.select(columns) for batch in batches)


def _other_in_arrow(kind: pa.DataType) -> bool:
    """Return whether DuckDB reads a type as another: long decimals as floats, durations as integers.

    DuckDB 1 reads nanoseconds with a zone as microseconds.
    """
    if pa.types.is_timestamp(kind):
        return bool(kind.unit == "ns" and kind.tz is not None)
    return bool(pa.types.is_duration(kind) or (pa.types.is_decimal(kind) and kind.precision > DIGITS))


def _opened(path: Path, texts: Sequence[str] = ()) -> pq.ParquetFile:
    return pq.ParquetFile(path, read_dictionary=list(texts), coerce_int96_timestamp_unit="us", pre_buffer=False)


def _group_sizes(path: Path) -> list[int]:
    metadata = _opened(path).metadata
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def _together(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of the row groups that are read together."""
    waiting: list[int] = []
    rows = 0
    for number, size in enumerate(sizes):
        if waiting and rows + size > GROUP_ROWS:
            yield tuple(waiting)
            waiting, rows = [], 0
        waiting.append(number)
        rows += size
    if waiting:
        yield tuple(waiting)


def _check_plain(path: Path) -> None:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - len(ENCRYPTED)))
        if file.read() == ENCRYPTED:
            raise SchemaMismatch(f"{path} is encrypted Parquet; decrypt it first")


def _footer(engine: duckdb.DuckDBPyConnection, path: Path) -> Footer:
    _check_plain(path)
    query = "SELECT name, type, coalesce(logical_type, converted_type) FROM parquet_schema(?) OFFSET 1"
    rows: list[Any] = without_quotes(str(path), lambda: engine.execute(query, [escaped(path)]).fetchall(), LINE)
    return tuple((str(name), kind, logical) for name, kind, logical in rows)


def _difference(first: Footer, other: Footer) -> str:
    """Return in which column two schemas differ first: names and types are public."""
    names = {name for name, *_ in first}
    for column in (*first, *other):
        if (column in first) != (column in other):
            where = "is of another type" if column[0] in names and column[0] in {name for name, *_ in other} else "is"
            return f": the column {column[0]!r} {where}" + (" in only one of them" if where == "is" else "")
    return ": its columns stand in another order"
