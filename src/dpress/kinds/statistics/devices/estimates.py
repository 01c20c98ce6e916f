"""What reports of numbers say of sets of groups: every statistic with its interval.

reports of every number -> sums with covariances, a distribution with its errors -> counts, means, variances, quantiles.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.attributes.numbers.attribute import Number
from dpress.core.maps.linear import Array
from dpress.inference import group_moments
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import cut_ends
from dpress.inference.numbers.directions import direction
from dpress.inference.numbers.fitted_distribution import Distribution, distribution
from dpress.inference.numbers.report_sums import Sums, sums
from dpress.inference.ratio import Pair, fieller
from dpress.kinds.statistics.group_results import COUNT, Mask, quantile_name
from dpress.kinds.statistics.level_values import level_scale, valued

DIRECTION, LENGTH = "circular mean", "resultant length"
Row = tuple[float, float, float, float]  # value, standard error and ends of an interval
ERRORS_ABOVE = 3.0  # standard errors that a group's number must be above 0 for a variance or a quantile of it


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportedNumbers:
    """One number, from the reports of devices.

    Args:
        attribute: whose levels were reported about.
        degree: of its moments.
        quantiles: that are asked for.
        oracle: that made the reports.
        reports: how often every output was reported, shape (groups, outputs of a row).
        everybody: how many reported, also about other numbers.
    """

    attribute: Number
    degree: int
    quantiles: tuple[Fraction, ...]
    oracle: Any
    reports: npt.NDArray[np.int64]
    everybody: int

    @property
    def circular(self) -> bool:
        """Whether its bounds meet."""
        circular: bool = self.oracle.circular
        return circular

    @property
    def users(self) -> int:
        """How many reported about it."""
        return int(self.reports.sum())

    def sums(self, mask: Mask) -> Sums:
        """Return the unbiased sums of some groups; what they are wrong by for everybody who took part."""
        return sums(self.reports, self.oracle.scores, mask, part=self.users / max(self.everybody, 1))

    def prefixes(self, mask: Mask) -> tuple[Array, Array]:
        """Return the fitted shares of some groups below every level's lower end, and their errors."""
        return self._distribution.of(mask)

    def share(self, mask: Mask, levels: Mask) -> tuple[float, float]:
        """Return the fitted share of some levels among some groups, and its error."""
        return self._distribution.share(mask, levels)

    @cached_property
    def _distribution(self) -> Distribution:
        return distribution(self.oracle.map, self.reports)


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedNumbers:
    """One number, from a table without noise: private.

    Args:
        attribute: its levels.
        degree: of its moments.
        quantiles: that are asked for.
        counts: of users, shape (groups, levels).
        circular: whether its bounds meet.
    """

    attribute: Number
    degree: int
    quantiles: tuple[Fraction, ...]
    counts: npt.NDArray[np.int64]
    circular: bool = False

    @property
    def users(self) -> int:
        """How many there are."""
        return int(self.counts.sum())

    def sums(self, mask: Mask) -> Sums:
        """Return the exact sums."""
        counts, size = self.counts[mask].sum(axis=0), self.counts.shape[1]
        if self.circular:
            vector = counts @ np.exp(2j * np.pi * np.arange(size) / size)
            return Sums(values=np.array([counts.sum(), vector.real, vector.imag]), covariance=np.zeros((3, 3)))
        level = np.arange(size) - (size - 1) / 2
        values = np.array([counts.sum(), counts @ level, counts @ level**2], dtype=float)
        return Sums(values=values, covariance=np.zeros((3, 3)))

    def prefixes(self, mask: Mask) -> tuple[Array, Array]:
        """Return the exact shares."""
        below = np.append(0.0, self.counts[mask].sum(axis=0).cumsum())
        return below / max(below[-1], 1.0), np.zeros(below.size)


