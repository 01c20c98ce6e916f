"""Records drawn from made records: each is one of those that fulfil a condition, with replacement.

The model that records were drawn from is not published, so that no other records can be drawn from it; what holds in
every record of the release holds in these.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from dpress.attributes.domain import Schema
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array, Numbers
from dpress.core.methods.people import Codes
from dpress.noise.uniform import below
from dpress.query.boxes import products
from dpress.query.query_tree import Condition
from dpress.query.record_source import NOTHING, RecordSource


def drawn_again(
    schema: Schema,
    table: pa.Table,
    codes: Codes,
    where: Condition | None,
    *,
    key: str = "",
    apart: Callable[..., dict[str, pa.Table]] | None = None,
) -> RecordSource:
    """Return what draws made records that fulfil a condition, with replacement.

    Args:
        schema: of the records.
        table: the records, a column for every attribute.
        codes: their cells, shape (attributes, records).
        where: the condition; None for all records.
        key: of the release's made-up key, which every record that is drawn has anew; empty without one.
        apart: returns the rows of two tables from some records, their cells and how many stand `before` them.

    Raises:
        ValueError: no record fulfils the condition, or it asks for part of a cell.
    """
    places = np.flatnonzero(_fulfils(schema, codes, where)) if where else np.arange(table.num_rows)
    if not places.size:
        raise ValueError(f"{where.text!r} {NOTHING}" if where else "the release has no record to draw from")

    def chosen(size: int, rng: Generator) -> Numbers:
        return places[below(places.size, size, rng=rng)]

    def draw(size: int, rng: Generator) -> pa.RecordBatch:
        return table.take(pa.array(chosen(size, rng))).combine_chunks().to_batches()[0]

    def tables(size: int, rng: Generator, before: int) -> Mapping[str, pa.Table]:
        rows = chosen(size, rng)
        return {} if apart is None else apart(table.take(pa.array(rows)), codes[:, rows], before=before)

    of_which = f"{places.size:,} of the release's {table.num_rows:,} records" if where else f"{places.size:,} records"
    return RecordSource(
        axes=schema.tabular,
        draw=draw,
        tables=None if apart is None else tables,
        key=key,
        note=f"Each is one of {of_which}, drawn with replacement: the model behind them is not published.",
    )


def _fulfils(schema: Schema, codes: Codes, where: Condition) -> Array:
    """Return of which records a condition holds: 1, else 0."""
    every = np.zeros(codes.shape[1])
    for weights in products(schema, where):
        every += np.prod([along[cells] for along, cells in zip(weights, codes, strict=True)], axis=0)
    return every
