"""The fold over rows on Spark: workers code and add up, slices are added by their number, the driver gets one array.

parts of files, or a DataFrame -> `partition_sums` at every worker -> a shuffle by slice -> `merged` -> the driver.
Integers only, so that the sum is that of threads, bit for bit, whatever is tried again; noise is drawn at the driver.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.data.add_up import Counts, Progress, SparseArray
from dpress.data.codec.codec import Codes
from dpress.data.sources.source import without_quotes
from dpress.data.sources.spark_failure import collected
from dpress.data.sources.spark_frame import SparkRows
from dpress.data.sources.spark_session import active_session, quiet
from dpress.data.spark.partial_sums import COLUMNS, joined, merged, partition_sums, whole
from dpress.data.table import Table, Watched

MOST_TASKS = 1 << 12  # of files with more parts, a task reads several
Batches = Iterable[pa.RecordBatch]


def spark_fold(
    table: Table,
    schema: Schema,
    kernel: Callable[[Codes], Counts | SparseArray],
    *,
    encode: Callable[[Schema, pa.RecordBatch], Codes],
    progress: Progress | None = None,
) -> Counts:
    """Return the sum of `kernel(codes)` over all batches, added up by Spark.

    Args:
        table: the rows: a DataFrame, or files that all workers reach under the same paths.
        schema: how they are coded.
        kernel: pure, and can be pickled; see `fold`.
        encode: from a batch to codes.
        progress: called once, with the number of all rows.

    Raises:
        NotSupported: the rows are neither, or Spark cannot start.
        OSError: the rows changed meanwhile, or Spark failed.
        SchemaMismatch: see `Table.batches` and `codec.encode`.
    """
    empty = kernel(np.zeros((len(schema.attributes), 0), dtype=np.int32))
    shape = (empty.size,) if isinstance(empty, SparseArray) else empty.shape
    watched = table.watched()
    name = watched.table.source.name

    def coded(batch: pa.RecordBatch) -> Counts | SparseArray:
        return without_quotes(name, lambda: kernel(encode(schema, batch)))

    with quiet():
        partial = _partial(watched, coded)
        sums = collected(name, lambda: partial.repartition("slice").mapInArrow(merged, COLUMNS))
    total, rows = whole(sums, math.prod(shape))
    watched.count(rows)
    watched.check()
    if progress is not None:
        progress(rows)
    return total.reshape(shape)


def _partial(watched: Watched, coded: Callable[[pa.RecordBatch], Counts | SparseArray]) -> Any:
    """Return the DataFrame of what every worker adds up."""
    parts, source = tuple(watched.parts), watched.table.source
    if isinstance(parts[0], SparkRows):
        rows = parts[0].chosen
        return rows.mapInArrow(lambda batches: partition_sums(joined(batches), coded), COLUMNS)
    if not source.portable:
        raise NotSupported(f'engine "spark" counts files and Spark DataFrames, and {source.name} is neither')

    def read(numbers: Batches) -> Iterator[pa.RecordBatch]:
        chosen = (parts[number] for batch in numbers for number in batch.column(0).to_pylist())
        try:
            yield from partition_sums(itertools.chain.from_iterable(part.batches() for part in chosen), coded)
        except OSError:
            source.stamp()  # which says whether this worker sees the files at all
            raise

    return active_session().range(0, len(parts), 1, min(len(parts), MOST_TASKS)).mapInArrow(read, COLUMNS)
