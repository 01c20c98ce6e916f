"""Something about every person, in as many passes over the rows as memory asks for: one where all persons fit.

batches of rows -> persons as numbers (`person_index`), of those whose keyed hash falls into a range -> a state that
takes them in -> the next range. A person belongs to one pass, with all rows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import pyarrow as pa

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.persons.person_columns import persons_of
from dpress.data.persons.person_index import HASHES, Numbers, PersonIndex, fresh_key

HELD = 1 << 30  # bytes for persons and what is known of them; more are left for another pass
PIECE = 1 << 17  # rows that are looked at at once

Batches = Callable[[], Iterable[pa.RecordBatch]]


class State(Protocol):
    """What is kept of the persons of one pass."""

    @property
    def nbytes(self) -> int:
        """The memory it takes."""

    def add(self, numbers: Numbers, persons: int) -> None:
        """Take in rows: the person of each, -1 for those of another pass, and how many persons are known now."""


S = TypeVar("S", bound=State)


def by_groups(batches: Batches, columns: Sequence[str], fresh: Callable[[], S], *, held: int = HELD) -> Iterator[S]:
    """Yield the state of each group of persons, once all rows of the table were offered to it.

    A pass that would take more memory is given up, and half its persons are left for the next one; which persons
    share a pass follows from a fresh key and who they are. A single person is never too much.

    Args:
        batches: opens the rows anew, always the same.
        columns: those that name the persons.
        fresh: makes a state that has seen nothing.
        held: bytes; a pass stops once it holds more, so that the most it holds is that and the growth of one batch.

    Raises:
        SchemaMismatch: see `person_columns.persons_of`.
    """
    key, low, width = fresh_key(), 0, HASHES
    while low < HASHES:
        index, state = PersonIndex(key=key, low=low, high=min(low + width, HASHES)), fresh()
        if _passed(batches(), columns, index, state, held if width > 1 else None):
            yield state
            low += width
        else:
            width //= 2


def _passed(
    batches: Iterable[pa.RecordBatch], columns: Sequence[str], index: PersonIndex, state: State, held: int | None
) -> bool:
    """Offer all rows to a state; return False once persons and state take too much memory."""
    kinds = dict[str, pa.DataType]()
    for batch in batches:
        for column in columns:
            arrow_type = batch.schema.field(column).type
            if (kind := kinds.setdefault(column, arrow_type)) != arrow_type:
                types = f"of type {kind} and then of type {arrow_type}"
                raise SchemaMismatch(f"the column {column!r} is {types}; expected one")
        for start in range(0, batch.num_rows, PIECE):
            state.add(index.numbers(persons_of(columns, batch.slice(start, PIECE))), index.persons)
            if held is not None and index.persons > 1 and index.nbytes + state.nbytes > held:
                return False
    return True
