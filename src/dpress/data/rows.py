"""The rows of a table as a mechanism may see them again and again: checked once, then only by sums.

table -> codes, batch by batch -> in memory where they are few, else read anew for every sum. On Spark every sum is a
job, the first one too: nothing is kept, at the workers or here.
"""

import functools
from collections.abc import Iterator

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.methods.people import Codes, Kernel, People, in_memory
from dpress.data.add_up import Counts, Progress
from dpress.data.codec.codec import encode
from dpress.data.fold import fold
from dpress.data.sources.source import without_quotes
from dpress.data.table import Table

HELD = 1 << 28  # bytes of codes that are kept; a larger table is read again for every pass
CHANGES = "has other rows whenever it is read, as by rand() or sample(); write it to Parquet once, and read that"
MARKS = 2  # entries that tell rows from others: their number, and the sum of a hash of every row
FACTOR = np.uint64(0x9E3779B97F4A7C15)


def people(table: Table, schema: Schema, *, progress: Progress | None = None, held: int = HELD) -> People:
    """Return the rows behind a fold; every row has been read once, so that a bad one has been refused.

    Args:
        table: the rows.
        schema: how they are coded.
        progress: called with the number of rows done so far, of this first pass.
        held: bytes of codes that are kept in memory.

    Raises:
        OSError, SchemaMismatch: see `Table.batches` and `codec.encode`; a later sum raises OSError where Spark has
            other rows than at first.
    """
    table = table.drawn()
    if table.engine == "spark":
        return _at_workers(table, schema, progress)
    kept, rows, size = list[Codes](), 0, 0
    for codes in _coded(table, schema):
        rows, size = rows + codes.shape[1], size + codes.nbytes
        if size <= held:
            kept.append(codes)
        if progress is not None:
            progress(rows)
    if size <= held:
        return in_memory(np.concatenate(kept, axis=1))
    kept.clear()
    table.source.parts(table.columns)  # rows that come only once are refused before anything is charged
    return People(
        fold=lambda kernel: fold(table, schema, kernel),
        table=lambda: np.concatenate(list(_coded(table, schema)), axis=1),
    )


def _at_workers(table: Table, schema: Schema, progress: Progress | None) -> People:
    first = fold(table, schema, _marks, progress=progress)

    def again(kernel: Kernel) -> Counts:
        shape = kernel(np.zeros((len(schema.attributes), 0), dtype=np.int32)).shape
        sums = fold(table, schema, functools.partial(_marked, kernel))
        if not np.array_equal(sums[-MARKS:], first):
            raise OSError(f"{table.name} {CHANGES}")
        return sums[:-MARKS].reshape(shape)

    return People(fold=again, table=lambda: np.concatenate(list(_coded(table, schema)), axis=1))


def _marked(kernel: Kernel, codes: Codes) -> Counts:
    return np.append(kernel(codes).reshape(-1), _marks(codes))


def _marks(codes: Codes) -> Counts:
    """Return the number of rows, and the sum of a hash of every row: the same rows in any order have the same."""
    hashes = np.zeros(codes.shape[1], dtype=np.uint64)
    for column in codes:
        hashes = (hashes ^ hashes >> np.uint64(29)) * FACTOR + column.astype(np.uint64)
    hashes = (hashes ^ hashes >> np.uint64(32)) * FACTOR
    return np.array([codes.shape[1], (hashes ^ hashes >> np.uint64(29)).sum().astype(np.int64)])


def _coded(table: Table, schema: Schema) -> Iterator[Codes]:
    for batch in table.batches():
        yield without_quotes(table.name, lambda batch=batch: encode(schema, batch))  # type: ignore[misc]
