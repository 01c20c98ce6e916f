"""Columns of households with what each of their persons is, person by person: slots, and a cell where nobody is.

attribute of persons, slot -> the cell of the person in it -> an integer, or the name of the cell.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpress.data.codec.codec import cells_of
from dpress.data.linked.household_columns import HouseholdColumn
from dpress.data.linked.members import Members, each
from dpress.data.specification.slots import Slot


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotColumn(HouseholdColumn):
    """What an attribute is of the person in a slot.

    Args:
        slot: of the attribute.
    """

    slot: Slot

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of the attribute."""
        return (self.slot.person.read_from,)

    def values(self, below: pa.Table, members: Members) -> pa.Array:
        """Return the values; see `HouseholdColumn`.

        Raises:
            SchemaMismatch: the specification refuses a person's value.
        """
        rows, person = members.row_of(self.slot.number - 1), self.slot.person
        cells = each(below.select(list(self.columns)), lambda batch: cells_of(person, batch)).astype(np.int64)
        here = rows >= 0
        taken = cells[rows[here]]
        for beside in np.unique(taken[taken < 0]).tolist():
            taken[taken == beside] = person.settled(beside)
        if self.slot.counts and person.line is not None:
            numbers = np.full(rows.size, int(person.line.ends[0]) - 1, dtype=np.int64)
            numbers[here] += 1 + taken
            return pa.array(numbers)
        places = np.zeros(rows.size, dtype=np.int64)
        places[here] = taken
        return pa.array(person.labels, type=pa.string()).take(pa.array(places, mask=~here))
