"""Sums of arrays of integers, batch by batch on threads: whatever the order, the same sum."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Progress = Callable[[int], object]

T = TypeVar("T")

THREADS = 2
WAITING = 4
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
) -> Counts:
    """Return the sum of `kernel(batch)` over all batches, on threads; an empty array where there is no batch.

    Args:
        batches: of anything that a kernel takes.
        kernel: pure; returns arrays of one fixed shape.
        rows: how many rows a batch has.
        progress: called with the number of rows done so far.
    """
    total: Counts | None = None
    waiting: deque[tuple[int, Future[Counts | SparseArray]]] = deque()
    done = 0

    def collect() -> None:
        nonlocal total, done
        size, part = waiting.popleft()
        total = added(total, part.result())
        done += size
        if progress is not None:
            progress(done)

    with ThreadPoolExecutor(THREADS) as pool:
        for batch in batches:
            waiting.append((rows(batch), pool.submit(kernel, batch)))
            if len(waiting) > WAITING:
                collect()
        while waiting:
            collect()
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
