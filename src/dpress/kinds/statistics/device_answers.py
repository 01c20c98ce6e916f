"""Answers of a collection of numbers: of every group, of all people, and of any set of groups."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.inference.interval import critical
from dpress.kinds.statistics.device_estimates import DeviceEstimates, ReportedNumbers, reported
from dpress.kinds.statistics.estimates import Mask
from dpress.kinds.statistics.group_answers import GroupAnswers
from dpress.mechanisms.numbers.number_statistics import NumberStatistics
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.published_tables import CONFIDENCE, PublishedTable


@dataclass(frozen=True, kw_only=True)
class DeviceAnswers(GroupAnswers):
    """Statistics of the owners of devices."""

    @property
    def collection(self) -> Collection:
        """What devices were asked, with the number of those who took part."""
        own = self.release.mechanism
        if not isinstance(own, Collection):
            raise TypeError(f"{type(own).__name__} asks no devices")
        return own

    @property
    def estimator(self) -> NumberStatistics:
        """Which statistics of which numbers."""
        own = self.collection.estimator
        if not isinstance(own, NumberStatistics):
            raise TypeError(f"{type(own).__name__} is about no numbers")
        return own

    @cached_property
    def numbers(self) -> tuple[ReportedNumbers, ...]:
        """The reports of every number."""
        tallies = self.collection.split_tally(self.release.kept)
        return reported(self.release.schema, self.estimator, [own[:-1] for own in tallies])

    def _estimates(self, confidence: float, mask: Mask | None) -> DeviceEstimates:
        z = critical(confidence, self.release.tail)
        masks = np.eye(self._sets, dtype=bool) if mask is None else mask[None]
        return DeviceEstimates(numbers=self.numbers, masks=masks, users=self.collection.users, z=z)

    @property
    def _by(self) -> tuple[int, ...]:
        return self.estimator.by

    @property
    def _sets(self) -> int:
        groups: int = self.estimator.oracles[0].groups
        return groups

    @property
    def _with_quantiles(self) -> list[str]:
        return [own.attribute.name for own in self.numbers if own.quantiles]

    def _share_name(self, conditions: str) -> str | None:
        del conditions
        return None

    @cached_property
    def of_persons(self) -> tuple[str, ...]:
        """No statistics of persons: every report is one."""
        return ()

    @property
    def discovered(self) -> str:
        """Nothing: devices need the list of the groups."""
        return ""

    def overview(self, cells: int) -> Iterator[PublishedTable]:
        """Yield no table of counts."""
        del cells
        yield from ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """The means of all people so far, each with its interval."""
        found, means = self.together(CONFIDENCE), []
        for name in found.names:
            if name.startswith("mean "):
                one = found.of(name)
                value, low, high = (float(own[0]) for own in (one.value, one.low, one.high))
                means.append(f"So far the {name} is {value:,.6g}, from {low:,.6g} to {high:,.6g}.")
        return tuple(means)
