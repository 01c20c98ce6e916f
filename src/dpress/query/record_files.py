"""Synthetic records in the attributes' own values: drawn from a fitted joint distribution, or made by a method.

Data flow: joint, or what a method released -> codes -> labels, integers or numbers -> batches. It costs no privacy.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.basics.rng import Generator
from dpress.inference.joint.factors import Boxes, Joint

NAME = "records.parquet"
BATCH = 1 << 18
EMPTY: Mapping[int, npt.NDArray[np.float64]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Records that nobody sent.

    Args:
        axes: the attributes.
        joint: that they are drawn from: a distribution, or what is left of it under a condition.
        size: how many.
        rng: the generator; nothing private is drawn.
    """

    axes: tuple[Tabular, ...]
    joint: Joint | Boxes
    size: int
    rng: Generator
    name: str = NAME

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the records, a column for every attribute; see `values`."""
        for start in range(0, self.size, BATCH):
            codes = self.joint.sample(min(BATCH, self.size - start), rng=self.rng)
            yield pa.record_batch(values(self.axes, codes, rng=self.rng))


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Records that were made already.

    Args:
        table: a column for every attribute.
        key: a column of numbers in front, from 1, that the file has, too; none where it is empty.
    """

    table: pa.Table
    name: str = NAME
    key: str = ""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the records, one batch at least."""
        for start in range(0, max(self.table.num_rows, 1), BATCH):
            columns = self.table.slice(start, BATCH).combine_chunks().columns
            arrays = [pa.concat_arrays(column.chunks) if column.num_chunks else column for column in columns]
            batch = pa.record_batch(arrays, schema=self.table.schema)
            yield with_key(batch, self.key, start) if self.key else batch


def with_key(batch: pa.RecordBatch, key: str, start: int = 0) -> pa.RecordBatch:
    """Return records with a column of numbers in front, of which no two are the same.

    Args:
        batch: the records.
        key: what the column is called.
        start: how many records stand before them.
    """
    numbers = pa.array(np.arange(start + 1, start + 1 + batch.num_rows))
    return pa.RecordBatch.from_arrays([numbers, *batch.columns], names=[key, *batch.schema.names])


def values(
    axes: Sequence[Tabular],
    codes: npt.NDArray[Any],
    *,
    rng: Generator,
    numbers: Mapping[int, npt.NDArray[np.float64]] = EMPTY,
) -> dict[str, pa.Array]:
    """Return the records as columns; a value within a cell of several integers or numbers is drawn evenly from it.

    Args:
        axes: the attributes.
        codes: shape (attributes, records).
        rng: the generator; nothing private is drawn.
        numbers: those of attributes that were drawn already, by place; NaN where not.
    """
    columns = dict[str, pa.Array]()
    for place, (axis, cells) in enumerate(zip(axes, codes, strict=True)):
        drawn = numbers.get(place) if axis.line is not None else None
        others = None if drawn is not None and not np.isnan(drawn).any() else _values(axis, cells, rng)
        columns[axis.name] = others if drawn is None else _written(axis, drawn, others)
    return columns


def _written(axis: Tabular, numbers: npt.NDArray[np.float64], others: pa.Array | None) -> pa.Array:
    """Return numbers that were drawn as a column, with others where none was."""
    if others is not None:
        numbers = np.where(np.isnan(numbers), others.to_numpy(zero_copy_only=False), numbers)
    return pa.array(numbers.astype(np.int64) if axis.line is not None and axis.line.whole else numbers)


def _values(axis: Tabular, codes: npt.NDArray[Any], rng: Generator) -> pa.Array:
    line = axis.line
    if line is None:
        return pa.array(axis.labels, type=pa.string()).take(pa.array(codes))
    missing = codes >= axis.ordered
    inside = np.minimum(codes, axis.ordered - 1)
    low, high = line.edges_at(inside), line.edges_at(inside + 1)
    part = (rng.words(codes.size) >> np.uint64(11)) * 2.0**-53
    numbers = low + (high - low) * part
    if line.whole:
        numbers = np.minimum(np.floor(numbers), high - 1).astype(np.int64)
    else:
        numbers = np.minimum(numbers, np.nextafter(high, low))  # rounding may reach the edge, which is another cell's
    return line.edge_column(numbers, missing)
