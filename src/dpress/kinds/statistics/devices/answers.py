"""Answers of a collection of numbers, of every group, of all people and any set of groups, and its distributions."""

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.inference.interval import critical
from dpress.kinds.statistics.devices.estimates import (
    DIRECTION,
    DeviceEstimates,
    Numbers,
    ReportedNumbers,
    reported,
)
from dpress.kinds.statistics.group_answers import GroupAnswers
from dpress.kinds.statistics.group_results import NAME, Mask
from dpress.mechanisms.numbers.number_statistics import NumberStatistics
from dpress.mechanisms.protocol.collection import Collection
from dpress.query.all_groups import marked
from dpress.query.answering import Answering
from dpress.query.answers import Progress
from dpress.query.boxes import Products, products
from dpress.query.published_tables import CONFIDENCE, PublishedTable, cells
from dpress.query.query_tree import Condition, Query, Word
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.table_files import table_files

FEW = 12  # groups that are told one by one while reports arrive


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

        Columns: the group's cells (null for all people, in CSV `all`), the ends of the level, its share, the share of
        all levels up to it, and of that the standard error and the ends of its interval.
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
        return marked(pa.record_batch(first | columns), self.axes)


@dataclass(frozen=True, kw_only=True)
class DeviceAnswers(GroupAnswers):
    """Statistics of the owners of devices."""

    @property
    def collection(self) -> Collection:
        """What devices were asked, with the number of those who took part."""
        if (collection := self.release.collection) is None:
            raise TypeError(f"{self.release.method} asks no devices")
        return collection

    @property
    def estimator(self) -> NumberStatistics:
        """Which statistics of which numbers."""
        estimator = self.collection.estimator
        if not isinstance(estimator, NumberStatistics):
            raise TypeError(f"{type(estimator).__name__} is about no numbers")
        return estimator

    @cached_property
    def numbers(self) -> tuple[ReportedNumbers, ...]:
        """The reports of every number."""
        tallies = self.collection.split_tally(self.release.kept)
        return reported(self.release.schema, self.estimator, [tally[:-1] for tally in tallies])

    def estimates(self, mask: Mask | None, confidence: float) -> DeviceEstimates:
        """Return what follows from the reports."""
        z = critical(confidence, self.release.tail)
        masks = np.eye(self.size, dtype=bool) if mask is None else mask[None]
        return DeviceEstimates(numbers=self.numbers, masks=masks, users=self.collection.users, z=z)

    @property
    def distributions(self) -> tuple[DistributionTable, ...]:
        """The distribution of every number that has quantiles or lies on a circle."""
        distributed = [numbers for numbers in self.numbers if numbers.quantiles or numbers.circular]
        z = critical(CONFIDENCE, self.release.tail)
        named = [("distribution", numbers.attribute.name) for numbers in distributed]
        files = table_files(self.release.format, named, "distribution")
        return tuple(
            DistributionTable(name=file, axes=self.axes, numbers=numbers, groups=self.size, z=z)
            for file, numbers in zip(files, distributed, strict=True)
        )

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The statistics, and a distribution for every number that has one."""
        by = tuple(axis.name for axis in self.axes)
        return {**super().tables} | {table.name: (*by, table.numbers.attribute.name) for table in self.distributions}

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the statistics and the distributions."""
        yield from super().parts(progress=progress)
        yield from self.distributions

    @property
    def by(self) -> tuple[int, ...]:
        """The axes of the groups."""
        return self.estimator.by

    @cached_property
    def periods(self) -> Mapping[str, float]:
        """How long the circle is of every circular mean."""
        circles = [numbers.attribute for numbers in self.numbers if numbers.circular]
        return {f"{DIRECTION} {circle.name}": float(circle.ends[1] - circle.ends[0]) for circle in circles}

    def _boxes(self, condition: Condition) -> Products:
        """Return the boxes of a condition; a range of a number on a circle may go past the end: `hour in 22..3`."""
        turned = {numbers.attribute.name: numbers.attribute for numbers in self.numbers if numbers.circular}
        if condition.word == "between" and condition.attribute in turned:
            low, high = condition.values
            with contextlib.suppress(ValueError):
                if float(low) > float(high):
                    up_to: Word = "<=" if turned[condition.attribute].whole else "<"
                    parts = (
                        replace(condition, word=">=", values=(low,)),
                        replace(condition, word=up_to, values=(high,)),
                    )
                    return products(self.release.schema, Condition(word="or", parts=parts))
        return products(self.release.schema, condition)

    def share(self, query: Query, text: str, confidence: float) -> Result:
        """Answer the share of some levels of a number that has a distribution.

        Raises:
            ValueError: it has none, or the condition is about other attributes than the groups'.
        """
        boxes = self._boxes(query.first)
        held = sorted({axis for weights in boxes for axis, mask in enumerate(weights) if not mask.all()})
        axes = [report_type.axes[-1] for report_type in self.estimator.types]
        places = dict(zip(axes, self.numbers, strict=True))
        distributed = [table.numbers for table in self.distributions]
        if len(held) != 1 or places.get(held[0]) not in distributed:
            listed = ", ".join(numbers.attribute.name for numbers in distributed) or "no attribute"
            having = "a distribution" if any(numbers.circular for numbers in self.numbers) else "quantiles"
            raise ValueError(f"share: conditions are known on one attribute that has {having} ({listed}): {text!r}")
        value, error = places[held[0]].share(self.mask(query.where), boxes[0][held[0]].astype(bool))
        half = critical(confidence, self.release.tail) * error
        return Result(
            query=text,
            of="share",
            value=value,
            standard_error=error,
            interval=(max(0.0, value - half), min(1.0, value + half)),
            confidence=confidence,
        )

    def overview(self, cells: int) -> Iterator[PublishedTable]:
        """Yield how many people every group has, where there are groups, and few enough."""
        sums = self.groups().sums
        if sums is not None and 1 < self.size <= cells:
            count, variance = sums.counts
            variances = np.broadcast_to(variance, count.shape)
            yield PublishedTable(
                name=NAME, axes=self.axes, count=count, variance=variances, adjusted=None, tail=self.release.tail
            )

    @property
    def remarks(self) -> tuple[str, ...]:
        """The means, of all people and of every group where there are few, each with its interval."""
        means = [name for name in self.together().names if name.startswith(("mean ", f"{DIRECTION} "))]
        return tuple(self._stated(name) for name in means)

    def _stated(self, name: str) -> str:
        head, _, measured = name.rpartition(" ")
        labels = itertools.product(*(axis.captions for axis in self.axes)) if 1 < self.size <= FEW else ()
        masks = np.eye(self.size, dtype=bool)
        groups = [f"{', '.join(label)} {self._rounded(name, masks[group])}" for group, label in enumerate(labels)]
        everybody = self._rounded(name, np.ones(self.size, dtype=bool))
        means = "; ".join([everybody, *([", ".join(groups)] if groups else [])])
        return f"With 95 % intervals, the {head} of {self.release.schema.attribute(measured).caption} is {means}."

    def _rounded(self, name: str, mask: Mask) -> str:
        statistic = self.estimates(mask, CONFIDENCE).of(name)
        interval = float(statistic.low[0]), float(statistic.high[0])
        value, error = float(statistic.value[0]), float(statistic.standard_error[0])
        shown = Result(query=name, of=name, value=value, standard_error=error, interval=interval, confidence=CONFIDENCE)
        return f"{shown.texts[0]} ({shown.texts[2]})"


ANSWERING = Answering(answers=DeviceAnswers)
