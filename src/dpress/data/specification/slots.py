"""Attributes of households with a slot for every person: `age` of persons is `age_1`, `age_2`, ... of households.

two [[table]], attributes of both -> those of households, how many persons there are, those of every person's slot.
Public; a slot that nobody is in has a cell of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpress.attributes.attribute import Attribute, Tabular
from dpress.attributes.listed.attribute import Categorical, Ordinal
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.linked_table import LinkedTables

if TYPE_CHECKING:  # which has slots in its schema
    from dpress.data.specification.spec import Spec

NOBODY = "nobody"
"""The cell of a slot that nobody is in; of integers it is the one below the bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """An attribute of the person in a slot.

    Args:
        person: the attribute, as it is of persons.
        number: of the slot, from 1.
    """

    person: Tabular
    number: int

    @property
    def name(self) -> str:
        """What it is called among households."""
        return f"{self.person.name}_{self.number}"

    @property
    def counts(self) -> bool:
        """Whether it is an integer, and stays one."""
        return self.person.numbers is not None and self.person.unbinned and not self.person.extra

    @property
    def attribute(self) -> Tabular:
        """The attribute of households."""
        if self.counts and self.person.line is not None:
            low, end = (int(edge) for edge in self.person.line.ends)
            return Integer(name=self.name, title=self.title, bounds=(low - 1, end - 1))
        kind = Ordinal if self.person.ordered else Categorical
        return kind(name=self.name, title=self.title, values=self.person.labels, null=NOBODY)

    @property
    def title(self) -> str:
        """For people."""
        return f"{self.person.caption}, person {self.number}"

    @property
    def nobody(self) -> int:
        """The cell of a slot that nobody is in: before those of persons, or behind them."""
        return 0 if self.counts else self.person.size

    @property
    def first(self) -> int:
        """The cell of the first value of persons."""
        return 1 if self.counts else 0


def slots(attributes: Sequence[Attribute], tables: LinkedTables) -> tuple[Slot, ...]:
    """Return the attributes of every slot, slot after slot.

    Args:
        attributes: of both tables; those of persons that are none of these have no slots.
        tables: that belong together.

    Raises:
        SchemaMismatch: an attribute of persons is none that a slot has.
    """
    persons = list(_persons(attributes, tables))
    return tuple(Slot(person=person, number=number) for number in range(1, tables.most + 1) for person in persons)


def slots_of(spec: "Spec", tables: LinkedTables) -> tuple[Slot, ...]:
    """Return the attributes of every slot of a specification's records; see `slots`."""
    names = spec.release.named
    return slots([each for each in spec.attribute if not names or each.name in names], tables)


def with_slots(attributes: Sequence[Attribute], tables: LinkedTables) -> tuple[Attribute, ...]:
    """Return the attributes of households, with the number of persons and those of every slot; see `slots`."""
    size = Integer(name=tables.below.name, bounds=(0, tables.most))
    above = [attribute for attribute in attributes if attribute.name not in tables.below.attributes]
    return (*above, size, *(slot.attribute for slot in slots(attributes, tables)))


def _persons(attributes: Sequence[Attribute], tables: LinkedTables) -> Iterator[Tabular]:
    named = {attribute.name: attribute for attribute in attributes}
    for name in tables.below.attributes:
        if (attribute := named.get(name)) is None:
            continue
        if len(attribute.sides) != 1 or attribute.discovered or attribute.tree_levels:
            place = f"$.table[{tables.below.name}].attributes"
            raise SchemaMismatch(f"{place}: expected numbers or listed values of persons, {name} is neither")
        yield attribute.with_cells
