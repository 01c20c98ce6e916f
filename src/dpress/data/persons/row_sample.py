"""Which rows of a person stay: those with the smallest of independent uniform 64-bit draws, one for every row.

persons, row by row -> a word of the generator for each -> the `cap` smallest of each person, in one pass -> a bit for
every row. Which rows of a person stay depends on the number of that person's rows alone (docs/decisions/0033).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.core.basics.claim import Unit
from dpress.core.basics.rng import Generator
from dpress.data.persons.person_groups import HELD, Batches, by_groups
from dpress.data.persons.person_index import Numbers, grown

CHANGED = "the table changed while it was read; nothing was released"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSample:
    """Which rows of a table stay: one draw, which holds for every later reading of the same rows.

    Secret like the rows. It takes a bit for every row.

    Args:
        bits: one for every row in the table's order, the first in the lowest bit.
        rows: of the table.
    """

    bits: npt.NDArray[np.uint8]
    rows: int

    @property
    def kept(self) -> int:
        """How many rows stay."""
        return int(np.bitwise_count(self.bits).sum())

    def of(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that stay, in the table's order.

        Args:
            batches: all rows of the table, in the order in which they were drawn for; any columns.

        Raises:
            OSError: there are more rows, or fewer.
        """
        buffer, done = pa.py_buffer(self.bits), 0
        for batch in batches:
            begin, done = done, done + batch.num_rows
            if done > self.rows:
                raise OSError(CHANGED)
            if batch.num_rows:
                yield batch.filter(pa.Array.from_buffers(pa.bool_(), batch.num_rows, [None, buffer], offset=begin))
        if done != self.rows:
            raise OSError(CHANGED)


def row_sample(batches: Batches, unit: Unit, *, rng: Generator, held: int = HELD) -> RowSample:
    """Return a sample of every person's rows: each set of `unit.rows` of them is as likely as any other.

    The rows are read once if the draws of all persons fit, else once for every group of persons. They take at most
    16 * 4/3 bytes for each of `unit.rows` rows of a person and 32 more, the persons see `PersonIndex.nbytes`.

    Args:
        batches: opens the rows anew, in the same order every time; only the columns of the persons are looked at.
        unit: whom the promise protects; its columns name the persons.
        rng: a secure generator.
        held: bytes for persons and draws.

    Raises:
        SchemaMismatch: a row has no person, or the column's type names none.
        OSError: the number of rows changes from one pass to the next.
    """
    if unit.column is None:
        raise ValueError("unit must name the column of the persons, got a unit of one row")
    bits: npt.NDArray[np.uint8] | None = None
    rows = 0
    for smallest in by_groups(batches, unit.columns, lambda: _Smallest(unit.rows, rng), held=held):
        if bits is None:
            bits, rows = np.zeros(-(-smallest.rows // 8), dtype=np.uint8), smallest.rows
        if smallest.rows != rows:
            raise OSError(CHANGED)
        smallest.mark(bits)
    return RowSample(bits=np.zeros(0, dtype=np.uint8) if bits is None else bits, rows=rows)


class _Smallest:
    """The smallest draws of every person of a pass, and where their rows stand.

    A person's draws are a heap in a pool that all share; a heap that is full moves to where there is more space.
    """

    def __init__(self, cap: int, rng: Generator) -> None:
        self.rows = 0
        self._cap, self._rng = min(cap, np.iinfo(np.int64).max // 8), rng
        self._persons, self._top = 0, 0
        self._heaps = np.zeros((0, 4), dtype=np.int64)
        self._draws, self._places = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    @property
    def nbytes(self) -> int:
        """The memory that persons and draws take."""
        return self._heaps.nbytes + self._draws.nbytes + self._places.nbytes

    def add(self, numbers: Numbers, persons: int) -> None:
        """Draw for every row, those of other passes too, and offer it to its person's heap."""
        from dpress.data.persons import person_kernels  # noqa: PLC0415  # compiles, and takes a second to import

        drawn = self._rng.words(numbers.size).view(np.int64)
        if persons > len(self._heaps):
            larger = np.zeros((max(persons, 3 * len(self._heaps) // 2), person_kernels.FIELDS), dtype=np.int64)
            larger[: self._persons] = self._heaps[: self._persons]
            self._heaps = larger
        self._persons, row = persons, 0
        while row < numbers.size:
            pool = (self._heaps, self._draws, self._places)
            row, self._top = person_kernels.offer((numbers, drawn, self.rows), self._cap, pool, self._top, row)
            if row < numbers.size:
                wanted = len(self._draws) + numbers.size
                self._draws, self._places = (grown(array, self._top, wanted) for array in (self._draws, self._places))
        self.rows += numbers.size

    def mark(self, bits: npt.NDArray[np.uint8]) -> None:
        """Set the bits of the rows that stay."""
        from dpress.data.persons import person_kernels  # noqa: PLC0415  # as above

        person_kernels.mark(self._heaps[: self._persons], self._places, bits)
