"""What a source of rows is: a name, columns, and parts that are read one by one; an engine's own words never leave it.

data -> Source -> parts, in an order that does not change -> Arrow batches.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeVar

import duckdb
import pyarrow as pa

from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.basics.near import meant
from dpress.data.sources.declared import Declared, kind_of

Dialect = Literal["duckdb", "postgres", "spark"]
BATCH_ROWS = 1 << 17
WITHHELD = (
    "{} cannot be read as a table; expected Parquet, or CSV with a header line, double quotes and as many fields on "
    "every line, in UTF-8 and with commas unless [data] states another `encoding`, `separator` or `quote` (the "
    "reader's message is withheld: it may quote rows)"
)
NO_SQL = "{}: engine sql counts Parquet files and tables of DuckDB, PostgreSQL or Spark; use threads"
RENAMED = " (`column` of an attribute reads one by another name)"
RUST = "PanicException"  # what libraries in Rust raise, which is no Exception
T = TypeVar("T")


class Part(Protocol):
    """Some of the rows, read by themselves."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in batches of about BATCH_ROWS; again at every call, and in the same order if `stable`."""
        ...


class Source(Protocol):
    """Where rows are: a base of every source, which states what it knows better than the defaults.

    Every method raises OSError where the rows cannot be read; no message quotes a row.
    """

    __slots__ = ()
    as_written: ClassVar[bool] = False
    """Whether a column's name with `AS_WRITTEN` behind it is the column's text before it is read."""

    if TYPE_CHECKING:  # a field of many, whose default a property would be

        @property
        def name(self) -> str:
            """What to call it in a message."""

    @property
    def stable(self) -> bool:
        """Whether the rows come in the same order whenever they are read."""
        ...

    @property
    def portable(self) -> bool:
        """Whether a part can be pickled and read by another process, or machine, that reaches the same files."""
        ...

    def stamp(self) -> Hashable:
        """Return what changes when the rows do, as far as that can be seen."""
        ...

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        ...

    def parts(self, columns: Sequence[str]) -> Sequence[Part]:
        """Return the parts, with these columns.

        Raises:
            SchemaMismatch: a column is missing.
        """
        ...

    def advice(self, columns: Sequence[str]) -> str:
        """Return how to state that the rows are written, where columns are missing; empty where nothing is seen.

        Args:
            columns: that are needed.
        """
        del columns
        return ""

    def notes(self) -> int:
        """Return how many of the last lines look like notes and no rows; 0 where nothing is seen."""
        return 0

    def row_count(self) -> int | None:
        """Return how many rows there are where that is stated beside them; None where they must be read for it."""
        return None

    def rows_at_most(self) -> int:
        """Return how many rows there are at most, where that is stated or lines tell it; 0 where nothing does."""
        return self.row_count() or 0

    def rows_held(self) -> int:
        """Return how many rows are in memory at once while they are joined, at most; 0 for all others."""
        return 0

    def types(self) -> dict[str, str]:
        """Return the type of every column as it is declared: "DECIMAL(9,2)", "numeric(9,2)"; empty without any."""
        return {}

    def declared(self) -> list[Declared]:
        """Return what is stated of every column; no row is read but a text file's first line, for the names."""
        types = self.types()
        pairs = ((name, types.get(name, "")) for name in self.columns())
        return [Declared(name=name, type=stated, kind=kind_of(stated)) for name, stated in pairs]

    @property
    def dialect(self) -> Dialect | None:
        """Whose SQL reads the rows by itself; None where no engine does."""
        return None

    @property
    def database(self) -> bool:
        """Whether the rows have no order of their own, so that whatever must hold for two readings is asked in SQL."""
        return self.dialect is not None and not self.stable

    @property
    def relation(self) -> str:
        """What stands behind FROM for all rows with all columns; nothing is read to say so."""
        raise NotSupported(NO_SQL.format(self.name))

    def fetch(self, statement: str) -> pa.Table:
        """Return what one statement selects; of a database, all statements and parts see the rows of one moment.

        Args:
            statement: of our own making, in its dialect; names in it are quoted, and no value stands in it.
        """
        del statement
        raise NotSupported(NO_SQL.format(self.name))

    def queried(self, query: str, types: Mapping[str, str]) -> "Source":
        """Return what a query of ours selects from the relation of a database.

        Args:
            query: in the source's dialect.
            types: of every column that it selects, as the engine declares it.
        """
        del query, types
        raise NotSupported(NO_SQL.format(self.name))


def within(query: str) -> str:
    """Return what stands behind FROM for a query's rows; empty for none."""
    return f"({query}) AS dpress_own" if query else ""


def without_quotes(name: str, call: Callable[[], T], line: str = WITHHELD) -> T:
    """Return what the call returns; an engine's error, which may quote the rows, becomes one that does not.

    The original is not even attached as the new error's context.

    Args:
        name: of the rows.
        call: to an engine.
        line: of the error, with {} for the name.
    """
    try:
        return call()
    except (SchemaMismatch, NotSupported, MemoryError):
        raise
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.OutOfMemoryException:
        failure: Exception = MemoryError()
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != RUST:
            raise
        failure = OSError(line.format(name))
    raise failure


def check_columns(name: str, wanted: Sequence[str], present: Sequence[str], *, folds: bool = False) -> None:
    """Refuse a missing column, and name those that are there: public names, as a schema declares them.

    Args:
        name: of the rows.
        wanted: the columns that are needed.
        present: all columns, one of them as often as it occurs.
        folds: whether an engine reads them for which upper and lower case are one.

    Raises:
        SchemaMismatch: a column is missing, or there are several of its name.
    """
    for column in wanted:
        if column not in present:
            its = f"its columns are {', '.join(present)}{meant(column, present)}{RENAMED}"
            raise SchemaMismatch(f"{name} has no column {column!r}; {its}")
        check_once(name, column, present, folds=folds)


def check_once(name: str, column: str, present: Sequence[str], *, folds: bool) -> None:
    """Refuse a column whose name others have, too; see `check_columns`.

    An engine that folds case also calls the second one of a name `name_1`, so that this is none of its own.

    Raises:
        SchemaMismatch: there are several.
    """
    names = [column_name.lower() if folds else column_name for column_name in present]
    sought = column.lower() if folds else column
    if names.count(sought) > 1:
        alike = [repr(column_name) for column_name in present if column_name.lower() == column.lower()]
        case = f" in upper or lower case ({', '.join(alike)})" if present.count(column) == 1 else ""
        raise SchemaMismatch(f"{name} has {names.count(sought)} columns called {column!r}{case}; rename all but one")
    stem, under, number = sought.rpartition("_")
    if folds and under and number.isdigit() and names.count(stem) > 1:
        raise SchemaMismatch(
            f"{name} has {column!r} beside several columns called {column[: len(stem)]!r}; rename these"
        )
