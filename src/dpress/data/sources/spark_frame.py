"""Rows of a Spark DataFrame, partition after partition as Arrow batches; its driver never holds them all.

Statements are run by its own session, about the DataFrame under a name that nothing else has.
"""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa

from dpress.data.sources.source import BATCH_ROWS, Dialect, Source, check_columns, without_quotes
from dpress.data.sources.spark_failure import collected
from dpress.data.sources.spark_session import quiet

LINE = "{} cannot be read by Spark (its message is withheld: it may quote rows)"
COLUMN = "batch"
COLLATED = re.compile(r"('[^']*'|`[^`]*`)| COLLATE UTF8_BINARY")  # texts and names, in which that word is none
RELATION = f"dpress_{secrets.token_hex(16)}"  # no text of a specification contains it


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkFrame(Source):
    """A DataFrame, evaluated anew for every pass.

    Args:
        frame: of Spark, also of Spark Connect.
    """

    frame: Any
    stable: ClassVar[bool] = False  # Spark chooses the order
    portable: ClassVar[bool] = False  # its session is in this process
    dialect: ClassVar[Dialect | None] = "spark"

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return "the Spark frame"

    @property
    def relation(self) -> str:
        """The name of the frame in a statement of `fetch`."""
        return RELATION

    def types(self) -> dict[str, str]:
        """Return the type of every column as Spark declares it."""
        fields = without_quotes(self.name, lambda: self.frame.schema.fields, LINE)
        return {field.name: field.dataType.simpleString() for field in fields}

    def queried(self, query: str, types: Mapping[str, str]) -> "SparkFrame":
        """Return what a query of ours selects; Spark declares its types itself."""
        del types
        return SparkFrame(frame=without_quotes(self.name, lambda: self._selected(query), LINE))

    def fetch(self, statement: str) -> pa.Table:
        """Return what one statement selects."""
        with quiet():
            return collected(self.name, lambda: self._selected(statement))

    def _selected(self, statement: str) -> Any:
        """Return the frame of a statement, in which Spark takes braces for the names of frames."""
        session = self.frame.sparkSession
        marked = understood(statement, session).replace("{", "{{").replace("}", "}}")
        with quiet():
            return session.sql(marked.replace(RELATION, f"{{{RELATION}}}"), **{RELATION: self.frame})

    def stamp(self) -> None:
        """Return nothing: whoever holds the frame changes it."""

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return list(without_quotes(self.name, lambda: self.frame.columns, LINE))

    def parts(self, columns: Sequence[str]) -> Sequence["SparkRows"]:
        """Return all rows."""
        check_columns(self.name, columns, self.columns(), folds=True)
        return [SparkRows(rows=self, columns=tuple(columns))]


def understood(statement: str, session: Any) -> str:
    """Return a statement of ours as the session's Spark reads it: 3.5 compares texts by bytes and has no word for it.

    Args:
        statement: without quotes in texts and names.
        session: with its `version`.
    """
    return COLLATED.sub(r"\1", statement) if session.version.startswith("3.") else statement


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkRows:
    """All rows of a DataFrame.

    Args:
        rows: of it.
        columns: that are read.
    """

    rows: SparkFrame
    columns: tuple[str, ...]

    @property
    def chosen(self) -> Any:
        """The DataFrame of these columns alone."""
        return self.rows.frame.select([f"`{column.replace('`', '``')}`" for column in self.columns])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, one partition at a time."""
        name, rows = self.rows.name, without_quotes(self.rows.name, self._written, LINE)
        while (row := without_quotes(name, partial(next, rows, None), LINE)) is not None:
            table = without_quotes(name, partial(_read, row[0]), LINE)
            yield from table.to_batches(max_chunksize=BATCH_ROWS)

    def _written(self) -> Iterator[Any]:
        """Return rows of one column, each a batch as a stream of Arrow IPC."""
        with quiet():
            return iter(self.chosen.mapInArrow(_writer(), f"{COLUMN} binary").toLocalIterator())


def _writer() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what writes batches; a function of its own, so that a worker needs no dpress."""
    column = COLUMN

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow  # noqa: ICN001, PLC0415  # on the worker

        for batch in batches:
            out = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(out, batch.schema) as stream:
                stream.write_batch(batch)
            written = pyarrow.array([out.getvalue().to_pybytes()], pyarrow.binary())
            yield pyarrow.record_batch([written], names=[column])

    return write


def _read(written: bytes) -> pa.Table:
    with pa.ipc.open_stream(written) as stream:
        return stream.read_all()
