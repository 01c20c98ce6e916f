"""The rows of a source as they are counted: the wanted columns, and of each person at most so many rows."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from dpress.core.basics import rng as generators
from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.errors import NoRows
from dpress.data.persons.contributions import Contributions, contributions
from dpress.data.persons.row_sample import RowSample, row_sample
from dpress.data.sources.files import changed
from dpress.data.sources.memory_rows import MemoryRows
from dpress.data.sources.open_source import Rows, open_source
from dpress.data.sources.source import Part, Source


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
        """What counts the rows: as it was asked for, or the engine that has them."""
        if self._rows.engine is not None or not self.source.database:
            return self._rows.engine or "threads"
        return "spark" if self.source.dialect == "spark" else "sql"

    @property
    def in_sql(self) -> bool:
        """Whether a statement may count the rows, by the engine that has them or DuckDB: no other one is asked for."""
        if self._rows.engine == "spark":
            return self.source.database
        return self._rows.engine != "threads" and self.source.dialect is not None

    @property
    def _rows(self) -> Rows:
        return open_source(self.data, unit=self.unit.columns)

    @property
    def name(self) -> str:
        """What to call the table in a message."""
        return self.source.name

    def settled(self) -> "Table":
        """Return the table with the stamp that its rows have now, to which those of all its readings are compared.

        Raises:
            OSError: the rows cannot be read.
        """
        rows = self._rows
        return self if self.since is not None else replace(self, data=rows, since=rows.source.stamp() or ())

    def drawn(self) -> "Table":
        """Return the table with one draw of each person's rows, for as many readings as there will be.

        A database draws by a keyed hash; rows of another source that has no order of its own are held in memory.

        Raises:
            OSError, SchemaMismatch: see `batches`; or a row has no person.
        """
        table = self.settled()
        rows, persons = table._rows, self.unit.columns  # noqa: SLF001  # its own
        if not persons or table.draw is not None:
            return table
        if rows.source.database:
            from dpress.data.sql.person_rows import bounded_query  # noqa: PLC0415  # only databases need it

            kinds = rows.source.types()
            query = bounded_query(rows.source, self.unit, self.columns)
            bounded = rows.source.queried(query, {name: kinds[name] for name in self.columns})
            return replace(table, data=Rows(bounded, rows.engine), unit=ROW)
        if not rows.source.stable:
            wanted = tuple(dict.fromkeys((*self.columns, *persons)))
            table = replace(table, data=table.held(wanted), since=())
        who = partial(table._read, persons)  # noqa: SLF001  # its own
        return replace(table, draw=row_sample(who, self.unit, rng=generators.secure()))

    def held(self, columns: tuple[str, ...]) -> Rows:
        """Return some columns of all rows in memory: read once, they have an order, which a draw for each rests on.

        Raises:
            OSError, SchemaMismatch: see `batches`.
        """
        table = replace(self.settled(), columns=columns, unit=ROW, draw=None)
        return Rows(MemoryRows(pa.Table.from_batches(list(table.batches()))), self._rows.engine)

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
        return Watched(table=table, parts=parts)

    def check_unchanged(self) -> None:
        """Refuse rows that are others than when the table was settled.

        Raises:
            OSError: they changed.
        """
        if (after := self.source.stamp() or ()) != self.since:
            name = changed(self.since, after) or self.name
            raise OSError(f"{name} changed while it was read; nothing was released")

    def contributions(self, caps: Sequence[int]) -> Contributions:
        """Return how many rows the unit's persons have, and how many stay under each cap: exact, and so not private.

        Raises:
            OSError, SchemaMismatch: see `batches`.
        """
        return contributions(partial(self._read, self.unit.columns), self.unit.columns, caps)

    def _read(self, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        for part in self.source.parts(columns):
            yield from part.batches()


@dataclass(slots=True, kw_only=True)
class Watched:
    """The parts of a table while it is read.

    Args:
        table: of the rows.
        parts: of the rows.
        rows: how many were read.
    """

    table: Table
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
            NoRows: there are none.
        """
        self.table.check_unchanged()
        if not self.rows:
            raise NoRows(f"{self.table.name} has no rows to count")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SampledPart:
    """The rows that stay, as one part."""

    parts: Sequence[Part]
    draw: RowSample

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        return self.draw.of(batch for part in self.parts for batch in part.batches())
