"""What a source of rows is: a name, columns, and parts that are read one by one; an engine's own words never leave it.

data -> Source -> parts, in an order that does not change -> Arrow batches.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypeVar, runtime_checkable

import duckdb
import pyarrow as pa

from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.basics.near import meant

BATCH_ROWS = 1 << 17
WITHHELD = (
    "{} cannot be read as a table; expected Parquet, or CSV with a header line, double quotes and as many fields on "
    "every line, in UTF-8 and with commas unless [data] states another `encoding`, `separator` or `quote` (the "
    "reader's message is withheld: it may quote rows)"
)
RUST = "PanicException"  # what libraries in Rust raise, which is no Exception
T = TypeVar("T")


class Part(Protocol):
    """Some of the rows, read by themselves."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in batches of about BATCH_ROWS; again at every call, and in the same order if `stable`."""
        ...


@runtime_checkable
class Source(Protocol):
    """Where rows are.

    Every method raises OSError where the rows cannot be read; no message quotes a row.
    """

    @property
    def name(self) -> str:
        """What to call it in a message."""
        ...

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


@runtime_checkable
class SqlSource(Source, Protocol):
    """Where rows are that an engine of SQL reads by itself."""

    @property
    def dialect(self) -> Literal["duckdb", "postgres", "spark"]:
        """Whose SQL it is."""
        ...

    @property
    def relation(self) -> str:
        """What stands behind FROM for all rows with all columns; nothing is read to say so."""
        ...

    def types(self) -> dict[str, str]:
        """Return the type of every column as the engine declares it: "DECIMAL(9,2)", "numeric(9,2)"."""
        ...

    def fetch(self, statement: str) -> pa.Table:
        """Return what one statement selects; of a database, all statements and parts see the rows of one moment.

        Args:
            statement: of our own making, in its dialect; names in it are quoted, and no value stands in it.
        """
        ...


@runtime_checkable
class Database(SqlSource, Protocol):
    """Where rows are that have no order of their own, so that whatever must hold for two readings is asked in SQL."""

    def queried(self, query: str, types: Mapping[str, str]) -> "Database":
        """Return what a query of ours selects from the relation.

        Args:
            query: in the source's dialect.
            types: of every column that it selects, as the engine declares it.
        """
        ...


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
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != RUST:
            raise
    raise OSError(line.format(name))


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
            its = f"its columns are {', '.join(present)}{meant(column, present)}"
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
        case = " in upper or lower case" if present.count(column) == 1 else ""
        raise SchemaMismatch(f"{name} has {names.count(sought)} columns called {column!r}{case}; rename all but one")
    stem, under, number = sought.rpartition("_")
    if folds and under and number.isdigit() and names.count(stem) > 1:
        raise SchemaMismatch(
            f"{name} has {column!r} beside several columns called {column[: len(stem)]!r}; rename these"
        )
