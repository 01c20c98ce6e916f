"""The rows of a source as they are counted: the wanted columns, and of each person at most so many rows."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

from dpress.core.claim import Unit
from dpress.core.errors import SchemaMismatch
from dpress.data import objects, persons
from dpress.data.sources.open_source import Rows, open_source
from dpress.data.sources.source import BATCH_ROWS, Part, Source, without_quotes
from dpress.data.sources.spark_frame import SparkFrame
from dpress.data.sources.sql_text import quoted

ROWS_TO_SORT = 1_500_000  # how many rows are sorted at once to bound persons: about half a gigabyte


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """How many rows each person has.

    Args:
        persons: how many there are.
        rows: of them all.
        largest: the most of one.
        kept: how many rows stay where a person keeps at most so many.
    """

    persons: int
    rows: int
    largest: int
    kept: dict[int, int]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a source, bounded to what one unit may contribute.

    Args:
        data: what `open_source` takes, or has returned.
        columns: the columns to read.
        unit: where it names a person's column, a person keeps at most `unit.rows` rows: those with the smallest
            SHA-256 of a fresh secret key and the row's content, so that which rows stay depends on that person alone.
    """

    data: Any
    columns: tuple[str, ...]
    unit: Unit

    @property
    def source(self) -> Source:
        """Where the rows are."""
        return self._rows.source

    @property
    def engine(self) -> str:
        """What counts the rows."""
        return self._rows.engine or ("spark" if isinstance(self.source, SparkFrame) else "threads")

    @property
    def _rows(self) -> Rows:
        return open_source(self.data)

    @property
    def name(self) -> str:
        """What to call the table in a message."""
        return self.source.name

    def present(self) -> list[str]:
        """Return the names of all columns.

        Raises:
            OSError: the rows cannot be read.
        """
        return self.source.columns()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of about 2^17, in constant memory; in their order unless persons are bounded.

        To bound persons, the persons are split into groups by a keyed hash, one pass over the table for every 1.5
        million rows.

        Raises:
            OSError: the rows cannot be read, or they changed while they were read.
            SchemaMismatch: a column is missing, or the table has no rows.
        """
        watched = self.watched()
        for part in watched.parts:
            for batch in part.batches():
                watched.count(batch.num_rows)
                yield batch
        watched.check()

    def watched(self) -> "Watched":
        """Return the parts of the rows, and what sees whether they are the same at the end.

        Raises:
            OSError, SchemaMismatch: see `batches`.
        """
        source = self.source
        before = source.stamp()
        parts = source.parts(self.columns) if self.unit.column is None else [_Bounded(self)]
        return Watched(source=source, before=before, parts=parts)

    def contributions(self, caps: Sequence[int]) -> Contributions:
        """Return how many rows the unit's persons have, and how many stay under each cap: exact, and so not private.

        Raises:
            OSError, SchemaMismatch: see `batches`.
        """
        with duckdb.connect() as connection:
            person = self._person(connection)
            sums = ", ".join(f"coalesce(sum(least(own, {cap})), 0)" for cap in caps)
            each = f"SELECT count(*) AS own FROM rows GROUP BY {person}"  # noqa: S608  # as in `bounded`
            query = f"SELECT count(*), coalesce(sum(own), 0), coalesce(max(own), 0), {sums} FROM ({each})"  # noqa: S608
            row = without_quotes(self.name, lambda: connection.sql(query).fetchall()[0])
            found = [int(one) for one in row]
        return Contributions(
            persons=found[0], rows=found[1], largest=found[2], kept=dict(zip(caps, found[3:], strict=True))
        )

    def bounded(self) -> Iterator[pa.RecordBatch]:
        """Yield at most `unit.rows` rows of each person, group after group of persons."""
        with duckdb.connect() as connection:
            names, person = ", ".join(quoted(column) for column in self.columns), self._person(connection)
            query = f"SELECT count(*), count({person}) FROM rows"  # noqa: S608  # names are quoted
            rows, named = without_quotes(self.name, lambda: connection.sql(query).fetchall()[0])
            if named < rows:
                raise SchemaMismatch(f"{self.name}: a row has no {self.unit.column!r}; every row needs its person")
            key = secrets.token_hex(16)
            groups = max(1, -(-rows // ROWS_TO_SORT))
            group = f"('0x' || sha256('{key}|' || {person})[:8])::UINTEGER % {groups}"
            order = f"sha256('{key}|' || length({person}) || ':' || {person} || {persons.content(self.columns)})"
            for number in range(groups):
                chosen = (
                    f"SELECT {names} FROM (SELECT * FROM rows WHERE {group} = {number}) "  # noqa: S608
                    f"QUALIFY row_number() OVER (PARTITION BY {person} ORDER BY {order}) <= {self.unit.rows}"
                )
                reader = without_quotes(self.name, partial(_reader, connection, chosen))
                while (batch := without_quotes(self.name, partial(next, reader, None))) is not None:
                    yield batch

    def _person(self, connection: duckdb.DuckDBPyConnection) -> str:
        """Register the rows and return the SQL of their person."""
        column = str(self.unit.column)
        parts = self.source.parts(tuple(dict.fromkeys((*self.columns, column))))
        connection.execute("SET enable_progress_bar = false")
        connection.register("rows", _Stream(parts))
        relation = connection.sql("SELECT * FROM rows")
        kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
        return persons.identity(column, kinds[column])


@dataclass(slots=True, kw_only=True)
class Watched:
    """The parts of a table while it is read.

    Args:
        source: of the rows.
        before: its stamp before the first was read.
        parts: of the rows.
        rows: how many were read.
    """

    source: Source
    before: object
    parts: Sequence[Part]
    rows: int = 0

    def count(self, rows: int) -> int:
        """Count rows that were read, and return how many there are by now."""
        self.rows += rows
        return self.rows

    def check(self) -> None:
        """Refuse rows that changed while they were read, and none.

        Raises:
            OSError: they changed.
            SchemaMismatch: there are none.
        """
        if self.source.stamp() != self.before:
            raise OSError(f"{self.source.name} changed while it was read; nothing was released")
        if not self.rows:
            raise SchemaMismatch(f"{self.source.name} has no rows")


@dataclass(frozen=True, slots=True)
class _Bounded:
    """The rows of a table whose persons are bounded, as one part."""

    table: Table

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return self.table.bounded()


@dataclass(frozen=True)
class _Stream:
    """Parts as one table that DuckDB reads, again and again."""

    parts: Sequence[Part]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        batches = (objects.for_engine(pa.Table.from_batches([one])) for part in self.parts for one in part.batches())
        first = next(batches)
        again: Callable[[], Iterator[pa.RecordBatch]] = lambda: (  # noqa: E731
            own for table in _chain(first, batches) for own in table.to_batches()
        )
        return pa.RecordBatchReader.from_batches(first.schema, again()).__arrow_c_stream__(requested_schema)


def _chain(first: pa.Table, rest: Iterator[pa.Table]) -> Iterator[pa.Table]:
    yield first
    for one in rest:
        yield one.cast(first.schema)


def _reader(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    return iter(connection.sql(query).to_arrow_reader(BATCH_ROWS))
