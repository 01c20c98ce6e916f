"""The one way rows are touched: a pure kernel on every batch of codes, and the sum of the arrays it returns."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

import numpy as np
import pyarrow as pa

from dpress.attributes.domain import Schema
from dpress.core.methods.table_cells import table_cells
from dpress.core.reports.pieces import THREADS
from dpress.data.add_up import LARGEST_DENSE, Counts, Progress, SparseArray, add_up, added
from dpress.data.codec.codec import Codes, encode
from dpress.data.kept_sums import KeptSums, PartSums
from dpress.data.sources.source import Part, without_quotes
from dpress.data.table import Table

T = TypeVar("T")
Kernel = Callable[[Codes], Counts | SparseArray]
Encode = Callable[[Schema, pa.RecordBatch], Codes]


def fold(
    table: Table,
    schema: Schema,
    kernel: Kernel,
    *,
    progress: Progress | None = None,
    encode: Encode = encode,
    kept: KeptSums | None = None,
) -> Counts:
    """Return the sum of `kernel(codes)` over all batches.

    The kernel sees codes of shape (attributes, rows) and returns an array of one fixed shape (a long one as `Sparse`,
    so that a batch costs what its rows cost); since every row is coded by itself, its sensitivity is the most one
    column of codes can add. Parts of the rows are read and added up by THREADS threads; where there are fewer parts,
    one thread reads and at most `pieces.WAITING` + 1 batches are in memory. On Spark, its
    workers do the same.

    Args:
        table: the rows.
        schema: how they are coded.
        kernel: pure.
        progress: called with the number of rows done so far.
        encode: from a batch to codes; another one where the rows are coded in part.
        kept: the sums of parts that are done, of rows in several parts; which rows of a person stay is drawn, and
            their sums are never kept.

    Raises:
        OSError, SchemaMismatch: see `Table.batches` and `codec.encode`.
        NotSupported: the engine is Spark, and `spark_fold` refuses the rows.
    """

    def coded(batch: pa.RecordBatch) -> Counts | SparseArray:
        return without_quotes(table.name, lambda: kernel(encode(schema, batch)))

    def counted(batch: pa.RecordBatch) -> int:
        return watched.count(batch.num_rows)

    if table.engine == "spark":
        from dpress.data.spark.spark_fold import spark_fold  # noqa: PLC0415  # only where Spark counts

        return spark_fold(table, schema, kernel, encode=encode, progress=progress)
    watched = table.watched()
    if len(watched.parts) < THREADS:
        batches = itertools.chain.from_iterable(part.batches() for part in watched.parts)
        total = add_up(_noted(batches, counted), coded, rows=lambda batch: batch.num_rows, progress=progress)
    else:
        sums = kept.of_next(len(watched.parts)) if kept is not None and not table.unit.columns else None
        watched.count(0 if sums is None else sums.rows)
        note = lambda batch: progress(counted(batch)) if progress else counted(batch)  # noqa: E731
        total = _by_parts(watched.parts, coded, note, sums)
    watched.check()
    return total


def _noted(batches: Iterable[T], note: Callable[[T], object]) -> Iterator[T]:
    for batch in batches:
        note(batch)
        yield batch


def _by_parts(
    parts: Sequence[Part],
    kernel: Callable[[pa.RecordBatch], Counts | SparseArray],
    done: Callable[[pa.RecordBatch], object],
    sums: PartSums | None,
) -> Counts:
    """Return the sum over all batches of all parts; every thread reads a part of its own."""
    total: Counts | None = None
    lock, stopped = Lock(), False

    def work(number: int, part: Part) -> None:
        nonlocal total
        of_part, rows = None, 0
        for batch in part.batches():
            batch_counts = kernel(batch)
            of_part, rows = of_part if sums is None else added(of_part, batch_counts), rows + batch.num_rows
            with lock:
                total = added(total, batch_counts) if sums is None else None
                done(batch)
            if stopped:
                return
        if sums is not None:
            with lock:
                sums.add(number, of_part, rows)

    with ThreadPoolExecutor(THREADS) as pool:
        left = [(number, part) for number, part in enumerate(parts) if sums is None or number not in sums.done]
        waiting = [pool.submit(work, number, part) for number, part in left]
        try:
            for future in waiting:
                future.result()
        except BaseException:
            stopped = True
            pool.shutdown(wait=False, cancel_futures=True)
            if sums is not None:
                with lock:
                    sums.keep()
            raise
    total = total if sums is None else sums.total
    return np.zeros(0, dtype=np.int64) if total is None else total


def count(shape: Sequence[int], tables: Sequence[Sequence[int]]) -> Kernel:
    """Return the kernel that counts several tables, one after the other: each row adds 1 to one cell of each.

    Args:
        shape: the number of cells along every axis.
        tables: the axes of every table.
    """
    sizes = [math.prod(shape[axis] for axis in axes) for axes in tables]
    starts = [0, *itertools.accumulate(sizes)]

    def sparse(codes: Codes) -> SparseArray:
        pairs = [np.unique(table_cells(codes, shape, axes), return_counts=True) for axes in tables]
        places = [cells + start for (cells, _), start in zip(pairs, starts, strict=False)]
        return SparseArray(starts[-1], np.concatenate(places), np.concatenate([times for _, times in pairs]))

    def kernel(codes: Codes) -> Counts | SparseArray:
        if starts[-1] > max(LARGEST_DENSE, len(tables) * codes.shape[1]):
            return sparse(codes)
        counts = np.empty(starts[-1], dtype=np.int64)
        for axes, start, size in zip(tables, starts, sizes, strict=False):
            counts[start : start + size] = np.bincount(table_cells(codes, shape, axes), minlength=size)
        return counts

    return kernel
