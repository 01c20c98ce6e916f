"""The one way rows are touched: a pure kernel on every batch of codes, and the sum of the arrays it returns."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.core.domain import Schema
from dpress.core.pieces import Run, on_threads
from dpress.data.codec import Codes, encode
from dpress.data.table import Table, without_quotes

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


Kernel = Callable[[Codes], Counts | SparseArray]


def fold(table: Table, schema: Schema, kernel: Kernel, *, progress: Progress | None = None) -> Counts:
    """Return the sum of `kernel(codes)` over all batches.

    The kernel sees codes of shape (attributes, rows) and returns an array of one fixed shape (a long one as `Sparse`,
    so that a batch costs what its rows cost); since every row is coded by itself, its sensitivity is the most one
    column of codes can add. At most `pieces.WAITING` + 1 batches are in memory.

    Args:
        table: the rows.
        schema: how they are coded.
        kernel: pure.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `Table.batches` and `codec.encode`.
    """

    def coded(batch: pa.RecordBatch) -> Counts | SparseArray:
        return without_quotes(table.name, lambda: kernel(encode(schema, batch)))

    return add_up(table.batches(), coded, rows=lambda batch: batch.num_rows, progress=progress)


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
        total = _added(total, part)
        done += size
        if progress is not None:
            progress(done)
    return np.zeros(0, dtype=np.int64) if total is None else total


def _added(total: Counts | None, part: Counts | SparseArray) -> Counts:
    """Return the sum, in place where there is a total already."""
    if total is None:
        total = np.zeros(part.size if isinstance(part, SparseArray) else part.shape, dtype=np.int64)
    if isinstance(part, SparseArray):
        total[part.places] += part.values
    else:
        total += part
    return total


def count(shape: Sequence[int], tables: Sequence[Sequence[int]]) -> Kernel:
    """Return the kernel that counts several tables, one after the other: each row adds 1 to one cell of each.

    Args:
        shape: the number of cells along every axis.
        tables: the axes of every table.
    """
    kept = [tuple(shape[axis] for axis in axes) for axes in tables]
    starts = [0, *itertools.accumulate(math.prod(sizes) for sizes in kept)]
    long = starts[-1] > LARGEST_DENSE

    def kernel(codes: Codes) -> Counts | SparseArray:
        parts = [_cells(codes, axes, sizes) for axes, sizes in zip(tables, kept, strict=True)]
        if long:
            found = [np.unique(part, return_counts=True) for part in parts]
            places = [cells + start for (cells, _), start in zip(found, starts, strict=False)]
            return SparseArray(starts[-1], np.concatenate(places), np.concatenate([times for _, times in found]))
        dense = [np.bincount(part, minlength=math.prod(sizes)) for part, sizes in zip(parts, kept, strict=True)]
        return np.concatenate(dense).astype(np.int64, copy=False)

    return kernel


def _cells(codes: Codes, axes: Sequence[int], sizes: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the cell of every row in the flattened table over some axes."""
    if not axes:
        return np.zeros(codes.shape[1], dtype=np.int64)
    return np.asarray(np.ravel_multi_index([codes[axis] for axis in axes], sizes))
