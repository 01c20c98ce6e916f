"""Whether the two columns of a position look exchanged: counts of rows, and nothing else, are looked at."""

from typing import Any

import numpy as np
import pyarrow as pa

from dpress.attributes.location.attribute import Location
from dpress.core.basics.claim import ROW
from dpress.core.maps.linear import Array
from dpress.data.codec.codec import numbers_of
from dpress.data.table import Table


def exchanged(location: Location, data: Any) -> bool:
    """Return whether no position lies in the box, and most would if the two columns were exchanged.

    Reads on only until a batch has a position in the box. It depends on the rows, and is for whoever holds them.

    Args:
        location: the columns and the box.
        data: what `open_source` takes.

    Raises:
        OSError, SchemaMismatch: the data cannot be read, or has no such columns of numbers.
    """
    rows = turned = 0
    for batch in Table(data, location.columns, ROW).batches():
        inside, other = counted(location, batch)
        if inside:
            return False
        rows, turned = rows + batch.num_rows, turned + other
    return 2 * turned > rows


def counted(location: Location, batch: pa.RecordBatch) -> tuple[int, int]:
    """Return how many positions lie in the box, and how many would if the two columns were exchanged."""
    across, up = (numbers_of(name, batch) for name in location.columns)
    return _within(location, across, up), _within(location, up, across)


def _within(location: Location, across: Array, up: Array) -> int:
    (left, right), (bottom, top) = location.bounds
    return int(np.count_nonzero((across >= left) & (across <= right) & (up >= bottom) & (up <= top)))
