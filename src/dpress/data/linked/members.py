"""Which rows below belong to which row above, and which of them count: the first `most` of each in a public order.

keys of both tables -> numbers of households, by comparison -> persons sorted by household and order -> their places.
What becomes of a household follows from its own rows alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.arrow.objects import is_ours
from dpress.attributes.attribute import Tabular
from dpress.attributes.policy import DROP, MISSING, OUTSIDE
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec.codec import cells_of, numbers_of
from dpress.data.kept_rows import Rule
from dpress.data.persons.person_columns import persons_of
from dpress.data.persons.person_groups import PIECE
from dpress.data.persons.person_index import Numbers, PersonIndex, fresh_key

Ranks = npt.NDArray[np.float64]
LAST = np.inf  # of what has no value


class Order:
    """What comes first among the persons of a household: a base of every such rule."""

    __slots__ = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        raise NotImplementedError

    def ranks(self, batch: pa.RecordBatch) -> Ranks:
        """Return a number of every row, shape (rows,): the smallest comes first."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionFirst(Order):
    """Rows of which a rule holds come first.

    Args:
        rule: of rows below.
    """

    rule: Rule

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rule."""
        return self.rule.columns

    def ranks(self, batch: pa.RecordBatch) -> Ranks:
        """Return 0 where it holds, else 1."""
        return np.where(self.rule.holds(batch), 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByColumn(Order):
    """Rows in the order of a column's numbers, or of an attribute's cells; those without come last.

    Args:
        column: of the rows below.
        attribute: that codes it; None for a column that none reads.
        falling: whether the largest comes first.
    """

    column: str
    attribute: Tabular | None
    falling: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def ranks(self, batch: pa.RecordBatch) -> Ranks:
        """Return the number or the cell of every row; see `Order`."""
        if self.attribute is None:
            numbers = numbers_of(self.column, batch)
        else:
            cells = cells_of(self.attribute, batch).astype(np.float64)
            numbers = np.where(cells < 0, np.nan, cells)
        return np.where(np.isnan(numbers), LAST, -numbers if self.falling else numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Members:
    """The rows that count. Secret like these.

    Args:
        households: of every household its row above, shape (households,).
        persons: rows below, by household and in order, shape (persons,).
        of: the household of each, shape (persons,).
        slots: the place of each among those of its household, from 0, shape (persons,).
        strays: rows below without a row above.
        repeated: rows above whose key another has before them.
        dropped: rows below that are nobody, as a value of theirs has no cell and its attribute says to leave it out.
        sizes: rows below of every household, those that do not count among them, shape (households,).
    """

    households: Numbers
    persons: Numbers
    of: Numbers
    slots: Numbers
    strays: int
    repeated: int
    dropped: int
    sizes: Numbers

    def row_of(self, slot: int) -> Numbers:
        """Return the row below of every household's person in a place, -1 where there is none."""
        rows = np.full(self.households.size, -1, dtype=np.int64)
        here = self.slots == slot
        rows[self.of[here]] = self.persons[here]
        return rows


def members(
    above: pa.Table,
    below: pa.Table,
    keys: tuple[Sequence[str], Sequence[str]],
    *,
    most: int,
    order: Sequence[Order],
    whole: Sequence[Tabular] = (),
) -> Members:
    """Return which rows of two tables count.

    A key that stands twice above counts once, as its first row has it. Rows below without one above do not count.

    Args:
        above: the table above, with its key.
        below: the table below, with its key and what `order` and `whole` read.
        keys: the columns of both keys.
        most: persons of a household.
        order: what comes first; of equals the row that stands first.
        whole: attributes whose specification may leave a row below out, so that it is no person of its household.

    Raises:
        SchemaMismatch: a row has no key, or the keys are of two types.
    """
    _check_types(above, below, keys)
    index = PersonIndex(key=fresh_key())
    upper = _numbers(index, above, keys[0])
    number = index.persons
    lower = _numbers(index, below, keys[1])
    households = _first_places(upper, number)
    inside = lower < number
    keeps = inside if not whole else inside & each(below, lambda batch: _whole(whole, batch)).astype(np.bool_)
    rows = np.flatnonzero(keeps)
    ranks = [each(below, rule.ranks)[rows] for rule in reversed(order)]
    rows = rows[np.lexsort((*ranks, lower[rows]))]
    of = lower[rows]
    starts = np.searchsorted(of, np.arange(number))
    slots = np.arange(rows.size) - starts[of]
    counts = slots < most
    return Members(
        households=households,
        persons=rows[counts],
        of=of[counts],
        slots=slots[counts],
        strays=int((~inside).sum()),
        repeated=upper.size - number,
        dropped=int((inside & ~keeps).sum()),
        sizes=np.bincount(of, minlength=number),
    )


def each(table: pa.Table, call: Callable[[pa.RecordBatch], npt.NDArray[np.generic]]) -> npt.NDArray[np.generic]:
    """Return what a function of batches returns of a table, one array for all of its rows."""
    parts = [call(batch) for batch in table.to_batches() if batch.num_rows]
    return np.concatenate(parts) if parts else np.zeros(0)


def _numbers(index: PersonIndex, table: pa.Table, columns: Sequence[str]) -> Numbers:
    numbers = each(table.select(list(columns)), lambda batch: _pieces(index, batch, columns))
    return numbers.astype(np.int64)


def _pieces(index: PersonIndex, batch: pa.RecordBatch, columns: Sequence[str]) -> Numbers:
    starts = range(0, batch.num_rows, PIECE)
    return np.concatenate([index.numbers(persons_of(columns, batch.slice(start, PIECE))) for start in starts])


def _first_places(numbers: Numbers, number: int) -> Numbers:
    places = np.empty(number, dtype=np.int64)
    places[numbers[::-1]] = np.arange(numbers.size)[::-1]
    return places


def _whole(attributes: Sequence[Tabular], batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    keeps = np.ones(batch.num_rows, dtype=np.bool_)
    for attribute in attributes:
        cells, policies = cells_of(attribute, batch), attribute.policies
        for beside, policy in ((OUTSIDE, policies.outside), (MISSING, policies.null)):
            keeps &= (cells != beside) | (policy != DROP)
    return keeps


def _check_types(above: pa.Table, below: pa.Table, keys: tuple[Sequence[str], Sequence[str]]) -> None:
    """Refuse keys that are not compared by what they are read as: a text is no number."""
    for first, second in zip(*keys, strict=True):
        kinds = [_kind(table.schema.field(name).type) for table, name in ((above, first), (below, second))]
        if kinds[0] != kinds[1]:
            raise SchemaMismatch(
                f"the key {first!r} of the table above is {kinds[0]}, and {second!r} of the one below {kinds[1]}: "
                "convert one of them"
            )


def _kind(arrow_type: pa.DataType) -> str:
    kind = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
    if pa.types.is_integer(kind):
        return "integer"
    views = pa.types.is_string_view(kind) or pa.types.is_large_string(kind) or pa.types.is_string(kind)
    return "text" if views or is_ours(kind) else str(kind)
