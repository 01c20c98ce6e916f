"""Answers of a release of statistics: of every group, of all rows, and of any set of groups.

noisy sums -> estimates -> a table of a row for every group and statistic; `mean cost where ward = eyes` -> one of them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.core.attribute import Tabular
from dpress.core.measurement import Measurement
from dpress.core.mechanism import CuratorMechanism
from dpress.core.near import meant
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import critical
from dpress.inference.ratio import Pair
from dpress.kinds.statistics.estimates import COUNT, Mask, condition, group_estimates, masks
from dpress.kinds.statistics.person_estimates import statistics_of
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.selection.above_threshold import SURE
from dpress.release.answers import Part, Progress, PublishedOnly
from dpress.release.linear_forms import Compared
from dpress.release.published_tables import CONFIDENCE, cells
from dpress.release.query_language import parse
from dpress.release.release import Release
from dpress.release.result import Result
from dpress.release.statistics import EMPTY
from dpress.release.statistics_queries import Statistic

NAME = "statistics.parquet"
BATCH_GROUPS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTable:
    """A row for every group and statistic, after those of all groups together.

    Args:
        axes: the attributes of the groups.
        groups: the estimates of every group, `GroupEstimates` or those of devices.
        together: those of all groups.
        name: of the file.
    """

    axes: tuple[Tabular, ...]
    groups: Any
    together: Any
    name: str = NAME

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows: the groups' cells (null for all groups), statistic, value, standard_error, low and high.

        Value and standard error are null where they are not known.
        """
        names = self.groups.names
        whole = {name: self.together.of(name) for name in names}
        each = {name: self.groups.of(name) for name in names} if self.axes else {}
        first = {axis: pa.nulls(len(names), kind) for axis, kind in self._kinds.items()}
        yield pa.record_batch(first | _columns(whole, slice(0, 1)))
        size = self.groups.sizes.size if self.axes else 0
        for start in range(0, size, BATCH_GROUPS):
            stop = min(start + BATCH_GROUPS, size)
            own = cells(self.axes, start, stop)
            order = pa.array(np.repeat(np.arange(stop - start), len(names)))
            yield pa.record_batch(
                {name: column.take(order) for name, column in own.items()} | _columns(each, slice(start, stop))
            )

    @property
    def _kinds(self) -> dict[str, pa.DataType]:
        return {name: column.type for name, column in cells(self.axes, 0, 1).items()} if self.axes else {}


def _columns(found: Mapping[str, Estimates], groups: slice) -> dict[str, pa.Array]:
    """Return the columns of some groups, all statistics of one group together."""
    own = list(found.values())
    size = len(own[0].value[groups])
    columns: dict[str, pa.Array] = {"statistic": pa.array([*found] * size, type=pa.string())}
    for name in ("value", "standard_error", "low", "high"):
        values = np.stack([getattr(one, name)[groups] for one in own], axis=1).ravel()
        columns[name] = pa.array(values, mask=np.isnan(values))
    return columns


