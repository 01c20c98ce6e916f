"""The one way rows are touched: a pure kernel on every batch of codes, and the sum of the arrays it returns."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.core.domain import Schema
from dpress.data.codec import Codes, encode
from dpress.data.table import Table, without_quotes

Counts = npt.NDArray[np.int64]
Kernel = Callable[[Codes], Counts]
Progress = Callable[[int], object]

THREADS = 2
WAITING = 4


def fold(table: Table, schema: Schema, kernel: Kernel, *, progress: Progress | None = None) -> Counts:
    """Return the sum of `kernel(codes)` over all batches.

    The kernel sees codes of shape (attributes, rows) and returns an array of one fixed shape; since every row is coded
    by itself, its sensitivity is the most one column of codes can add. At most THREADS + WAITING batches are in memory.

    Args:
        table: the rows.
        schema: how they are coded.
        kernel: pure.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `Table.batches` and `codec.encode`.
    """

    def work(batch: pa.RecordBatch) -> tuple[int, Counts]:
        return batch.num_rows, kernel(encode(schema, batch))

    total: Counts | None = None
    waiting: deque[Future[tuple[int, Counts]]] = deque()
    rows = 0

    def collect() -> None:
        nonlocal total, rows
        done, part = without_quotes(table.name, waiting.popleft().result)
        rows += done
        if total is None:
            total = part.copy()
        else:
            total += part
        if progress is not None:
            progress(rows)

    with ThreadPoolExecutor(THREADS) as pool:
        for batch in table.batches():
            waiting.append(pool.submit(work, batch))
            if len(waiting) > WAITING:
                collect()
        while waiting:
            collect()
    return np.zeros(0, dtype=np.int64) if total is None else total


def count(shape: Sequence[int], tables: Sequence[Sequence[int]]) -> Kernel:
    """Return the kernel that counts several tables, one after the other: each row adds 1 to one cell of each.

    Args:
        shape: the number of cells along every axis.
        tables: the axes of every table.
    """

    def kernel(codes: Codes) -> Counts:
        parts = []
        for axes in tables:
            sizes = tuple(shape[axis] for axis in axes)
            cells = (
                np.ravel_multi_index([codes[axis] for axis in axes], sizes) if axes else np.zeros(codes.shape[1], int)
            )
            parts.append(np.bincount(cells, minlength=int(np.prod(sizes, dtype=np.int64))))
        return np.concatenate(parts).astype(np.int64, copy=False)

    return kernel
