"""Records of two tables: households and persons, with keys that match, from records of households with slots.

records of households -> a made-up number of each -> its row above, and a row below for everybody in a slot.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpress.core.basics import rng as generators
from dpress.core.maps.linear import Array, Numbers
from dpress.core.methods.people import Codes
from dpress.data.specification.linked_table import LinkedTables
from dpress.data.specification.slots import NOBODY, Slot, slots_of
from dpress.data.specification.spec import Spec, from_dict
from dpress.document.design import Design
from dpress.mechanisms.microdata.record_rules import Rules
from dpress.query.record_files import values


@dataclass(frozen=True, slots=True, kw_only=True)
class Linking:
    """Two tables whose records were made together.

    Args:
        tables: that belong together.
        slots: the attributes of every person's slot.
    """

    tables: LinkedTables
    slots: tuple[Slot, ...]

    @property
    def files(self) -> Mapping[str, str]:
        """The file of each table, by what a release calls it."""
        return {f"linked_{table.name}": f"{table.name}.parquet" for table in (self.tables.above, self.tables.below)}

    @property
    def apart(self) -> frozenset[str]:
        """Attributes of all slots but the first: where nobody is, they all say so, and follow each other in that."""
        return frozenset(slot.name for slot in self.slots if slot.number > 1)

    def words(self, households: int, persons: int) -> str:
        """Return what the records are, a sentence for people.

        Args:
            households: how many there are.
            persons: how many they have together.
        """
        above, below = (
            f"{number:,} rows in {file}"
            for number, file in zip((households, persons), self.files.values(), strict=True)
        )
        return (
            f"Each is a row above with everybody of it; the two tables, with made-up keys that match, are {above} and "
            f"{below}. Where nobody is, it says {NOBODY}, and the integer below the lowest."
        )

    def persons(self, names: tuple[str, ...], codes: Codes) -> int:
        """Return how many persons records of households have; see `rows`."""
        return int(codes[names.index(self.tables.below.name)].sum())

    def rows(self, households: pa.Table, codes: Codes, rules: Rules, *, before: int = 0) -> dict[str, pa.Table]:
        """Return the rows of both tables, by their files; those of a household stand together.

        Values of persons are even within cells that are wider, the same whenever they are written: they follow from
        the records, and nothing private is drawn.

        Args:
            households: the records, a column for every attribute.
            codes: their cells, shape (attributes, records).
            rules: that they keep.
            before: how many households stand before them.
        """
        number = before + np.arange(1, households.num_rows + 1)
        names = [name for name in households.column_names if name not in self._made]
        above = {key: pa.array(number) for key in self.tables.above.keys}
        upper = pa.table(above | {name: households.column(name) for name in names})
        lower = self._below(households.column_names, codes, number, rules)
        return dict(zip(self.files.values(), (upper, lower), strict=True))

    @property
    def _made(self) -> set[str]:
        return {self.tables.below.name, *(slot.name for slot in self.slots)}

    def _below(self, names: list[str], codes: Codes, number: Numbers, rules: Rules) -> pa.Table:
        persons = list(dict.fromkeys(slot.person for slot in self.slots))
        size = codes[names.index(self.tables.below.name)]
        of = np.repeat(np.arange(size.size), size)
        rng = generators.seeded(int.from_bytes(hashlib.sha256(codes.astype("<i4").tobytes()).digest()[:8]))
        drawn, numbers = rules.numbers(codes, rng=rng.spawn()) if rules.ranges else {}, dict[int, Array]()
        place = np.arange(of.size) - np.repeat(np.cumsum(size) - size, size)
        cells = np.empty((len(persons), of.size), dtype=np.int32)
        for slot in self.slots:
            here = place == slot.number - 1
            axis, person = names.index(slot.name), persons.index(slot.person)
            cells[person, here] = codes[axis, of[here]] - slot.first
            if axis in drawn and not slot.counts:
                numbers.setdefault(person, np.full(of.size, np.nan))[here] = drawn[axis][of[here]]
        keys = {key: pa.array(number[of]) for key in self.tables.below.keys}
        return pa.table(keys | values(persons, cells, rng=rng, numbers=numbers))


def linking(design: Design) -> Linking | None:
    """Return the two tables whose records a design makes; None where it makes those of one."""
    if "table" not in design.specification:
        return None
    spec: Spec = from_dict(design.specification)
    tables = spec.linked
    if tables is None or not tables.both:
        return None
    return Linking(tables=tables, slots=slots_of(spec, tables))
