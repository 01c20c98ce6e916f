"""Rows in memory: pandas, polars, pyarrow and DuckDB tables, by narwhals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from dpress.data.sources import frames
from dpress.data.sources.source import BATCH_ROWS, Source, check_columns, without_quotes

NAME = "the table"


@dataclass(frozen=True, slots=True)
class MemoryRows(Source):
    """A table in memory.

    Args:
        data: of a library that narwhals knows.
    """

    data: Any
    stable: ClassVar[bool] = True  # the rows lie where they are
    portable: ClassVar[bool] = False  # they lie in this process

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return NAME

    def stamp(self) -> None:
        """Return nothing: whoever holds the table changes it."""

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        without_quotes(NAME, lambda: frames.frame_of(self.data))  # refuses what is no table
        return without_quotes(NAME, lambda: frames.names_of(self.data))

    def parts(self, columns: Sequence[str]) -> Sequence["MemoryPart"]:
        """Return all rows; what else the table holds is not looked at."""
        frame = without_quotes(NAME, lambda: frames.frame_of(self.data))
        check_columns(NAME, columns, self.columns())
        table = without_quotes(NAME, lambda: frames.arrow(frame, columns))
        return [MemoryPart(table)]


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """The rows as an Arrow table.

    Args:
        table: with the columns that were asked for.
    """

    table: pa.Table

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        yield from self.table.to_batches(max_chunksize=BATCH_ROWS)
