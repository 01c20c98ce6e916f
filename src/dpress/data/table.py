"""The rows of a source as they are counted: the wanted columns, and of each person at most so many rows."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from dpress.core import rng as generators
from dpress.core.claim import ROW, Unit
from dpress.core.errors import SchemaMismatch
from dpress.data.contributions import Contributions, contributions
from dpress.data.row_sample import RowSample, row_sample
from dpress.data.sources.files import changed
from dpress.data.sources.memory_rows import MemoryRows
from dpress.data.sources.open_source import Rows, open_source
from dpress.data.sources.source import Part, Source
from dpress.data.sources.spark_frame import SparkFrame


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a source, bounded to what one unit may contribute.

    Args:
        data: what `open_source` takes, or has returned.
        columns: the columns to read.
        unit: where it names a person's column, a person keeps at most `unit.rows` rows: which ones is drawn, and
            depends on that person alone (docs/decisions/0033).
        draw: which rows stay; None until it is drawn.
        since: the stamp of the rows that were drawn from; None for that of every reading's start.
    """

    data: Any
    columns: tuple[str, ...]
    unit: Unit
    draw: RowSample | None = None
    since: Hashable = None

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

    def drawn(self) -> "Table":
        """Return the table with one draw of each person's rows, for as many readings as there will be.

        Rows of a source that has no order of its own are held in memory from then on; Spark draws by what they hold.

        Raises:
            OSError, SchemaMismatch: see `batches`; or a row has no person.
        """
        rows = self._rows
        if self.since is None:
            return replace(self, data=rows, since=rows.source.stamp() or ()).drawn()
        if self.unit.column is None or self.draw is not None:
            return self
        if isinstance(rows.source, SparkFrame) and self.engine == "spark":
            from dpress.data.spark.bounded_frame import bounded_frame  # noqa: PLC0415  # only with Spark

            kept = bounded_frame(rows.source, self.columns, self.unit)
            return replace(self, data=Rows(kept, rows.engine), unit=ROW)
        if not rows.source.stable:
            held = pa.Table.from_batches(list(self._read(self._wanted)))
            return replace(self, data=Rows(MemoryRows(held), rows.engine), since=()).drawn()
        persons = partial(self._read, (self.unit.column,))
        return replace(self, draw=row_sample(persons, self.unit, rng=generators.secure()))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of about 2^17, in constant memory; in the source's order.

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
        table = self.drawn()
        parts = table.source.parts(table.columns)
        if table.draw is not None:
            parts = [_SampledPart(parts=parts, draw=table.draw)]
        return Watched(source=table.source, before=table.since, parts=parts)

    def contributions(self, caps: Sequence[int]) -> Contributions:
        """Return how many rows the unit's persons have, and how many stay under each cap: exact, and so not private.

        Raises:
            OSError, SchemaMismatch: see `batches`.
        """
        column = str(self.unit.column)
        return contributions(partial(self._read, (column,)), column, caps)

    @property
    def _wanted(self) -> tuple[str, ...]:
        """The columns that are read, that of the persons among them."""
        return tuple(dict.fromkeys((*self.columns, *((self.unit.column,) if self.unit.column else ()))))

    def _read(self, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        for part in self.source.parts(columns):
            yield from part.batches()


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
    before: Hashable
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
        if (after := self.source.stamp() or ()) != self.before:
            raise OSError(
                f"{changed(self.before, after) or self.source.name} changed while it was read; nothing was released"
            )
        if not self.rows:
            raise SchemaMismatch(f"{self.source.name} has no rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SampledPart:
    """The rows that stay, as one part."""

    parts: Sequence[Part]
    draw: RowSample

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return self.draw.of(batch for part in self.parts for batch in part.batches())