Numbers = ReportedNumbers | CountedNumbers


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceEstimates:
    """Statistics of many sets of groups.

    Error: of counts, sums and means unbiased with the covariance of `report_sums`; a mean's interval is Fieller's, a
    variance's by the delta method, those of a circle by `numbers.directions`. A quantile's interval is that of all
    levels where the fitted share below is not significantly on the other side, by the errors of
    `numbers.fitted_distribution`.

    Args:
        numbers: one at least.
        masks: the sets of groups, shape (sets, groups).
        users: everybody, also those who reported about other numbers.
        z: standard errors to each side of an interval.
    """

    numbers: Sequence[ReportedNumbers] | Sequence[CountedNumbers]
    masks: npt.NDArray[np.bool_]
    users: int
    z: float

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics, in the order that they are published in."""
        return tuple(self._by_name)

    def of(self, name: str, share: Fraction | None = None) -> Estimates:
        """Return one statistic of all sets: one of `names`, or of an attribute the quantile at `share`."""
        if share is not None:
            return self._quantiles(next(numbers for numbers in self.numbers if numbers.attribute.name == name), share)
        return self._by_name[name]()

    @property
    def quantile_shares(self) -> dict[str, tuple[Fraction, ...]]:
        """The quantiles of every number that has some."""
        return {numbers.attribute.name: numbers.quantiles for numbers in self.numbers if numbers.quantiles}

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """The count of every set and its variance: every number's, weighted by precision; everybody's is known."""
        pairs = []
        for numbers in self.numbers:
            every = [numbers.sums(mask) for mask in self.masks]
            scale = self.users / max(numbers.users, 1)
            values = np.array([sums.values[0] for sums in every]) * scale
            pairs.append((values, np.array([max(sums.covariance[0, 0], 1e-9) for sums in every]) * scale**2))
        count, variance = group_moments.combined([value for value, _ in pairs], [spread for _, spread in pairs])
        whole = self.masks.all(axis=1)
        return np.where(whole, self.users, count), np.where(whole, 0.0, variance)

    @cached_property
    def _by_name(self) -> dict[str, Callable[[], Estimates]]:
        named: dict[str, Callable[[], Estimates]] = {COUNT: lambda: group_moments.linear(*self.counts, self.z, 0.0)}
        for numbers in self.numbers:
            name = numbers.attribute.name
            if numbers.degree:
                named[f"sum {name}"] = functools.partial(self._sum, numbers)
                named[f"mean {name}"] = functools.partial(self._mean, numbers)
            if numbers.degree == 2:
                named[f"variance {name}"] = functools.partial(self._variance, numbers)
            if numbers.circular:
                named[f"{DIRECTION} {name}"] = functools.partial(self._direction, numbers)
                named[f"{LENGTH} {name}"] = functools.partial(self._length, numbers)
            for share in numbers.quantiles:
                named[quantile_name(name, share)] = functools.partial(self._quantiles, numbers, share)
        return named

    def _sum(self, numbers: Numbers) -> Estimates:
        centre, step, _ = _scale(numbers)
        form, scale = np.array([centre, step]) * (self.users / max(numbers.users, 1)), []
        for mask in self.masks:
            sums = numbers.sums(mask)
            scale.append((float(form @ sums.values[:2]), float(form @ sums.covariance[:2, :2] @ form)))
        value, variance = np.array(scale).T
        return group_moments.linear(value, np.maximum(variance, 0.0), self.z, 0.0)

    def _mean(self, numbers: Numbers) -> Estimates:
        centre, step, reach = _scale(numbers)
        rows = []
        for mask in self.masks:
            of_mask = numbers.sums(mask)
            values, covariance = of_mask.values, of_mask.covariance
            pair = Pair(
                first=float(values[1]),
                second=float(values[0]),
                variances=(float(covariance[1, 1]), max(float(covariance[0, 0]), 0.0)),
                covariance=float(covariance[0, 1]),
            )
            ratio = fieller(pair, self.z, (0.0, 0.0))
            ends = cut_ends(*ratio.interval, (-reach, reach))
            rows.append((np.clip(ratio.value, -reach, reach), ratio.standard_error, *ends))
        return group_moments.moved(group_moments.of_rows(rows), centre, step)

    def mean_error(self, numbers: Numbers) -> float:
        """Return the standard error of the first set's mean of a number, also of one that is not published."""
        return float(self._mean(numbers).standard_error[0])

    def _variance(self, numbers: Numbers) -> Estimates:
        _, step, reach = _scale(numbers)

        def of(sums: Sums) -> Row:
            n, first, second = sums.values.tolist()
            mean = first / n
            slope = np.array([2 * mean**2 - second / n, -2 * mean, 1.0]) / n
            value = min(max(second / n - mean**2, 0.0), reach**2)
            error = math.sqrt(max(float(slope @ sums.covariance @ slope), 0.0))
            return value, error, max(value - self.z * error, 0.0), min(value + self.z * error, reach**2)

        return group_moments.moved(self._where_sure(numbers, of, (0.0, reach**2)), 0.0, step**2)

    def _quantiles(self, numbers: Numbers, share: Fraction) -> Estimates:
        levels, rows = numbers.attribute.ordered, []
        for mask in self.masks:
            if self._stands_out(numbers.sums(mask)):
                prefixes, errors = numbers.prefixes(mask)
                rows.append(group_moments.quantile(prefixes, self.z * errors, float(share)))
            else:
                rows.append((math.nan, 0.0, float(levels)))
        return valued(numbers.attribute, levels, levels, list(np.array(rows).T), self.z)

    def _direction(self, numbers: Numbers) -> Estimates:
        angles = self._where_sure(numbers, lambda sums: direction(sums, self.z).angle, (-math.inf, math.inf))
        return turned(numbers.attribute, angles)

    def _length(self, numbers: Numbers) -> Estimates:
        return self._where_sure(numbers, lambda sums: direction(sums, self.z).length, (0.0, 1.0))

    def _where_sure(self, numbers: Numbers, of: Callable[[Sums], Row], whole: tuple[float, float]) -> Estimates:
        """Return a statistic of every set that is not too small; of others nothing is known but the whole interval."""
        unknown, every = (math.nan, math.nan, *whole), map(numbers.sums, self.masks)
        return group_moments.of_rows([of(sums) if self._stands_out(sums) else unknown for sums in every])

    def _stands_out(self, sums: Sums) -> bool:
        return bool(sums.values[0] > ERRORS_ABOVE * math.sqrt(max(float(sums.covariance[0, 0]), 0.0)))


