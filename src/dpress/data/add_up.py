"""Sums of arrays of integers, batch by batch on threads: whatever the order, the same sum."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dpress.core.reports.pieces import Run, on_threads

Counts = npt.NDArray[np.int64]
Progress = Callable[[int], object]

T = TypeVar("T")

LARGEST_DENSE = 1 << 20  # numbers; a longer array is returned as its few entries that are not zero


@dataclass(frozen=True, slots=True)
class SparseArray:
    """An array of integers, zero but for a few entries.

    Args:
        size: the number of entries.
        places: of those that are not zero; no place twice.
        values: at these places.
    """

    size: int
    places: npt.NDArray[np.int64]
    values: Counts


def add_up(
    batches: Iterable[T],
    kernel: Callable[[T], Counts | SparseArray],
    *,
    rows: Callable[[T], int],
    progress: Progress | None = None,
    run: Run = on_threads,
) -> Counts:
    """Return the sum of `kernel(batch)` over all batches; an empty array where there is no batch.

    Args:
        batches: of anything that a kernel takes.
        kernel: pure; returns arrays of one fixed shape.
        rows: how many rows a batch has.
        progress: called with the number of rows done so far.
        run: the engine.
    """
    total: Counts | None = None
    done = 0
    for size, part in run(lambda batch: (rows(batch), kernel(batch)), batches):
        total = added(total, part)
        done += size
        if progress is not None:
            progress(done)
    return np.zeros(0, dtype=np.int64) if total is None else total


def added(total: Counts | None, part: Counts | SparseArray) -> Counts:
    """Return the sum, in place where there is a total already."""
    if total is None:
        total = np.zeros(part.size if isinstance(part, SparseArray) else part.shape, dtype=np.int64)
    if isinstance(part, SparseArray):
        total[part.places] += part.values
    else:
        total += part
    return total
