"""The published tables, made batch by batch: a table of 2^26 cells is never held as text.

Data flow: estimates, variances -> batches of cells with their labels, edges, counts and intervals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array
from dpress.inference.interval import Tail, half_width, possible

CONFIDENCE = 0.95
BATCH_CELLS = 1 << 20
ADJUSTED = "adjusted"  # the column of counts after post-processing


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """One published table: a row for every cell.

    Args:
        name: of its file.
        axes: the attributes, in the order of the table's axes.
        count: the estimates, in counts, shape (cells,).
        variance: of every estimate, in counts squared, shape (cells,).
        adjusted: the counts after post-processing, shape (cells,), or None where the specification names none.
        tail: the kind of noise.
        centre: what the intervals lie around, shape (cells,), where that is not the count.
        level: the confidence of each interval, more than 95 % where cells were selected.
        ends: of the intervals, low and high, where they do not reach as far to both sides.
        most: where the adjusted counts answer queries: what no count is above, to which intervals are cut.
    """

    name: str
    axes: tuple[Tabular, ...]
    count: Array
    variance: Array
    adjusted: Array | None
    tail: Tail
    centre: Array | None = None
    level: float = CONFIDENCE
    ends: tuple[Array, Array] | None = None
    most: float | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along every axis."""
        return tuple(axis.size for axis in self.axes)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, at most 2^20 at a time.

        Columns: the attributes' cells, for an integer or numeric attribute also the lower and upper edge of the cell,
        for a listed one whose values have labels also the label; the estimated count, its standard error, the ends of
        its 95 % interval, and the adjusted count if there is one.
        """
        for start in range(0, self.count.size, BATCH_CELLS):
            yield pa.record_batch(self._columns(start, min(start + BATCH_CELLS, self.count.size)))

    def table(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(list(self.batches())).combine_chunks()

    def _columns(self, start: int, stop: int) -> dict[str, Any]:
        return cells(self.axes, start, stop) | self.numbers(start, stop)

    def numbers(self, start: int, stop: int) -> dict[str, Array]:
        """Return the columns of numbers of the cells from `start` to before `stop`."""
        low, high = self._ends(start, stop)
        errors = np.sqrt(self.variance[start:stop])
        columns = {"count": self.count[start:stop], "standard_error": errors, "low": low, "high": high}
        return columns if self.adjusted is None else columns | {ADJUSTED: self.adjusted[start:stop]}

    def _ends(self, start: int, stop: int) -> tuple[Array, Array]:
        """Return the ends of some intervals."""
        if self.ends is not None:
            return self.ends[0][start:stop], self.ends[1][start:stop]
        widths = half_width(self.variance[start:stop], self.level, self.tail)
        centre = (self.count if self.centre is None else self.centre)[start:stop]
        ends = centre - widths, centre + widths
        if self.adjusted is None or self.most is None:
            return ends
        return possible(ends, self.adjusted[start:stop], self.most)


def cells(axes: tuple[Tabular, ...], start: int, stop: int) -> dict[str, Any]:
    """Return the columns that name the cells from `start` to before `stop`, the last axis running fastest."""
    columns: dict[str, Any] = {}
    shape = tuple(axis.size for axis in axes)
    for axis, codes in zip(axes, np.unravel_index(np.arange(start, stop), shape), strict=True):
        columns |= _cell_columns(axis, codes)
    return columns


def labels_of(axis: Tabular, codes: np.ndarray) -> pa.Array:
    """Return the label of every row's cell on one axis."""
    if not codes.size:
        return pa.array([], type=pa.string())
    first, last = int(codes.min()), int(codes.max()) + 1
    return _labels(axis, first, last).take(pa.array(codes - first))


def _cell_columns(axis: Tabular, codes: np.ndarray) -> dict[str, Any]:
    """Return the label of every row's cell on one axis, and the cell's edges where it has any; null beside them."""
    first, last = int(codes.min()), int(codes.max()) + 1
    in_order = last - first == len(codes) and codes[0] == first and codes[-1] == last - 1
    near = None if in_order else pa.array(codes - first)

    def spread(values: pa.Array) -> pa.Array:
        return values if near is None else values.take(near)

    columns: dict[str, Any] = {axis.name: spread(_labels(axis, first, last))}
    if axis.labelled:
        columns[f"{axis.name}_label"] = spread(pa.array(axis.captions[first:last], type=pa.string()))
    if (scale := axis.line) is not None:
        edges = scale.edges_at(np.minimum(np.arange(first, last + 1), axis.ordered))
        beside = np.arange(first, last) >= axis.ordered
        columns[f"{axis.name}_from"] = spread(scale.edge_column(edges[:-1], beside))
        columns[f"{axis.name}_below"] = spread(scale.edge_column(edges[1:], beside))
    return columns


def _labels(axis: Tabular, first: int, last: int) -> pa.Array:
    if axis.unbinned and axis.scale is not None and last <= axis.ordered:
        return pa.array(axis.scale.edges_at(np.arange(first, last))).cast(pa.string())
    return pa.array(axis.labels_between(first, last), type=pa.string())
