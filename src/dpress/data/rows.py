"""The rows of a table as a mechanism may see them again and again: checked once, then only by sums.

table -> codes, batch by batch -> in memory where they are few, else read anew for every sum.
"""

from collections.abc import Iterator

import numpy as np

from dpress.core.domain import Schema
from dpress.core.people import Codes, People, in_memory
from dpress.data.add_up import Progress
from dpress.data.codec import encode
from dpress.data.fold import fold
from dpress.data.sources.source import without_quotes
from dpress.data.table import Table

HELD = 1 << 28  # bytes of codes that are kept; a larger table is read again for every pass


def people(table: Table, schema: Schema, *, progress: Progress | None = None, held: int = HELD) -> People:
    """Return the rows behind a fold; every row has been read once, so that a bad one has been refused.

    Args:
        table: the rows.
        schema: how they are coded.
        progress: called with the number of rows done so far, of this first pass.
        held: bytes of codes that are kept in memory.

    Raises:
        OSError, SchemaMismatch: see `Table.batches` and `codec.encode`.
    """
    table = table.drawn()
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


def _coded(table: Table, schema: Schema) -> Iterator[Codes]:
    for batch in table.batches():
        yield without_quotes(table.name, lambda batch=batch: encode(schema, batch))  # type: ignore[misc]
