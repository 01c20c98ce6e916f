"""The answer to a statement as a table: for Arrow, pandas, polars and notebooks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.basics import notebook
from dpress.query.all_groups import with_all
from dpress.query.plain_csv import plain
from dpress.query.titled_rows import titled

SUFFIXES = ("_error", "_low", "_high")
"""Behind the name of a number: its standard error, and the ends of its interval."""
SAMPLED = ("_sampling_error", "_population_low", "_population_high")
"""Behind these, where it is stated: the standard error of sampling, and the ends of the interval that holds both."""
SHOWN = 20  # rows in a notebook
FREE = "Nothing is charged: the answer follows from what is released."


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SqlTable:
    """The answer to one statement.

    Args:
        statement: as it was read.
        table: the columns asked for; behind every number its standard error and the ends of its interval, then, where
            any row states an error of sampling, that and the ends of the interval of noise and sampling together.
        numbers: the names of the columns of numbers.
        confidence: of every interval by itself.
        notes: what else is to be known, a sentence each.
        cost: a sentence.
        attributes: whose values groups are by, each in a column of its name.
        left_out: the rows in which a key is left out by `rollup` and the like, by its column: CSV says `all` there.
    """

    statement: str
    table: pa.Table
    numbers: tuple[str, ...]
    confidence: float
    notes: tuple[str, ...]
    cost: str = FREE
    attributes: tuple[Tabular, ...] = ()
    left_out: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"SqlTable({self.table.num_rows} rows: {', '.join(self.table.column_names)})"

    def _repr_html_(self) -> str:
        below = "".join(map(notebook.line, (*self._rest, *self.notes, self.cost)))
        return notebook.table(self.table.column_names, self.rows[:SHOWN], numbers=self.number_places) + below

    @property
    def of_numbers(self) -> frozenset[str]:
        """The names of the columns of numbers, their errors and the ends of their intervals."""
        return frozenset(name for number in self.numbers for name in number_columns(number, sampled=True))

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

        listed = self.table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=self.table.schema)]
        batch = titled(listed[0], self.attributes if titles else ())
        for name, rows in self.left_out.items():
            batch = with_all(batch, self.table.column_names.index(name), rows.combine_chunks())
        written = pa.BufferOutputStream()
        writer.write_csv(plain(batch), written)
        return bytes(written.getvalue().to_pybytes())


def number_columns(name: str, *, sampled: bool = False) -> tuple[str, ...]:
    """Return the columns of a number: its own, those of its error and interval, and those of the error of sampling."""
    return (name, *(name + suffix for suffix in SUFFIXES + SAMPLED * sampled))


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
