"""Rows of a DuckDB relation, streamed on its own connection; SQL runs there, too."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import duckdb
import pyarrow as pa

from dpress.data.sources import duckdb_values
from dpress.data.sources.source import Dialect, Source, check_columns, without_quotes

RELATION = "dpress_rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRows(Source):
    """A relation, evaluated anew for every pass.

    Args:
        data: the relation; nothing else uses its connection meanwhile.
        depth: the number of queries that it is made of, for DuckDB 1 takes a name in a query of that name for itself.
    """

    data: duckdb.DuckDBPyRelation
    depth: int = 0
    stable: ClassVar[bool] = False  # an engine chooses the order
    portable: ClassVar[bool] = False  # its connection is in this process
    dialect: ClassVar[Dialect | None] = "duckdb"

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return "the relation"

    @property
    def relation(self) -> str:
        """The name of the relation in a statement of `fetch`."""
        return f"{RELATION}_{self.depth}"

    def queried(self, query: str, types: Mapping[str, str]) -> "RelationRows":
        """Return what a query of ours selects; DuckDB declares its types itself."""
        del types
        data = without_quotes(self.name, lambda: self.data.query(self.relation, query), duckdb_values.LINE)
        return RelationRows(data=data, depth=self.depth + 1)

    def stamp(self) -> None:
        """Return nothing: whoever holds the relation changes it."""

    def types(self) -> dict[str, str]:
        """Return the type of every column as DuckDB declares it."""
        return without_quotes(self.name, lambda: duckdb_values.types(self.data), duckdb_values.LINE)

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return without_quotes(self.name, lambda: list(self.data.columns), duckdb_values.LINE)

    def parts(self, columns: Sequence[str]) -> Sequence["RelationPart"]:
        """Return all rows."""
        check_columns(self.name, columns, self.columns(), folds=True)
        return [RelationPart(rows=self, columns=tuple(columns))]

    def fetch(self, statement: str) -> pa.Table:
        """Return what one statement selects."""
        query = partial(self.data.query, self.relation, statement)
        return without_quotes(self.name, lambda: query().to_arrow_table(), duckdb_values.LINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationPart:
    """All rows of a relation.

    Args:
        rows: of it.
        columns: that are read.
    """

    rows: RelationRows
    columns: tuple[str, ...]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, in constant memory."""
        return duckdb_values.batches(self.rows.data, self.columns, self.rows.name)
