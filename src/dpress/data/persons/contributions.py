"""How many rows the persons of a table have, and how many stay under a cap: exact, so not private.

persons, row by row -> a count for each, group of persons after group -> sums over persons.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.data.persons.person_groups import HELD, Batches, by_groups
from dpress.data.persons.person_index import Numbers, grown


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """How many rows each person has.

    Args:
        persons: how many there are.
        rows: of them all.
        largest: the most of one.
        kept: how many rows stay where a person keeps at most so many, by that cap.
    """

    persons: int
    rows: int
    largest: int
    kept: dict[int, int]


def contributions(batches: Batches, columns: Sequence[str], caps: Sequence[int], *, held: int = HELD) -> Contributions:
    """Return how many rows persons have, in one pass if 40 to 72 bytes for every person and their texts fit.

    Args:
        batches: opens the rows anew; only the columns of the persons are looked at.
        columns: those that name the persons.
        caps: the numbers of rows that a person might keep.
        held: bytes for persons and counts.

    Raises:
        SchemaMismatch: a row has no person, or the column's type names none.
    """
    persons = rows = largest = 0
    kept = dict.fromkeys(caps, 0)
    for tally in by_groups(batches, columns, _Tally, held=held):
        counts = tally.counts[: tally.persons]
        persons, rows = persons + counts.size, rows + int(counts.sum())
        largest = max(largest, int(counts.max(initial=0)))
        for cap in caps:
            kept[cap] += int(np.minimum(counts, cap).sum())
    return Contributions(persons=persons, rows=rows, largest=largest, kept=kept)


class _Tally:
    """The rows of every person of a pass."""

    def __init__(self) -> None:
        self.counts, self.persons = np.zeros(0, dtype=np.int64), 0

    @property
    def nbytes(self) -> int:
        """The memory that the counts take."""
        return self.counts.nbytes

    def add(self, numbers: Numbers, persons: int) -> None:
        """Count rows of persons."""
        self.counts = grown(self.counts, self.persons, persons)
        self.counts[self.persons : persons] = 0
        self.persons = persons
        np.add.at(self.counts, numbers[numbers >= 0], 1)
