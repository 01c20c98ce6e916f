"""The distribution of one number as a table: of all people and of every group, level by level."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.kinds.statistics.devices.estimates import Numbers
from dpress.query.published_tables import cells


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionTable:
    """A row for every level of a number, those of all people first, then group by group.

    Args:
        name: of the file.
        axes: the attributes of the groups.
        numbers: the number.
        groups: how many groups there are.
        z: standard errors to each side of an interval.
    """

    name: str
    axes: tuple[Tabular, ...]
    numbers: Numbers
    groups: int
    z: float

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one set of groups after the other.

        Columns: the group's cells (null for all people), the ends of the level, its share, the share of all levels up
        to it, and of that the standard error and the ends of its interval.
        """
        yield self._batch(np.ones(self.groups, dtype=np.bool_), None)
        for group in range(self.groups if self.axes else 0):
            yield self._batch(np.arange(self.groups) == group, group)

    def _batch(self, mask: npt.NDArray[np.bool_], group: int | None) -> pa.RecordBatch:
        attribute = self.numbers.attribute
        prefixes, errors = self.numbers.prefixes(mask)
        edges, below, error = attribute.edges, prefixes[1:], errors[1:]
        named = cells(self.axes, group or 0, (group or 0) + 1) if self.axes else {}
        first = {
            name: pa.nulls(below.size, pa.array(column).type)
            if group is None
            else pa.array(column).take(pa.array(np.zeros(below.size, dtype=np.int64)))
            for name, column in named.items()
        }
        columns = {
            f"{attribute.name}_from": pa.array(edges[:-1]),
            f"{attribute.name}_below": pa.array(edges[1:]),
            "share": pa.array(np.diff(prefixes)),
            "share_below": pa.array(below),
            "standard_error": pa.array(error),
            "low": pa.array(np.clip(below - self.z * error, 0, 1)),
            "high": pa.array(np.clip(below + self.z * error, 0, 1)),
        }
        return pa.record_batch(first | columns)
