"""Rows in a table or view of a DuckDB database, which is opened for reading only.

shop.duckdb#visits -> a connection for every pass -> batches; SQL runs in the same file.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import duckdb
import pyarrow as pa

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources import duckdb_values, table_name
from dpress.data.sources.files import Stamp, stamp_of
from dpress.data.sources.source import Dialect, Source, check_columns, within, without_quotes

DATABASES = (".duckdb", ".ddb", ".db")
OPENED = (
    "{} cannot be opened as a DuckDB database: it is none, a newer one, or another program writes it (where this one "
    "does, pass connection.table(...))"
)
SQLITE = b"SQLite format 3"
EXPORTED = "save its table as CSV or Parquet, or copy it into a file of DuckDB or a database of PostgreSQL"
TABLES = (
    "SELECT CASE WHEN table_schema = 'main' THEN '' ELSE table_schema || '.' END || table_name "
    "FROM information_schema.tables WHERE table_catalog = current_database() ORDER BY ALL"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckdbRows(Source):
    """A table or view of a DuckDB database.

    Args:
        path: of the database.
        table: its name; the schema's before it, and a point, where that is not `main`.
        query: of ours that selects some of its rows and columns; empty for all.
        joined: what the query joins to it, for messages.
    """

    path: Path
    table: str
    query: str = ""
    joined: str = ""
    stable: ClassVar[bool] = False  # an engine chooses the order
    portable: ClassVar[bool] = False  # a database is opened here
    dialect: ClassVar[Dialect | None] = "duckdb"

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return f"{self.path}#{self.table}{self.joined}"

    @property
    def relation(self) -> str:
        """The name of the table in SQL, or what selects of it."""
        return within(self.query) or table_name.relation(self.table, str(self.path))

    def queried(self, query: str, types: Mapping[str, str]) -> "DuckdbRows":
        """Return what a query of ours selects; DuckDB declares its types itself."""
        del types
        return replace(self, query=query)

    def stamp(self) -> Stamp:
        """Return what changes when the database's files do."""
        beside = self.path.with_name(f"{self.path.name}.wal")
        return stamp_of((self.path, beside) if beside.exists() else (self.path,))

    def types(self) -> dict[str, str]:
        """Return the type of every column as DuckDB declares it."""
        with self._opened() as rows:
            return duckdb_values.types(rows)

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return list(self.types())

    def parts(self, columns: Sequence[str]) -> Sequence["DuckdbPart"]:
        """Return all rows; DuckDB reads them with threads of its own."""
        check_columns(self.name, columns, self.columns(), folds=True)
        return [DuckdbPart(rows=self, columns=tuple(columns))]

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield some columns of all rows."""
        with self._opened() as rows:
            yield from duckdb_values.batches(rows, columns, self.name)

    def fetch(self, statement: str) -> pa.Table:
        """Return what one statement selects."""
        with self._connected() as engine:
            return without_quotes(self.name, lambda: engine.sql(statement).to_arrow_table(), duckdb_values.LINE)

    @contextmanager
    def _opened(self) -> Iterator[duckdb.DuckDBPyRelation]:
        with self._connected() as engine:
            rows = None
            if self.table:
                rows = without_quotes(self.name, lambda: _rows(engine, self.relation), duckdb_values.LINE)
            if rows is None:
                present = [str(name) for (name,) in engine.execute(TABLES).fetchall()]
                raise SchemaMismatch(table_name.missing(self.table, str(self.path), present))
            yield rows

    @contextmanager
    def _connected(self) -> Iterator[duckdb.DuckDBPyConnection]:
        self.stamp()
        _check_kind(self.path)
        with without_quotes(str(self.path), lambda: duckdb.connect(self.path, read_only=True), OPENED) as engine:
            engine.execute("SET enable_progress_bar = false")
            yield engine


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckdbPart:
    """All rows of a table.

    Args:
        rows: of the database.
        columns: that are read.
    """

    rows: DuckdbRows
    columns: tuple[str, ...]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return self.rows.batches(self.columns)


def _check_kind(path: Path) -> None:
    """Refuse a database of SQLite, whose files end alike."""
    with path.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            raise SchemaMismatch(f"{path} is a database of SQLite; {EXPORTED}")


def _rows(engine: duckdb.DuckDBPyConnection, relation: str) -> duckdb.DuckDBPyRelation | None:
    try:
        return engine.sql(f"FROM {relation}")
    except duckdb.CatalogException:
        return None
