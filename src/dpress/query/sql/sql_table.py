"""The answer to a statement as a table: for Arrow, pandas, polars and notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.basics import notebook
from dpress.query.plain_csv import plain

SUFFIXES = ("_error", "_low", "_high")
"""Behind the name of a number: its standard error, and the ends of its interval."""
SHOWN = 20  # rows in a notebook
FREE = "Nothing is charged: the answer follows from what is released."


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SqlTable:
    """The answer to one statement.

    Args:
        statement: as it was read.
        table: the columns asked for; behind every number its standard error and the ends of its interval.
        numbers: the names of the columns of numbers.
        confidence: of every interval by itself.
        notes: what else is to be known, a sentence each.
        cost: a sentence.
        attributes: whose values groups are by, each in a column of its name.
    """

    statement: str
    table: pa.Table
    numbers: tuple[str, ...]
    confidence: float
    notes: tuple[str, ...]
    cost: str = FREE
    attributes: tuple[Tabular, ...] = ()

    def __repr__(self) -> str:
        return f"SqlTable({self.table.num_rows} rows: {', '.join(self.table.column_names)})"

    def _repr_html_(self) -> str:
        below = "".join(map(notebook.line, (*self._rest, *self.notes, self.cost)))
        return notebook.table(self.table.column_names, self.rows[:SHOWN], numbers=self.number_places) + below

    @property
    def of_numbers(self) -> frozenset[str]:
        """The names of the columns of numbers, their errors and the ends of their intervals."""
        return frozenset(name for number in self.numbers for name in number_columns(number))

    @property
    def number_places(self) -> list[int]:
        """The places of these columns, from 0."""
        return [place for place, name in enumerate(self.table.column_names) if name in self.of_numbers]

    @property
    def _rest(self) -> tuple[str, ...]:
        more = self.table.num_rows - SHOWN
        return (f"and {more:,} more rows",) if more > 0 else ()

    @property
    def rows(self) -> list[list[str]]:
        """The rows as texts, `-` where nothing is known."""
        return [[_text(value) for value in row.values()] for row in self.table.to_pylist()]

    def to_arrow(self) -> pa.Table:
        """Return the Arrow table."""
        return self.table

    def to_pandas(self) -> Any:
        """Return a pandas data frame; needs pandas."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """Return a polars data frame; needs polars."""
        import polars as pl  # noqa: PLC0415  # not needed to ask

        return pl.from_arrow(self.table)

    def to_csv(self, *, titles: bool = False) -> bytes:
        """Return the table as CSV, in which no text is a formula to a spreadsheet; see `plain_csv`.

        Args:
            titles: whether titles, with units, stand in the place of names of attributes, and labels in that of values.
        """
        import pyarrow.csv as writer  # noqa: PLC0415  # slow to load, and seldom asked for

        table = self._titled if titles else self.table
        batches = [plain(batch) for batch in table.to_batches()]
        written = pa.BufferOutputStream()
        writer.write_csv(pa.Table.from_batches(batches, schema=None if batches else table.schema), written)
        return bytes(written.getvalue().to_pybytes())

    @property
    def _titled(self) -> pa.Table:
        by_name = {attribute.name: attribute for attribute in self.attributes}
        captions = {name: by_name[name].caption if name in by_name else name for name in self.table.column_names}
        heads = [*captions.values()]
        names = [caption if heads.count(caption) == 1 else name for name, caption in captions.items()]
        columns = [
            _labelled(by_name[name], values) if name in by_name and by_name[name].labelled else values
            for name, values in zip(self.table.column_names, self.table.columns, strict=True)
        ]
        return pa.Table.from_arrays(columns, names=names)


def _labelled(attribute: Tabular, values: pa.ChunkedArray) -> pa.Array:
    """Return the values of a column by their labels, as texts."""
    labels = dict(zip(attribute.labels, attribute.captions, strict=True))
    return pa.array([None if value is None else labels.get(str(value), str(value)) for value in values.to_pylist()])


def number_columns(name: str) -> tuple[str, ...]:
    """Return the columns of a number: its own, its standard error's, and those of the ends of its interval."""
    return (name, *(name + suffix for suffix in SUFFIXES))


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def column(values: Sequence[Any]) -> pa.Array:
    """Return the values of a key as Arrow has them: all of one type, or as texts."""
    types = {type(value) for value in values if value is not None}
    if len(types) > 1 and not types <= {int, float}:
        return pa.array([None if value is None else str(value) for value in values], type=pa.string())
    return pa.array(values) if types else pa.array(values, type=pa.string())
