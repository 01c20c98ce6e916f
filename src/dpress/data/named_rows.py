"""Rows that name their person, where a specification drops those that do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.data.kept_rows import Rule, kept_rows, left_out
from dpress.data.sources.open_source import Rows
from dpress.data.specification.file_format import FileFormat

if TYPE_CHECKING:
    from sqlglot import exp

    from dpress.data.sql.coded_rows import Relation


def named_rows(rows: Rows, written: FileFormat, persons: Sequence[str]) -> Rows:
    """Return rows without those that have no person, where the specification says so; as they are otherwise.

    A person's rows are theirs as before.

    Args:
        rows: as they were found.
        written: whose `missing_unit` is "drop" or "reject".
        persons: the columns that name a row's person; none where rows are counted.

    Raises:
        OSError, SchemaMismatch: a database cannot say what its columns are, or has no such column.
    """
    if not persons or written.missing_unit == "reject":
        return rows
    return kept_rows(rows, HasPerson(persons=tuple(persons)))


def nameless(rows: Rows, persons: Sequence[str]) -> int:
    """Return how many rows have no person; see `left_out`.

    Args:
        rows: as they were found, before any is left out for it.
        persons: the columns that name a row's person.
    """
    return left_out(rows, HasPerson(persons=tuple(persons)))


@dataclass(frozen=True, slots=True, kw_only=True)
class HasPerson(Rule):
    """Rows that have a person: no part of their name is null or not a number.

    Args:
        persons: the columns that name a row's person.
    """

    persons: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return self.persons

    def holds(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
        """Return which rows have a person; see `Rule`."""
        keeps: npt.NDArray[np.bool_] = np.ones(batch.num_rows, dtype=bool)
        for name in self.persons:
            column = batch.column(name)
            column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
            keeps &= ~np.asarray(pc.is_null(column, nan_is_null=True))
        return keeps

    def sql(self, relation: "Relation") -> "exp.Expr":
        """Return the SQL of the same; see `Rule`."""
        from sqlglot import exp  # noqa: PLC0415  # a parser of SQL, which few sources need

        from dpress.data.sql.person_rows import person_text  # noqa: PLC0415  # as above

        return exp.not_(person_text(relation, self.persons).is_(exp.null()))