def _scale(numbers: Numbers) -> tuple[float, float, float]:
    """Return the value of the middle level, the width of a level, and how many levels the last is from the middle."""
    reach = (numbers.attribute.ordered - 1) / 2
    centre, radius = level_scale(numbers.attribute, numbers.attribute.ordered - 1)
    return centre, radius / reach, reach


def turned(attribute: Number, angles: Estimates) -> Estimates:
    """Return directions as values of an attribute whose bounds meet.

    A value lies within the bounds. The ends of its interval are at most half the circle away and may lie beyond them:
    25 is one o'clock, and the whole circle is half of it to each side.

    Args:
        attribute: the attribute.
        angles: in radians; 0 is the first level.
    """
    low, high = map(float, attribute.ends)
    around, step = high - low, (high - low) / attribute.ordered
    shift = (step - attribute.whole) / 2  # of the middle of the first level
    value = angles.value
    values = low + (shift + value / (2 * np.pi) * around) % around
    half = np.clip([angles.low - value, angles.high - value], -np.pi, np.pi)
    first, last = (
        np.where(np.isnan(value), edge, values + reach / (2 * np.pi) * around)
        for edge, reach in zip((low, high), half, strict=True)
    )
    return Estimates(value=values, standard_error=angles.standard_error / (2 * np.pi) * around, low=first, high=last)


def reported(schema: Any, estimator: Any, reports: Sequence[npt.NDArray[Any]]) -> tuple[ReportedNumbers, ...]:
    """Return the numbers of a collection.

    Args:
        schema: of its attributes.
        estimator: `NumberStatistics`.
        reports: of every type, how often every output was reported.
    """
    everybody = sum(int(counts.sum()) for counts in reports)
    of_types = zip(estimator.types, estimator.degrees, estimator.quantiles, estimator.oracles, reports, strict=True)
    return tuple(
        ReportedNumbers(
            attribute=schema.tabular[report_type.axes[-1]],
            degree=degree,
            quantiles=quantiles,
            oracle=oracle,
            reports=counts.reshape(oracle.groups, -1),
            everybody=everybody,
        )
        for report_type, degree, quantiles, oracle, counts in of_types
    )
