"""Tables from files and data frames as Arrow batches; the only place that opens raw rows.

DuckDB reads CSV and Parquet, narwhals takes pandas, polars, pyarrow and DuckDB objects. What an engine says about the
rows never leaves this module: its messages may quote them.
"""

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pyarrow as pa

from dpress.core.claim import Unit
from dpress.core.errors import SchemaMismatch

BATCH_ROWS = 1 << 17
ROWS_TO_SORT = 1_500_000  # how many rows are sorted at once to bound persons: about half a gigabyte
READERS = {
    ".csv": "read_csv(?, all_varchar = true, header = true)",
    ".parquet": "read_parquet(?)",
}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in a file or in memory, bounded to what one unit may contribute.

    Args:
        data: a CSV or Parquet file, or a pandas, polars, pyarrow or DuckDB table.
        columns: the columns to read.
        unit: where it names a person's column, a person keeps at most `unit.rows` rows: those with the smallest
            SHA-256 of a fresh secret key and the row's content, so that which rows stay depends on that person alone.
    """

    data: Any
    columns: tuple[str, ...]
    unit: Unit

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of about 2^17, in constant memory.

        To bound persons, the persons are split into groups by a keyed hash, one pass over the table for every 1.5
        million rows.

        Raises:
            OSError: the file cannot be read, or it changed while it was read.
            SchemaMismatch: a column is missing, or the table has no rows.
        """
        before = self._stamp()
        rows = 0
        with engine_errors_hidden(self.name), duckdb.connect() as connection:
            for batch in self._read(connection):
                rows += batch.num_rows
                yield batch
        if self._stamp() != before:
            raise OSError(f"{self.name} changed while it was read; nothing was released")
        if not rows:
            raise SchemaMismatch(f"{self.name} has no rows")

    @property
    def path(self) -> Path | None:
        """The file, or None for a table in memory."""
        return Path(self.data) if isinstance(self.data, (str, Path)) else None

    @property
    def name(self) -> str:
        """What to call the table in a message."""
        return str(self.path) if self.path else "the table"

    def _stamp(self) -> tuple[int, ...]:
        """Return what changes when the file changes."""
        if self.path is None:
            return ()
        stat = self.path.stat()
        if not stat.st_size:
            raise OSError(f"{self.name} is empty")
        return stat.st_ino, stat.st_size, stat.st_mtime_ns

    def _read(self, connection: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
        source, values = self._source(connection)
        self._check_columns(connection, source, values)
        for query in self._queries(connection, source, values):
            yield from connection.sql(query, params=values).to_arrow_reader(BATCH_ROWS)

    def _check_columns(self, connection: duckdb.DuckDBPyConnection, source: str, values: list[str]) -> None:
        present = connection.sql(f"SELECT * FROM {source}", params=values).columns  # noqa: S608
        wanted = dict.fromkeys(self.columns + ((self.unit.column,) if self.unit.column else ()))
        for column in wanted:
            if column not in present:
                raise SchemaMismatch(f"{self.name} has no column {column!r}; its columns are {', '.join(present)}")

    def _queries(self, connection: duckdb.DuckDBPyConnection, source: str, values: list[str]) -> list[str]:
        """Return the SQL that yields the rows; where persons are bounded, group after group of persons."""
        names = ", ".join(_quoted(column) for column in self.columns)
        if self.unit.column is None:
            return [f"SELECT {names} FROM {source}"]  # noqa: S608  # names are quoted; the path is a parameter
        person = _quoted(self.unit.column)
        counted = connection.sql(f"SELECT count(*), count({person}) FROM {source}", params=values)  # noqa: S608
        rows, named = counted.fetchall()[0]
        if named < rows:
            raise SchemaMismatch(f"{self.name}: a row has no {self.unit.column!r}; every row needs its person")
        key = secrets.token_hex(16)
        groups = -(-rows // ROWS_TO_SORT)
        group = f"('0x' || sha256('{key}|' || {person})[:8])::UINTEGER % {groups}"
        content = " || '|' || ".join(f"coalesce({_quoted(column)}::VARCHAR, '')" for column in self.columns)
        order = f"sha256('{key}|' || {person} || '|' || {content})"
        return [
            f"SELECT {names} FROM (SELECT * FROM {source} WHERE {group} = {number}) "  # noqa: S608
            f"QUALIFY row_number() OVER (PARTITION BY {person} ORDER BY {order}) <= {self.unit.rows}"
            for number in range(groups)
        ]

    def _source(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, list[str]]:
        """Return the SQL that names the rows, and its parameters."""
        connection.execute("SET preserve_insertion_order = false")
        if self.path is None:
            connection.register("rows", _arrow(self.data))
            return "rows", []
        if self.path.suffix.lower() not in READERS:
            raise SchemaMismatch(f"{self.name}: expected a .csv or .parquet file")
        return READERS[self.path.suffix.lower()], [str(self.path)]


def _arrow(data: Any) -> pa.Table:
    try:
        frame = nw.from_native(data)
    except TypeError:
        raise SchemaMismatch(
            f"data must be a path or a pandas, polars, pyarrow or DuckDB table, got {type(data).__name__}"
        ) from None
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return eager.to_arrow()


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


@contextlib.contextmanager
def engine_errors_hidden(name: str) -> Iterator[None]:
    """Replace an engine's error, which may quote the rows, by one that does not."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException):
        raise OSError(
            f"{name} cannot be read as a table (the reader's message is withheld: it may quote rows)"
        ) from None
