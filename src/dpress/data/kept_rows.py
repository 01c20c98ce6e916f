"""Rows of which a public rule holds: the others are left out before anything else is done.

rows, rule -> those that stay -> the same source to whoever counts them; of a database by WHERE, of all else batch by
batch as they are read. Whether a row stays depends on that row alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.data.sources.open_source import Rows
from dpress.data.sources.source import Dialect, Part, Source, check_columns, within
from dpress.data.sources.wrapped import Wrapped

if TYPE_CHECKING:
    from sqlglot import exp

    from dpress.data.sql.coded_rows import Relation


class Rule:
    """Which rows stay: a base of every rule. It can be pickled."""

    __slots__ = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        raise NotImplementedError

    @property
    def attributes(self) -> tuple[Tabular, ...]:
        """The attributes that code its columns, where some do."""
        return ()

    def holds(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Return of which rows it holds, shape (rows,).

        Raises:
            SchemaMismatch: a column's type has no such values.
        """
        raise NotImplementedError

    def sql(self, relation: "Relation") -> "exp.Expr":
        """Return the SQL of the same, never NULL.

        Raises:
            NotSupported: the engine cannot say it of a column of this type.
        """
        raise NotImplementedError


def kept_rows(rows: Rows, rule: Rule) -> Rows:
    """Return the rows of which a rule holds.

    Raises:
        OSError, SchemaMismatch: a database cannot say what its columns are, or has no such column.
        NotSupported: it cannot say the rule of a column of this type.
    """
    source = rows.source
    if not source.database:
        return Rows(KeptRows(source=source, rule=rule), rows.engine)
    check_columns(source.name, rule.columns, source.columns(), folds=source.dialect != "postgres")
    return Rows(source.queried(_query(source, rule), source.types()), rows.engine)


def left_out(rows: Rows, rule: Rule) -> int:
    """Return of how many rows a rule does not hold: exact, and so for whoever holds them alone.

    Args:
        rows: as they were found, before any is left out.
        rule: which rows stay.

    Raises:
        OSError, SchemaMismatch: the rows cannot be read.
    """
    batches = (batch for part in rows.source.parts(list(rule.columns)) for batch in part.batches())
    return sum(batch.num_rows - int(rule.holds(batch).sum()) for batch in batches)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRows(Wrapped):
    """Rows of files or in memory of which a rule holds.

    Args:
        source: of all rows.
        rule: which rows stay.
    """

    rule: Rule

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return f"{self.source.name}, where its `where` holds,"

    @property
    def as_written(self) -> bool:  # type: ignore[override]  # as the rows have it
        """Whether texts are at hand before they are read."""
        return self.source.as_written

    @property
    def dialect(self) -> Dialect | None:
        """Whose SQL reads the rows."""
        return self.source.dialect

    @property
    def relation(self) -> str:
        """What stands behind FROM for the rows that stay."""
        return within(_query(self.source, self.rule))

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return self.source.columns()

    def types(self) -> dict[str, str]:
        """Return the type of every column."""
        return self.source.types()

    def fetch(self, statement: str) -> pa.Table:
        """Return what one statement selects."""
        return self.source.fetch(statement)

    def parts(self, columns: Sequence[str]) -> Sequence[Part]:
        """Return the parts of the rows, with these columns."""
        read = list(dict.fromkeys((*columns, *self.rule.columns)))
        return [KeptPart(part=part, columns=tuple(columns), rule=self.rule) for part in self.source.parts(read)]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPart:
    """A part of the rows of which a rule holds.

    Args:
        part: of all rows.
        columns: that are read.
        rule: which rows stay.
    """

    part: Part
    columns: tuple[str, ...]
    rule: Rule

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that stay; a batch may be left with none."""
        for batch in self.part.batches():
            yield batch.filter(pa.array(self.rule.holds(batch))).select(list(self.columns))


def _query(source: Source, rule: Rule) -> str:
    """Return a query of the rows that stay, in the source's dialect."""
    from sqlglot import exp  # noqa: PLC0415  # a parser of SQL, which few sources need

    from dpress.data.sql.coded_rows import relation_of  # noqa: PLC0415  # as above

    relation = relation_of(source)
    return exp.select("*").from_(relation.source).where(rule.sql(relation)).sql(dialect=relation.dialect)
