"""Synthetic records: drawn from a fitted joint distribution, in the attributes' own values; they cost no privacy.

Data flow: joint -> codes -> labels, integers or numbers -> batches.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.core.attribute import Integer, Listed, Tabular
from dpress.core.rng import Generator
from dpress.estimate.joint import Joint

NAME = "records.parquet"
BATCH = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Records that nobody sent.

    Args:
        axes: the attributes.
        joint: that they are drawn from.
        size: how many.
        rng: the generator; nothing private is drawn.
    """

    axes: tuple[Tabular, ...]
    joint: Joint
    size: int
    rng: Generator
    name: str = NAME

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the records, a column for every attribute.

        A value within a cell of several integers or numbers is drawn evenly from it.
        """
        for start in range(0, self.size, BATCH):
            codes = self.joint.sample(min(BATCH, self.size - start), rng=self.rng)
            columns = {axis.name: self._values(axis, own) for axis, own in zip(self.axes, codes, strict=True)}
            yield pa.record_batch(columns)

    def _values(self, axis: Tabular, codes: npt.NDArray[np.int64]) -> pa.Array:
        if isinstance(axis, Listed):
            return pa.array(axis.labels).take(pa.array(codes))
        missing = codes >= axis.ordered
        inside = np.minimum(codes, axis.ordered - 1)
        low, high = axis.edges_at(inside), axis.edges_at(inside + 1)
        part = (self.rng.words(codes.size) >> np.uint64(11)) * 2.0**-53
        values = low + (high - low) * part
        if isinstance(axis, Integer):
            values = np.minimum(np.floor(values), high - 1).astype(np.int64)
        return pa.array(values, mask=missing)
