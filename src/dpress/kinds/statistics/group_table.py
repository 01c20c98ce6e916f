"""The published table: a row for every group and statistic."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.inference.group_moments import Estimates
from dpress.kinds.statistics.group_results import GroupResults
from dpress.query.published_tables import cells

NAME = "statistics.parquet"
BATCH_GROUPS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTable:
    """A row for every group and statistic, after those of all groups together.

    Args:
        axes: the attributes of the groups.
        groups: the estimates of every group.
        together: those of all groups, where they are known.
        size: how many groups there are.
        name: of the file.
    """

    axes: tuple[Tabular, ...]
    groups: GroupResults
    together: GroupResults
    size: int
    name: str = NAME

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows: the groups' cells (null for all groups), statistic, value, standard_error, low and high.

        What is not known is null: a quantile that was chosen has a value alone, and none of all groups together.
        """
        names = self.groups.names
        whole = {name: self.together.of(name) for name in self.together.names}
        each = {name: self.groups.of(name) for name in names} if self.axes else {}
        if whole:
            first = {axis: pa.nulls(len(whole), kind) for axis, kind in self._kinds.items()}
            yield pa.record_batch(first | _columns(whole, slice(0, 1)))
        size = self.size if self.axes else 0
        for start in range(0, size, BATCH_GROUPS):
            stop = min(start + BATCH_GROUPS, size)
            labels = cells(self.axes, start, stop)
            order = pa.array(np.repeat(np.arange(stop - start), len(names)))
            yield pa.record_batch(
                {name: column.take(order) for name, column in labels.items()} | _columns(each, slice(start, stop))
            )

    @property
    def _kinds(self) -> dict[str, pa.DataType]:
        return {name: column.type for name, column in cells(self.axes, 0, 1).items()} if self.axes else {}


def _columns(statistics: Mapping[str, Estimates], groups: slice) -> dict[str, pa.Array]:
    """Return the columns of some groups, all statistics of one group together."""
    estimates = list(statistics.values())
    size = len(estimates[0].value[groups])
    columns: dict[str, pa.Array] = {"statistic": pa.array([*statistics] * size, type=pa.string())}
    for name in ("value", "standard_error", "low", "high"):
        values = np.stack([getattr(statistic, name)[groups] for statistic in estimates], axis=1).ravel()
        columns[name] = pa.array(values, mask=np.isnan(values))
    return columns
