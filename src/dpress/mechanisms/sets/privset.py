"""`privset`: how many people hold each value of a list, of which everybody holds a set.

Flow: sets -> a device answers about one group of the values -> `set_reports` -> counts of every value, mean set size.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from dpress.attributes.sets.attribute import word_sizes
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.maps.linear import Array, Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports.encoders import Codes
from dpress.core.reports.oracle import Tally
from dpress.inference.separate_tables import SeparateTables
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import Part, ReportType, largest, per_user, rest
from dpress.mechanisms.sets.set_reports import SetReports


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSize:
    """How many values a person holds on average, and the variance of that."""

    mean: float
    variance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Privset(Estimator):
    """Counts of the values of sets, from groups of values that are asked about one at a time.

    A report of one of G groups has the whole epsilon. The variance of a count grows with the values that a user may
    hold within a group, so that for a large cap a few values, or a single one, are asked of each user.

    Promise: pure epsilon between any two sets of values, local model; see `SetReports`. Proven.
    Error: the variance of `SetReports` times (N / N_i)^2, of N users N_i asked about the group, and that of drawing
        them, N^2 f (1 - f) (N - N_i) / (N - 1) / N_i; of the sets of which at most `cap` values stay.
    Paper: Wang, Huang, Nie, Xiao, Xu, Yang 2018 (PrivSet), with the values in groups and dummies that are counted out.

    Args:
        types: one for each group of values, in their order, all alike likely.
    """

    types: tuple[ReportType, ...]

    def __post_init__(self) -> None:
        ends = [0, *(report.first + report.size for report in self.reports)]
        first = self.reports[0]
        alike = len({(report.values, report.cap, report.loss) for report in self.reports}) == 1
        if not alike or [*(report.first for report in self.reports), first.values] != ends:
            raise ValueError("types: expected groups of values one after the other, under one cap and loss")
        words = tuple(range(len(word_sizes(first.values))))
        if any(kind.axes != words or len(kind.parts) > 1 or kind.weight != 1 for kind in self.types):
            raise ValueError("types: expected one part each, about all codes of a set, all alike likely")

    @property
    def reports(self) -> tuple[SetReports, ...]:
        """What is sent about every group."""
        oracles = [oracle for report in self.types for oracle in report.oracles]
        if not oracles or not all(isinstance(oracle, SetReports) for oracle in oracles):
            raise ValueError("types: expected reports of sets")
        return cast("tuple[SetReports, ...]", tuple(oracles))

    @property
    def values(self) -> int:
        """How many values are counted."""
        return self.reports[0].values

    @property
    def cap(self) -> int:
        """The most values of a user that stay."""
        return self.reports[0].cap

    @property
    def asks(self) -> str:
        """What a device is asked about, as a phrase."""
        most = max(report.size for report in self.reports)
        return f"all {self.values} values" if most == self.values else f"{most} of {self.values} values"

    @property
    def claim(self) -> Claim:
        """The promise of one report."""
        return largest([report.claim for report in self.types])

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the count of every value, among all who answered.

        Raises:
            ValueError: a group of values has no answer.
        """
        everybody = _everybody(tallies)
        estimates = [report.estimates(tally, everybody)[0] for report, tally in zip(self.types, tallies, strict=True)]
        counts, variances = (np.concatenate(side) for side in zip(*estimates, strict=True))
        return Measurement(map=Identity(self.values), answers=counts, variance=variances)

    def set_size(self, tallies: Sequence[Tally]) -> SetSize:
        """Return the mean number of values that stay of a set: of groups it adds up.

        Raises:
            ValueError: a group of values has no answer.
        """
        _everybody(tallies)
        pairs = zip(self.reports, tallies, strict=True)
        means, spreads = zip(*(report.held_values(tally[:-1], int(tally[-1])) for report, tally in pairs), strict=True)
        return SetSize(mean=math.fsum(means), variance=math.fsum(spreads))

    def query_variances(self, tallies: Sequence[Tally]) -> Callable[[Sequence[Array]], float]:
        """Return what gives the variance of the count of one value; 0 for everybody's."""
        variances = np.asarray(self.measurement(tallies).variance)

        def variance(weights: Sequence[Array]) -> float:
            (cells,) = weights
            if np.all(cells == 1):
                return 0.0
            if np.count_nonzero(cells) != 1:
                raise ValueError("sets overlap, so that one value at a time is counted")
            return float(cells**2 @ variances)

        return variance

    def decoder(self, users: int) -> SeparateTables:
        """Return the one table, of all values."""
        return SeparateTables((self.values,), ((0,),), users, (1.0,))

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a count, were all values alike frequent and sets of cap / 2 values."""
        share, groups = self.cap / self.values / 2, len(self.types)
        group = users / groups
        drawing = share * (1 - share) * rest(users, group)
        each = math.fsum(report.size * (per_user(report, share) + drawing) for report in self.reports)
        return users**2 / group * each / self.values


def _everybody(tallies: Sequence[Tally]) -> int:
    if not all(int(tally[-1]) for tally in tallies):
        raise ValueError("no report is about some of the values; every group of values needs at least one")
    return sum(int(tally[-1]) for tally in tallies)


def grouped(values: int, cap: int, loss: PureDP, groups: int) -> Privset:
    """Return the counts of so many values by so many groups of nearly equal size, the larger ones first.

    >>> [one.size for one in grouped(8, 2, PureDP(epsilon=1), 3).reports]
    [3, 3, 2]
    """
    axes, types, first = tuple(range(len(word_sizes(values)))), [], 0
    for group in range(groups):
        size = values // groups + (group < values % groups)
        reports = _reports(values, size, cap, loss)
        oracle = SetReports(
            values=values, first=first, size=size, cap=cap, loss=loss, weight=reports.weight, meets=reports.meets
        )
        types.append(ReportType(parts=(Part(axes=axes, oracle=oracle, encoder=Codes()),)))
        first += size
    return Privset(types=tuple(types))


@functools.lru_cache(maxsize=4096)
def _reports(values: int, size: int, cap: int, loss: PureDP) -> SetReports:
    return SetReports(values=values, first=0, size=size, cap=cap, loss=loss)


def best_groups(values: int, cap: int, loss: PureDP) -> int:
    """Return the number of groups of the smallest predicted variance, among all sizes of groups.

    >>> best_groups(1000, 4, PureDP(epsilon=1)), best_groups(10, 8, PureDP(epsilon=1))
    (1, 10)
    """
    share = cap / values / 2

    def variance(groups: int) -> float:
        size, more = divmod(values, groups)
        parts = [(size, groups - more), (size + 1, more)]
        drawing = share * (1 - share) * (groups - 1) / groups
        each = [n * size * (per_user(_reports(values, size, cap, loss), share) + drawing) for size, n in parts if n]
        return groups * math.fsum(each)

    return min(sorted({-(-values // size) for size in range(1, values + 1)}), key=variance)


def _example(loss: Loss) -> Privset:
    """Return sets of up to two of five values in two groups, whose channels can be written down."""
    loss = pure(loss, "reports of sets are calibrated to epsilon")
    return grouped(5, 2, loss, 2)


CARD = Card(
    name="privset",
    family="sets",
    model="local",
    paper="local: sets of values (Wang, Huang, Nie, Xiao, Xu, Yang 2018)",
    summary="How many people hold each value of a list: random sets of values that meet one's own more often.",
    method=Privset,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
)
