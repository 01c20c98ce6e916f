"""Rows that come as a stream of Arrow batches: lazy frames, which are evaluated for every pass, and readers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import pyarrow as pa

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.source import BATCH_ROWS, Source, check_columns, without_quotes

LINE = "{} cannot be read (its library's message is withheld: it may quote rows)"
Stream = Callable[[list[str]], Iterator[pa.RecordBatch]]


@dataclass(slots=True)
class Passes:
    """What was read so far.

    Args:
        begun: whether somebody has begun to read.
        rows: of the first whole pass.
    """

    begun: bool = False
    rows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRows(Source):
    """A stream of batches.

    Args:
        name: what to call it in a message.
        present: the names of all columns.
        stream: from the wanted columns to batches that hold these, and perhaps others.
        once: whether it gives its rows only once.
        passes: over it.
    """

    name: str
    present: tuple[str, ...]
    stream: Stream
    once: bool
    passes: Passes = field(default_factory=Passes)
    stable: ClassVar[bool] = False  # its library chooses the order
    portable: ClassVar[bool] = False  # it is in this process

    def stamp(self) -> None:
        """Return nothing: passes with other numbers of rows are refused."""

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return list(self.present)

    def parts(self, columns: Sequence[str]) -> Sequence["StreamPart"]:
        """Return all rows.

        Raises:
            SchemaMismatch: a column is missing, or the rows were read and cannot be read again.
        """
        check_columns(self.name, columns, self.present)
        if self.once and self.passes.begun:
            raise SchemaMismatch(
                f"{self.name} gives its rows only once, and they are needed again; pass a table, a dataset or a file"
            )
        return [StreamPart(rows=self, columns=tuple(columns))]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPart:
    """All rows of a stream.

    Args:
        rows: of it.
        columns: that are read.
    """

    rows: StreamRows
    columns: tuple[str, ...]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in constant memory.

        Raises:
            OSError: its library cannot read them, or there are not as many as in an earlier pass.
            SchemaMismatch: see `StreamRows.parts`.
        """
        name, passes, columns = self.rows.name, self.rows.passes, list(self.columns)
        self.rows.parts(columns)
        passes.begun, rows = True, 0
        stream = without_quotes(name, lambda: iter(self.rows.stream(columns)), LINE)
        while (batch := without_quotes(name, partial(next, stream, None), LINE)) is not None:
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield batch.slice(start, BATCH_ROWS).select(columns)
            rows += batch.num_rows
        if passes.rows not in (None, rows):
            raise OSError(f"{name} had another number of rows when it was read before; nothing was released")
        passes.rows = rows
