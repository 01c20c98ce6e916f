"""Records drawn from tables of regions: a finest region and all attributes of a person, by the counts of its cells.

counts of the finest regions, condition -> the cells of the regions that it names -> a joint -> records.
"""

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array, Numbers
from dpress.inference.joint.factors import Boxes, Restricted, dense
from dpress.query.boxes import products
from dpress.query.record_files import values
from dpress.query.record_source import NOTHING, RecordSource, shares_of

MOST_CELLS = 1 << 24


def drawn_regions(schema: Schema, table: Callable[[Numbers], Array], where: str) -> RecordSource:
    """Return what draws records of regions that fulfil a condition, by counts that are made >= 0.

    Args:
        schema: of the regions, then of the attributes.
        table: returns the counts of some finest regions, shape (regions, *cells).
        where: the condition; empty for all records.

    Raises:
        NotSupported: the regions have too many cells.
        ValueError: the condition cannot be read, or holds of no record.
    """
    axes, boxes = schema.tabular, products(schema, where or "total")
    regions = np.flatnonzero(np.any([weights[0] for weights in boxes], axis=0))
    if (cells := regions.size * math.prod(schema.shape[1:])) > MOST_CELLS:
        raise NotSupported(f"records are drawn from {MOST_CELLS:,} cells, got {cells:,}: name fewer regions by `where`")
    parts = list[Restricted]()
    if cells:
        joint = dense(shares_of(table(regions)))
        parts = [joint.restricted([first[regions], *others]) for first, *others in boxes]
    if not (inside := tuple(part for part in parts if part.share > 0)):
        raise ValueError(f"{where!r} {NOTHING}")
    left = Boxes(parts=inside)

    def draw(size: int, rng: Generator) -> pa.RecordBatch:
        place, *cells = left.sample(size, rng=rng)
        return pa.record_batch(values(axes, np.stack([regions[place], *cells]), rng=rng))

    return RecordSource(axes=axes, draw=draw)
