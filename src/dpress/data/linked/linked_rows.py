"""Two tables as rows of one, joined while they are read: persons with what their household is, or households.

source above, source below -> the columns that are asked for -> `members` -> Arrow batches. Nothing is written.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.linked.household_columns import HouseholdColumn, columns_of, taken
from dpress.data.linked.members import Members, Order, members
from dpress.data.sources.source import BATCH_ROWS, Source, check_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedRows(Source):
    """Two tables that belong together.

    Args:
        above: households.
        below: persons.
        keys: the columns that name a household, in both tables.
        most: persons of a household that count.
        order: which of them come first.
        made: columns of households that persons make, by name.
        whole: attributes for which a row below may be left out, so that it is nobody.
        of_persons: whether a row is a person, and not a household.
    """

    above: Source
    below: Source
    keys: tuple[tuple[str, ...], tuple[str, ...]]
    most: int
    order: tuple[Order, ...]
    made: Mapping[str, HouseholdColumn]
    whole: tuple[Tabular, ...]
    of_persons: bool

    @property
    def name(self) -> str:
        """What to call it in a message."""
        first, second = (self.below, self.above) if self.of_persons else (self.above, self.below)
        return f"{first.name} with {second.name}"

    @property
    def stable(self) -> bool:
        """Whether both tables have an order."""
        return self.above.stable and self.below.stable

    @property
    def portable(self) -> bool:
        """No: the rows are joined in this process."""
        return False

    def stamp(self) -> Hashable:
        """Return what changes when either table does; None where nobody sees that of one of them."""
        stamps = (self.above.stamp(), self.below.stamp())
        return None if None in stamps else stamps

    def row_count(self) -> int | None:
        """Return how many rows there are at most, where that is stated beside those of either table."""
        return (self.below if self.of_persons else self.above).row_count()

    def rows_held(self) -> int:
        """Return how many rows both tables have at most, where that is known: all of them are joined at once."""
        return self.above.rows_at_most() + self.below.rows_at_most()

    def columns(self) -> list[str]:
        """Return the names of all columns, those that persons make first."""
        above, below = self.above.columns(), self.below.columns()
        self._check_apart(above, below)
        return [*self.made, *(dict.fromkeys((*below, *above)) if self.of_persons else above)]

    def parts(self, columns: Sequence[str]) -> Sequence["LinkedPart"]:
        """Return all rows as one part, with these columns."""
        check_columns(self.name, columns, self.columns())
        return [LinkedPart(rows=self, columns=tuple(columns))]

    def read(self, columns: Sequence[str]) -> tuple[pa.Table, pa.Table, Members]:
        """Return both tables with the columns that others need, and which of their rows belong together.

        Args:
            columns: of the rows.

        Raises:
            SchemaMismatch: the table above has no rows, a column is missing, or a row has no key.
        """
        below_has = self.below.columns() if self.of_persons else ()
        made = [self.made[name] for name in columns if name in self.made]
        plain = [name for name in columns if name not in self.made]
        ordering = [name for order in self.order for name in order.columns]
        ordering += [attribute.read_from for attribute in self.whole]
        upper = (*self.keys[0], *(name for name in plain if name not in below_has))
        lower = (*self.keys[1], *ordering, *columns_of(made), *(name for name in plain if name in below_has))
        above, below = _held(self.above, upper), _held(self.below, lower)
        if not above.num_rows:
            raise SchemaMismatch(f"{self.above.name} has no rows to join")
        below = below if below.num_rows else self._nobody(above, below)
        joined = members(above, below, self.keys, most=self.most, order=self.order, whole=self.whole)
        return above, below, joined

    def _nobody(self, above: pa.Table, below: pa.Table) -> pa.Table:
        """Return a table of no persons, with keys of the types that those of households have: no row tells others."""
        types = {second: above.schema.field(first).type for first, second in zip(*self.keys, strict=True)}
        return pa.table({name: pa.nulls(0, types.get(name, pa.null())) for name in below.column_names})

    def _check_apart(self, above: Sequence[str], below: Sequence[str]) -> None:
        """Refuse columns of one name, of which nobody knows which is meant."""
        keys = {first for first, second in zip(*self.keys, strict=True) if first == second}
        both = [name for name in above if name in below and name not in keys] if self.of_persons else []
        both += [name for name in self.made if name in above or (self.of_persons and name in below)]
        if both:
            raise SchemaMismatch(
                f"{self.name}: {both[0]!r} is a column of both, or of one and of `derived`; rename one of them"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPart:
    """All rows of two tables that belong together.

    Args:
        rows: of the tables.
        columns: that are read.
    """

    rows: LinkedRows
    columns: tuple[str, ...]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows: households as they stand above, persons by household and in order."""
        above, below, joined = self.rows.read(self.columns)
        arrays, fields = list[pa.Array](), list[pa.Field]()
        for name in self.columns:
            if (made := self.rows.made.get(name)) is not None:
                values = made.values(below, joined)
                values = values.take(pa.array(joined.of)) if self.rows.of_persons else values
                field = pa.field(name, values.type)
            elif self.rows.of_persons and name in below.column_names:
                values, field = taken(below.column(name), joined.persons), below.schema.field(name)
            else:
                places = joined.households[joined.of] if self.rows.of_persons else joined.households
                values, field = taken(above.column(name), places), above.schema.field(name)
            arrays.append(values)
            fields.append(field)
        table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
        yield from table.to_batches(max_chunksize=BATCH_ROWS)


def _held(source: Source, columns: Sequence[str]) -> pa.Table:
    """Return some columns of all rows, each column in one piece."""
    wanted = list(dict.fromkeys(columns))
    batches = [batch for part in source.parts(wanted) for batch in part.batches()]
    if not batches:
        return pa.table({name: pa.nulls(0) for name in wanted})
    return pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
