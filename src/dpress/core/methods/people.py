"""The raw rows, as a mechanism that needs several passes may see them: only through sums.

A mechanism is handed a bound fold, never a file: its kernel sees codes of shape (attributes, rows), batch by batch, and
returns an integer array of one fixed shape; the arrays are added up. What a row can change is read off the kernel.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpress.core.methods.possible import EVERYTHING, Possible

Codes = npt.NDArray[np.int32]  # shape (attributes, rows)
Counts = npt.NDArray[np.int64]
Kernel = Callable[[Codes], Counts]


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The rows of a table.

    Args:
        fold: returns the sum of a kernel over all batches; may be called again and again.
        table: returns all codes at once: only for published baselines that need the whole table, and say so.
        rows: how many there are, where the neighbour relation makes that number public; None elsewhere.
        possible: which records may be made of them, as public constraints say; the rows may be others.
    """

    fold: Callable[[Kernel], Counts]
    table: Callable[[], Codes]
    rows: int | None = None
    possible: Possible = EVERYTHING


def of_attributes(people: People, axes: Sequence[int]) -> People:
    """Return the same rows with some of their attributes alone, in this order."""
    places = list(axes)
    return replace(
        people,
        fold=lambda kernel: people.fold(lambda codes: kernel(codes[places])),
        table=lambda: people.table()[places],
    )


def in_memory(codes: Codes, *, batch: int = 1 << 16) -> People:
    """Return the rows of a table that is in memory.

    Args:
        codes: shape (attributes, rows).
        batch: rows at a time.
    """

    def fold(kernel: Kernel) -> Counts:
        total = kernel(codes[:, :batch])
        for start in range(batch, codes.shape[1], batch):
            total = total + kernel(codes[:, start : start + batch])
        return total

    return People(fold=fold, table=lambda: codes)
