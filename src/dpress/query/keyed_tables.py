"""The tables of a release for Python, found by the names of their attributes and handed to pandas or polars.

answers -> tables by attributes -> Arrow, pandas, polars.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dpress.core.basics import notebook
from dpress.query.counted_rows import counted_of
from dpress.query.measured_columns import measured
from dpress.query.released_file import Part
from dpress.query.table_chart import chart

SHOWN = 10  # rows in a notebook
JOINED = " x "  # names of attributes, in a key that is one text


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KeyedTable:
    """One table of a release, or its records; see the columns in the reference of the release's folder.

    Args:
        names: its attributes, in order.
        part: what makes its rows.
    """

    names: tuple[str, ...]
    part: Part

    def __repr__(self) -> str:
        return f"KeyedTable({_named(self.names)})"

    def _repr_html_(self) -> str:
        rows = self.to_arrow()
        shown = [[_text(value) for value in row.values()] for row in rows.slice(0, SHOWN).to_pylist()]
        numbers = [place for place, dtype in enumerate(rows.schema.types) if dtype != pa.string()]
        rest = rows.num_rows - len(shown)
        below = notebook.line(f"and {rest:,} more rows") if rest else ""
        below += notebook.bars(self.bars)
        if counted := counted_of(rows.schema):
            below += notebook.line(f"Counts are of {counted}.")
        return notebook.table(rows.column_names, shown, numbers=numbers) + below

    @property
    def bars(self) -> list[notebook.Bar]:
        """The first counts with their intervals; none of records, or of several statistics."""
        rows = next(iter(self.part.batches()), None)
        columns = None if rows is None else measured(rows.schema)
        if rows is None or columns is None or columns.value != "count":
            return []
        return [
            notebook.Bar(", ".join(str(row[name]) for name in columns.named), row["count"], row["low"], row["high"])
            for row in rows.slice(0, SHOWN).to_pylist()
            if row["count"] is not None  # as where it is hidden
        ]

    def to_arrow(self) -> pa.Table:
        """Return all rows as an Arrow table."""
        return pa.Table.from_batches(list(self.part.batches())).combine_chunks()

    def to_pandas(self) -> Any:
        """Return all rows as a pandas data frame; needs pandas."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return all rows as a polars data frame; needs polars."""
        import polars as pl  # noqa: PLC0415  # not needed to publish

        return pl.from_arrow(self.to_arrow())

    def plot(self) -> Any:
        """Return an Altair chart with intervals; see `table_chart.chart`.

        Raises:
            NotSupported: Altair is not installed: pip install 'dpress[report]'.
            ValueError: records, or a table that is too large to be drawn.
        """
        return chart(self.to_arrow())


class KeyedTables(Mapping[tuple[str, ...], KeyedTable]):
    """The tables of a release, by the names of their attributes in any order, as a tuple or joined by ` x `."""

    def __init__(self, tables: Iterable[tuple[tuple[str, ...], Part]]) -> None:
        """Keep the first of the tables that have the same attributes.

        Args:
            tables: with the names of their attributes.
        """
        self._tables: dict[frozenset[str], KeyedTable] = {}
        for names, part in tables:
            self._tables.setdefault(frozenset(names), KeyedTable(names=names, part=part))

    def __getitem__(self, names: str | tuple[str, ...]) -> KeyedTable:
        key = self._key(names)
        if frozenset(key) not in self._tables or len(set(key)) < len(key):
            raise KeyError(f"no table of {JOINED.join(map(str, key))}; there are {', '.join(map(_named, self))}")
        return self._tables[frozenset(key)]

    def _key(self, names: str | tuple[str, ...]) -> tuple[str, ...]:
        if not isinstance(names, str):
            return tuple(names)
        return (names,) if frozenset((names,)) in self._tables else tuple(names.split(JOINED))

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (table.names for table in self._tables.values())

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return f"KeyedTables({', '.join(map(_named, self))})"


def _named(names: tuple[str, ...]) -> str:
    return JOINED.join(names)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.6g}"
    return "" if value is None else str(value)
