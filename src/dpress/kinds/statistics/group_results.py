"""All statistics of groups, or of sets of them, by name, and the published table, a row for every group and statistic.

noisy sums or reports, quantiles that were chosen -> results -> table.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places
from dpress.inference.group_moments import Estimates, changed
from dpress.query.all_groups import marked
from dpress.query.published_tables import cells

Mask = npt.NDArray[np.bool_]
COUNT = "count"
NAME = "statistics.parquet"
BATCH_GROUPS = 1 << 16


class CountedEstimates(Protocol):
    """Statistics of many sets of groups, and their counts."""

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics, in the order that they are published in."""
        ...

    @property
    def quantile_shares(self) -> Mapping[str, tuple[Fraction, ...]]:
        """The quantiles of every attribute that has some."""
        ...

    @property
    def counts(self) -> tuple[Array, Array]:
        """The count of every set, and its variance."""
        ...

    def of(self, name: str, share: Fraction | None = None) -> Estimates:
        """Return one statistic of all sets: one of `names`, or of an attribute the quantile at `share`."""
        ...


@dataclass(frozen=True, kw_only=True)
class GroupResults:
    """All statistics of many sets of groups.

    Args:
        sums: those that follow from noisy sums, or from reports; None where there are none.
        chosen: the quantiles that were chosen, by name; empty where the sets are not the groups themselves.
    """

    sums: CountedEstimates | None
    chosen: Mapping[str, Estimates]

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics, in the order that they are published in."""
        return (*(() if self.sums is None else self.sums.names), *self.chosen)

    def of(self, name: str) -> Estimates:
        """Return one statistic of all sets.

        Raises:
            LookupError: there is none of this name.
        """
        if name in self.chosen:
            return self.chosen[name]
        if self.sums is None:
            raise LookupError(name)
        return self.sums.of(name)


def only(statistic: Estimates, groups: Mask | Places) -> Estimates:
    """Return the estimates of some groups: of those that a mask names, or of these in this order."""
    return changed(statistic, lambda column: column[groups])


def quantile_name(name: str, share: Fraction) -> str:
    """Return what a quantile is called."""
    return f"median {name}" if share == Fraction(1, 2) else f"quantile {float(share):g} {name}"


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
        """Yield the rows: the groups' cells (null for all groups, in CSV `all`), then the statistic.

        Columns: statistic, value, standard_error, low and high; where sampling is known sampling_error,
        population_low and population_high, of replicate weights design_effect. What is not known is null: a quantile
        that was chosen has a value alone, and none of all groups together.
        """
        names = self.groups.names
        whole = {name: self.together.of(name) for name in self.together.names}
        each = {name: self.groups.of(name) for name in names} if self.axes else {}
        if whole:
            first = {axis: pa.nulls(len(whole), kind) for axis, kind in self._kinds.items()}
            yield marked(pa.record_batch(first | _columns(whole, slice(0, 1))), self.axes)
        size = self.size if self.axes else 0
        for start in range(0, size, BATCH_GROUPS):
            stop = min(start + BATCH_GROUPS, size)
            labels = cells(self.axes, start, stop)
            order = pa.array(np.repeat(np.arange(stop - start), len(names)))
            named = {name: column.take(order) for name, column in labels.items()}
            yield marked(pa.record_batch(named | _columns(each, slice(start, stop))), self.axes)

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
    return columns | _of_samples(estimates, groups)


def _of_samples(estimates: Sequence[Estimates], groups: slice) -> dict[str, pa.Array]:
    """Return the columns of sampling, where any statistic states its error."""
    if all(statistic.sampling is None for statistic in estimates):
        return {}
    none = np.full(len(estimates[0].value[groups]), np.nan)
    rows = [
        [none] * 3 if each.sampling is None or each.population is None else [each.sampling, *each.population]
        for each in estimates
    ]
    names = ["sampling_error", "population_low", "population_high"]
    if any(each.design_effect is not None for each in estimates):
        names.append("design_effect")
        for row, each in zip(rows, estimates, strict=True):
            row.append(none if each.design_effect is None else each.design_effect)
    stacks = (np.stack([row[place][groups] for row in rows], axis=1).ravel() for place in range(len(names)))
    return {name: pa.array(values, mask=np.isnan(values)) for name, values in zip(names, stacks, strict=True)}