@dataclass(frozen=True, kw_only=True)
class GroupAnswers(PublishedOnly):
    """Statistics of groups.

    Args:
        release: of statistics.
    """

    release: Release

    @property
    def strategy(self) -> GroupStatistics:
        """What was measured."""
        mechanism: Any = self.release.mechanism
        if not isinstance(mechanism.strategy, GroupStatistics):
            raise TypeError(f"{type(mechanism).__name__} measures no statistics")
        return mechanism.strategy

    @cached_property
    def measurement(self) -> Measurement:
        """The noisy sums with their variance."""
        mechanism = self.release.mechanism
        if not isinstance(mechanism, CuratorMechanism):
            raise TypeError(f"{type(mechanism).__name__} measures no table")
        return mechanism.measured(self.release.kept)

    @property
    def axes(self) -> tuple[Tabular, ...]:
        """The attributes of the groups."""
        tabular = self.release.schema.tabular
        return tuple(tabular[axis] for axis in self._by)

    @property
    def _by(self) -> tuple[int, ...]:
        by: tuple[int, ...] = self.strategy.decoder.by
        return by

    @property
    def _sets(self) -> int:
        """The number of groups."""
        groups: int = self.strategy.decoder.groups
        return groups

    @property
    def _with_quantiles(self) -> list[str]:
        """The attributes that have quantiles."""
        return [self.release.schema.names[part.axis] for part in self.strategy.distributions]

    def groups(self, confidence: float = CONFIDENCE) -> Any:
        """Return the estimates of every group (`GroupEstimates`)."""
        return self._estimates(confidence, None)

    def together(self, confidence: float = CONFIDENCE) -> Any:
        """Return the estimates of all groups together."""
        return self._estimates(confidence, np.ones(self._sets, dtype=bool))

    def _estimates(self, confidence: float, mask: Mask | None) -> Any:
        z = critical(confidence, self.release.tail)
        return group_estimates(self.strategy, self.release.schema, self.measurement, z=z, mask=mask)

    def query(self, text: str, *, confidence: float, progress: Progress | None) -> Result:
        """Answer the count of the groups that a condition names, or their variance: `variance cost where ward = eyes`.

        Error: see `inference.group_moments`.

        Args:
            text: the query.
            confidence: of the interval.
            progress: not used.

        Raises:
            ValueError: there is no such statistic, or the condition is about other attributes than the groups'.
        """
        del progress
        asked, _, where = text.partition(" where ")
        name, word = " ".join(asked.split()), text.split(maxsplit=1)[:1]
        if word != ["variance"] and name not in self.of_persons:
            return self._answered((text, "count"), COUNT, text, confidence)
        return self._answered((text, word[0]), name, where or None, confidence)

    def statistic(self, asked: Statistic, confidence: float) -> Result | None:
        """Answer a mean, a sum, a quantile or a share that was measured; None for what follows from counts.

        Raises:
            ValueError: it was not measured, or the condition is about other attributes than the groups'.
        """
        own = (asked.text, asked.of)
        if asked.of in ("mean", "sum"):
            return self._answered(own, f"{asked.of} {asked.attribute}", asked.where, confidence)
        if asked.of == "quantile":
            if asked.attribute not in self._with_quantiles:
                raise ValueError(self._unknown(f"quantile of {asked.attribute}"))
            share = Fraction(asked.level).limit_denominator(1 << 20)
            return self._answered(own, asked.attribute, asked.where, confidence, share)
        if asked.of != "share" or (name := self._share_name(asked.first)) is None:
            return None
        return self._answered(own, name, asked.where, confidence)

    def _share_name(self, conditions: str) -> str | None:
        """Return the share of a condition that was measured; None where there is none."""
        weights = parse(self.release.schema, conditions)
        asked = tuple((axis, tuple(np.flatnonzero(own).tolist())) for axis, own in enumerate(weights) if not own.all())
        measured = [part.where for part in self.strategy.moments]
        return f"share {condition(self.release.schema, asked)}" if asked in measured else None

    def compared(self, first: str, second: str) -> Compared:
        """Return the counts of two sets of groups, whose errors are those of the groups that both have."""
        found, groups = self.groups(), [self._mask(text).astype(float) for text in (first, second)]
        if COUNT not in found.names:
            raise ValueError(self._unknown(COUNT))
        count, variance = found.counts
        one, other = groups
        pair = Pair(
            first=float(one @ count),
            second=float(other @ count),
            variances=(float(one @ variance), float(other @ variance)),
            covariance=float((one * other) @ variance),
        )
        return Compared(pair=pair, critical=lambda confidence: critical(confidence, self.release.tail))

    def _mask(self, where: str | None) -> Mask:
        """Return which groups conditions name, shape (groups,)."""
        return masks(parse(self.release.schema.subset([axis.name for axis in self.axes]), where or "total"))

    def _answered(
        self, asked: tuple[str, str], name: str, where: str | None, confidence: float, share: Fraction | None = None
    ) -> Result:
        """Answer a statistic by its name; `asked` is the query and what it is of."""
        mask = self._mask(where)
        found = self._estimates(confidence, mask)
        if share is None and name not in found.names:
            raise ValueError(self._unknown(name))
        if name in self.of_persons and not mask.all() and mask.sum() != 1:
            raise ValueError(f"{name} is known of one group and of all: a person may be in several; got {where!r}")
        one = found.of(name, share)
        value = float(one.value[0])
        return Result(
            query=asked[0],
            value=value,
            standard_error=float(one.standard_error[0]),
            interval=(float(one.low[0]), float(one.high[0])),
            confidence=confidence,
            note=EMPTY if math.isnan(value) else None,
            of=asked[1],
        )

    @cached_property
    def of_persons(self) -> tuple[str, ...]:
        """The statistics of persons."""
        return tuple(statistics_of(self.strategy.persons, self.release.schema.names))

    def _unknown(self, name: str) -> str:
        known = self.together().names
        return f"there is no statistic {name!r}; there are {', '.join(known)}{meant(name, known)}"

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The one table."""
        return {NAME: tuple(axis.name for axis in self.axes)}

    @property
    def announced(self) -> tuple[str, ...]:
        """Which statistics there are, and how their groups were found."""
        own = self.discovered
        return (f"Statistics: {', '.join(self.together().names)}", *([own] if own else []))

    @property
    def discovered(self) -> str:
        """How the groups were found whose names nobody listed, in a sentence; empty where all are listed."""
        mechanism = self.release.mechanism
        if not isinstance(mechanism, DiscoveredGroups):
            return ""
        own: Any = self.release.schema.tabular[mechanism.axis]
        nearly, person = mechanism.names.count_for(SURE), mechanism.unit.column
        whom = f"different {person}" if person else "rows"
        return (
            f"{own.name}: {len(own.listed):,} names occurred often enough to be released (a name that {nearly:,} "
            f"{whom} have is, with a chance of 99 %); all other rows are in the groups of “{own.extra[-1]}”."
        )

    @property
    def described(self) -> Mapping[str, Any]:
        """The names of the statistics."""
        return {"statistics": list(self.together().names)}

    def published(self) -> Iterator[Any]:
        """Yield no table of counts."""
        yield from ()

    @property
    def table(self) -> GroupTable:
        """The table of all statistics."""
        return GroupTable(axes=self.axes, groups=self.groups(), together=self.together())

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield the table with the names of the groups' attributes."""
        yield tuple(axis.name for axis in self.axes), self.table

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the table."""
        del progress
        yield self.table
