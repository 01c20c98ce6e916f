"""Tables from files and data frames as Arrow batches; the only place that opens raw rows.

DuckDB reads CSV (see `file_format`) and Parquet, Arrow CSV in other encodings (`transcoded`), narwhals takes pandas,
polars, pyarrow and DuckDB objects. What an engine says about the rows never leaves this module: it may quote them.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from dpress.core.claim import Unit
from dpress.core.errors import NotSupported, SchemaMismatch
from dpress.core.near import meant
from dpress.data import file_format, frames, objects, persons
from dpress.data.file_format import UTF_8, FileFormat, TextFile, quoted
from dpress.data.transcoded import Transcoded, undecodable

BATCH_ROWS = 1 << 17
ROWS_TO_SORT = 1_500_000  # how many rows are sorted at once to bound persons: about half a gigabyte
PARQUET = "read_parquet(?, hive_partitioning = false)"
WITHHELD = (
    "{} cannot be read as a table; expected Parquet, or CSV with a header line, double quotes and as many fields on "
    "every line, in UTF-8 and with commas unless [data] states another `encoding` or `separator` (the reader's message "
    "is withheld: it may quote rows)"
)
T = TypeVar("T")


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
    """Rows in a file or in memory, bounded to what one unit may contribute.

    Args:
        data: a CSV or Parquet file, a file of text with its format, or a pandas, polars, pyarrow or DuckDB table.
        columns: the columns to read.
        unit: where it names a person's column, a person keeps at most `unit.rows` rows: those with the smallest
            SHA-256 of a fresh secret key and the row's content, so that which rows stay depends on that person alone.
        in_order: yield the rows in the table's order; where persons are bounded they have none.
    """

    data: Any
    columns: tuple[str, ...]
    unit: Unit
    in_order: bool = False

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
        for batch in self._rows():
            rows += batch.num_rows
            yield batch
        if self._stamp() != before:
            raise OSError(f"{self.name} changed while it was read; nothing was released")
        if not rows:
            raise SchemaMismatch(f"{self.name} has no rows")

    def present(self) -> list[str]:
        """Return the names of all columns.

        Raises:
            OSError: the file cannot be read.
        """
        self._stamp()
        if self.path is None:
            return without_quotes(self.name, lambda: [str(name) for name in frames.frame_of(self.data).columns])
        with duckdb.connect() as connection:
            source, values = self._source(connection)
            read = f"SELECT * FROM {source}"  # noqa: S608  # a reader of ours
            return self._asked(lambda: list(connection.sql(read, params=values).columns))

    def contributions(self, caps: Sequence[int]) -> Contributions:
        """Return how many rows the unit's persons have, and how many stay under each cap: exact, and so not private.

        Raises:
            OSError, SchemaMismatch: see `batches`.
        """
        self._stamp()
        with duckdb.connect() as connection:
            if self.path is None:
                connection.register("rows", objects.for_engine(self._held()))
            source, values = self._source(connection)
            return self._asked(lambda: self._contributions(connection, source, values, caps))

    def _contributions(
        self, connection: duckdb.DuckDBPyConnection, source: str, values: list[str], caps: Sequence[int]
    ) -> Contributions:
        own, kinds = self._relation(connection, source, values)
        person = persons.identity(str(self.unit.column), kinds[str(self.unit.column)])
        sums = ", ".join(f"coalesce(sum(least(own, {cap})), 0)" for cap in caps)
        each = f"SELECT count(*) AS own FROM {own} GROUP BY {person}"  # noqa: S608  # as in `_queries`
        query = f"SELECT count(*), coalesce(sum(own), 0), coalesce(max(own), 0), {sums} FROM ({each})"  # noqa: S608
        found = [int(one) for one in connection.sql(query, params=values).fetchall()[0]]
        return Contributions(
            persons=found[0], rows=found[1], largest=found[2], kept=dict(zip(caps, found[3:], strict=True))
        )

    @property
    def path(self) -> Path | None:
        """The file, or None for a table in memory."""
        if isinstance(self.data, TextFile):
            return self.data.path
        return Path(self.data) if isinstance(self.data, (str, Path)) else None

    @property
    def text(self) -> TextFile | None:
        """The file with its format, where it is one of text."""
        found = file_format.opened(self.data, FileFormat(), ())
        return found if isinstance(found, TextFile) else None

    @property
    def name(self) -> str:
        """What to call the table in a message."""
        return str(self.path) if self.path else "the table"

    def _stamp(self) -> tuple[int, ...]:
        """Return what changes when the file changes."""
        if self.path is None:
            return ()
        with self.path.open("rb") as file:  # says so if there is no such file, or no permission
            stat = os.fstat(file.fileno())
        if not stat.st_size:
            raise OSError(f"{self.name} is empty")
        return stat.st_ino, stat.st_size, stat.st_mtime_ns

    def _rows(self) -> Iterator[pa.RecordBatch]:
        table = self._held() if self.path is None else None
        if table is not None and self.unit.column is None:
            yield from table.to_batches(max_chunksize=BATCH_ROWS)
            return
        with duckdb.connect() as connection:
            if table is not None:
                connection.register("rows", objects.for_engine(table))
            yield from self._batches(connection)

    def _asked(self, call: Callable[[], T]) -> T:
        """Return what an engine answers about a file; a refusal quotes no row, and names what is probably wrong."""
        try:
            return without_quotes(self.name, call)
        except OSError as error:
            failed = str(error)
        if (text := self.text) is not None and undecodable(text.path, text.codec):  # raised with nothing attached
            raise OSError(
                f"{self.name} has bytes that are no text in {text.format.encoding}; state its `encoding` in [data]"
            )
        raise OSError(failed + self._separator_hint())

    def _batches(self, connection: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
        source, values = self._source(connection)
        for query in self._asked(lambda: self._queries(connection, source, values)):
            reader = self._asked(partial(_reader, connection, query, values))
            while (batch := self._asked(partial(next, reader, None))) is not None:
                yield batch

    @property
    def _wanted(self) -> tuple[str, ...]:
        """The columns that are read, that of the persons among them."""
        return tuple(dict.fromkeys((*self.columns, *((self.unit.column,) if self.unit.column else ()))))

    def _held(self) -> pa.Table:
        """Return the wanted columns of a table in memory; what else it holds is not looked at."""
        frame = without_quotes(self.name, lambda: frames.frame_of(self.data))
        self._check_columns(without_quotes(self.name, lambda: [str(name) for name in frame.columns]))
        return without_quotes(self.name, lambda: frames.arrow(frame, self._wanted))

    def _check_columns(self, present: list[str]) -> None:
        """Refuse a missing column; the first line of a file of text is shown only where it is declared a header."""
        text = self.text
        declared = text is None or text.format.header is not None
        for column in self._wanted:
            if column.removesuffix(file_format.AS_WRITTEN) not in present:
                shown = f"its columns are {', '.join(present)}{meant(column, present)}"
                shown = shown if declared else self._hint(len(present))
                raise SchemaMismatch(f"{self.name} has no column {column!r}; {shown}")

    def _hint(self, columns: int) -> str:
        """Return what is probably wrong with how a file of text is read."""
        sign = self.text.separator if self.text else ""
        asked = f"it has {columns} columns; does it start with a header line, separated by {sign!r}?"
        return asked + self._separator_hint()

    def _separator_hint(self) -> str:
        """Return the separator to state, where the first line of a file of text has all columns by another one."""
        if (text := self.text) is None:
            return ""
        wanted = [column.removesuffix(file_format.AS_WRITTEN) for column in self._wanted]
        found = file_format.separators_with(text.path, text.format.encoding, wanted)
        if not found or text.separator in found:
            return ""
        sign = found[0].replace("\t", "\\t")
        return f'; its first line has all the columns with separator = "{sign}" in [data]'

    def _queries(self, connection: duckdb.DuckDBPyConnection, source: str, values: list[str]) -> list[str]:
        """Return the SQL that yields the rows; where persons are bounded, group after group of persons."""
        source, kinds = self._relation(connection, source, values)
        names = ", ".join(quoted(column) for column in self.columns)
        if self.unit.column is None:
            return [f"SELECT {names} FROM {source}"]  # noqa: S608  # names are quoted; the path is a parameter
        person = persons.identity(self.unit.column, kinds[self.unit.column])
        counted = connection.sql(f"SELECT count(*), count({person}) FROM {source}", params=values)  # noqa: S608
        rows, named = counted.fetchall()[0]
        if named < rows:
            raise SchemaMismatch(f"{self.name}: a row has no {self.unit.column!r}; every row needs its person")
        key = secrets.token_hex(16)
        groups = max(1, -(-rows // ROWS_TO_SORT))
        group = f"('0x' || sha256('{key}|' || {person})[:8])::UINTEGER % {groups}"
        order = f"sha256('{key}|' || length({person}) || ':' || {person} || {persons.content(self.columns)})"
        return [
            f"SELECT {names} FROM (SELECT * FROM {source} WHERE {group} = {number}) "  # noqa: S608
            f"QUALIFY row_number() OVER (PARTITION BY {person} ORDER BY {order}) <= {self.unit.rows}"
            for number in range(groups)
        ]

    def _relation(
        self, connection: duckdb.DuckDBPyConnection, source: str, values: list[str]
    ) -> tuple[str, dict[str, str]]:
        """Return the SQL of the rows, values read as their format says, and the types of its columns."""
        relation = connection.sql(f"SELECT * FROM {source}", params=values)  # noqa: S608  # a reader, or our own view
        self._check_columns(relation.columns)
        if (text := self.text) is not None:
            if text.format.names and len(text.format.names) != len(relation.columns):
                raise SchemaMismatch(
                    f"{self.name} has {len(relation.columns)} columns; [data] header names {len(text.format.names)}"
                )
            source = text.read(source, self._wanted)
            relation = connection.sql(f"SELECT * FROM {source}", params=values)  # noqa: S608  # as above
        return source, dict(zip(relation.columns, map(str, relation.types), strict=True))

    def _source(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, list[str]]:
        """Return the SQL that names the rows, and its parameters."""
        connection.execute(f"SET preserve_insertion_order = {str(self.in_order).lower()}")
        connection.execute("SET enable_progress_bar = false")  # an interactive session would have it on standard output
        if self.path is None:
            return "rows", []
        file_format.check_kind(self.path)
        if set("*?[") & set(str(self.path)):
            raise SchemaMismatch(f"{self.name}: the characters * ? [ in a path would name several files; rename it")
        if (text := self.text) is not None and text.codec == UTF_8:
            return text.reader(), [str(self.path)]
        if text is not None:
            own = Transcoded(path=text.path, encoding=text.codec, separator=text.separator, names=text.format.names)
            self._asked(lambda: connection.register("rows", own))
            return "rows", []
        self._check_decimals(connection)
        return PARQUET, [str(self.path)]

    def _check_decimals(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Refuse decimals of so many digits that they would be read as floats."""
        query = "SELECT name, precision FROM parquet_schema(?) WHERE precision > 38 AND duckdb_type = 'DOUBLE'"
        found = without_quotes(self.name, lambda: connection.execute(query, [str(self.path)]).fetchall())
        for column, precision in found:
            if column in self._wanted:
                raise SchemaMismatch(
                    f"{self.name}: the column {column!r} holds decimals of {precision} digits; at most 38 are read"
                )


def _reader(connection: duckdb.DuckDBPyConnection, query: str, values: list[str]) -> Iterator[pa.RecordBatch]:
    return iter(connection.sql(query, params=values).to_arrow_reader(BATCH_ROWS))


def without_quotes(name: str, call: Callable[[], T]) -> T:
    """Return what the call returns; an engine's error, which may quote the rows, becomes one that does not.

    The original is not even attached as the new error's context.
    """
    try:
        return call()
    except (SchemaMismatch, NotSupported, MemoryError):
        raise
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except Exception:  # noqa: BLE001, S110  # whatever an engine raises may quote the rows
        pass
    raise OSError(WITHHELD.format(name))
