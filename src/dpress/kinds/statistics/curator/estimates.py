"""What a release of statistics says of its groups, or of sets of them: every statistic with its interval.

noisy sums of all groups -> sums of a set of groups -> counts -> means, variances, shares, quantiles.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.inference import group_moments
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import margin
from dpress.inference.sampling_variance import with_sampling
from dpress.kinds.statistics.curator.conditions import share_name
from dpress.kinds.statistics.curator.prefix_counts import Counted, form_variances, prefix_variances, prefixes
from dpress.kinds.statistics.curator.sampling import Deviations, deviations_of
from dpress.kinds.statistics.curator.weights import heaviest, weighted
from dpress.kinds.statistics.group_results import COUNT, Mask, quantile_name
from dpress.kinds.statistics.level_values import bounded, scale_of, valued, valued_between
from dpress.mechanisms.linear.group_statistics import GroupStatistics

PERSONS, DISTINCT = "persons", "distinct"


@dataclass(frozen=True, kw_only=True)
class GroupEstimates:
    """Sums of many sets of groups; where rows are weighted, all but their count are of rows times their weight.

    Args:
        strategy: that names the parts.
        schema: of the attributes.
        sums: of every part, in counts, shape (sets, sums or nodes of one group); of `NotAdditive` see its `of_sets`.
        variances: of one sum of every part in one group, in counts squared.
        steps: of the noise of one sum of every part, in counts.
        sizes: how many groups each set has, shape (sets,).
        z: standard errors to each side of an interval.
        of_sampling: the same of the error of sampling, which is normal whatever the noise is.
    """

    strategy: GroupStatistics
    schema: Schema
    sums: tuple[Array, ...]
    variances: tuple[float, ...]
    steps: tuple[float, ...]
    sizes: Array
    z: float
    of_sampling: float

    def of(self, name: str, share: Fraction | None = None) -> Estimates:
        """Return one statistic of all sets: one of `names`, or of an attribute the quantile at `share`."""
        if share is not None:
            axes = [part.axis for part in self.strategy.distributions]
            place = self._moments + axes.index(self.schema.names.index(name))
            return self.quantile(place, share=share)
        if name == COUNT:
            return group_moments.linear(*self.counts, self.z, max(self.steps))
        place, statistic = self.by_name[name]
        return statistic(self, place)

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics, in the order that they are published in."""
        return (*([COUNT] if any(part.counts_rows for part in self.strategy.of_rows) else []), *self.by_name)

    @property
    def quantile_shares(self) -> dict[str, tuple[Fraction, ...]]:
        """The quantiles of every attribute that has some."""
        return {self.schema.names[part.axis]: part.quantiles for part in self.strategy.distributions}

    @cached_property
    def counts(self) -> Counted:
        """The count of every set, and its variance: all parts that count every row, weighted by their precision."""
        parts = self.strategy.of_rows
        return self._combined([self._row_count(place) for place, part in enumerate(parts) if part.counts_rows])

    @cached_property
    def weights(self) -> Counted:
        """The sum of the weights of every set, in parts of the largest; the count where rows are not weighted."""
        return self.counts if self.strategy.weight is None else self._of_all(0, self._rows)

    @cached_property
    def heaviest(self) -> float:
        """The largest weight; 1 where rows are not weighted."""
        return heaviest(self.schema, self.strategy.weight)

    @cached_property
    def _persons(self) -> Counted:
        return self._of_all(self._first_person, len(self.strategy.parts))

    @cached_property
    def by_name(self) -> dict[str, tuple[int, "Statistic"]]:
        """The part that every statistic comes from, and what makes it."""
        return statistics(self.strategy, self.schema)

    @property
    def _moments(self) -> int:
        return len(self.strategy.moments)

    @property
    def _rows(self) -> int:
        return len(self.strategy.of_rows)

    @property
    def _first_person(self) -> int:
        return self._rows + len(self.strategy.distinct)

    def distinct(self, place: int) -> Estimates:
        """Return the number of different values."""
        return group_moments.linear(self.sums[place][:, 0], self._variances(place), self.z, self.steps[place])

    def persons(self, place: int) -> Estimates:
        """Return the number of persons."""
        del place
        return group_moments.linear(*self._persons, self.z, max(self.steps[self._first_person :]))

    def weight_sum(self, place: int) -> Estimates:
        """Return the sum of the weights; of sampling it errs as those of a part do that leaves no row out."""
        value, variance = self.weights
        most = self.heaviest
        estimates = group_moments.linear(most * value, most**2 * variance, self.z, most * max(self.steps))
        return self._of_sum(estimates, place, (most, 0.0))

    def total(self, place: int) -> Estimates:
        """Return the sum of a part's values, or totals of persons."""
        centre, radius = (self.heaviest * each for each in self._scale(place))
        (count, count_variance), (total, variance) = self._count_for(place), self._difference(place)
        value, spread = centre * count + radius * total, centre**2 * count_variance + radius**2 * variance
        step = abs(centre) * self._count_step(place) + radius * self.steps[place]
        return self._of_sum(group_moments.linear(value, spread, self.z, step), place, (centre, radius))

    def mean(self, place: int) -> Estimates:
        """Return the mean of a part's values, or total per person."""
        spread = self.variance(place).value if place < len(self.strategy.replicates) else None
        return self._of_ratio(place, self._scale(place), spread)

    def share(self, place: int) -> Estimates:
        """Return the share of the rows that a condition holds for."""
        share = (1 + self._ratio(place).value) / 2
        return self._of_ratio(place, (0.5, 0.5), share * (1 - share))

    def _of_sum(self, estimates: Estimates, place: int, scale: tuple[float, float]) -> Estimates:
        """Return a sum with the error of sampling, where replicates tell it."""
        deviations = self.deviations(place)
        return (
            estimates if deviations is None else with_sampling(estimates, deviations.of_sum(*scale), self.of_sampling)
        )

    def _of_ratio(self, place: int, scale: tuple[float, float], spread: Array | None) -> Estimates:
        """Return a ratio in its units, where replicates tell it with the error of sampling.

        Args:
            place: of the part.
            scale: centre and radius of t.
            spread: the variance of the number among rows.
        """
        (centre, radius), ratio, deviations = scale, self._ratio(place), self.deviations(place)
        estimates = group_moments.moved(ratio, centre, radius)
        if deviations is None or spread is None:
            return estimates
        sampling = deviations.variance_of(*self.shifts(place, radius))
        rows = np.maximum(self._row_count(place)[0], 1)
        return with_sampling(estimates, sampling, self.of_sampling, (centre - radius, centre + radius), spread / rows)

    def shifts(self, place: int, radius: float) -> tuple[Array, Array]:
        """Return how far a part's ratio is from that of every replicate; see `Deviations.shifts`."""
        deviations, ratio = cast("Deviations", self.deviations(place)), self._ratio(place)
        return deviations.shifts(np.nan_to_num(ratio.value), self._count_for(place)[0], radius)

    def count_of(self, name: str) -> Counted:
        """Return how many rows a statistic is of, and the variance of that."""
        return self.counts if name == COUNT else self._count_for(self.by_name[name][0])

    def sum_scale(self, name: str) -> tuple[float, float]:
        """Return by what u, and u t, are multiplied in a sum."""
        place, statistic = self.by_name[name]
        scale = (1.0, 0.0) if statistic is GroupEstimates.weight_sum else self._scale(place)
        return self.heaviest * scale[0], self.heaviest * scale[1]

    def radius_of(self, name: str) -> float | None:
        """Return the radius of a mean or a share; None of other statistics."""
        place, statistic = self.by_name[name]
        if statistic is GroupEstimates.share:
            return 0.5
        return self._scale(place)[1] if statistic is GroupEstimates.mean else None

    def deviations(self, place: int) -> Deviations | None:
        """Return how far the sums of a part are from those by replicate weights; None where there are none."""
        if place >= len(self.strategy.replicates):
            return None
        at = self._moments + len(self.strategy.distributions) + place
        return deviations_of(self.strategy.replicates[place], self.sums[at], self._variances(at))

    def linear(self, names: Sequence[str]) -> tuple[Array, Array]:
        """Return counts and sums of every set, and the covariance of their errors in any one of them.

        Error: a part's sum of t is uncorrelated with every count, its own too (`MomentSums`), and parts have noise of
        their own. With centre n + radius T for a sum: the covariance of two sums is centre centre' Var(n), of a sum and
        the count centre Var(n), and none where the part leaves rows out, whose n is its own.

        Args:
            names: of `names`, the count and sums among them.

        Returns:
            Values of shape (names, sets), and a matrix of shape (names, names).

        Raises:
            LookupError: a name is of another statistic.
        """
        values, parts = [], np.zeros((len(names), 1 + len(self.strategy.parts)))
        for row, name in zip(parts, names, strict=True):
            if self.strategy.weight is not None:
                raise LookupError(name)
            if name == COUNT and COUNT in self.names:
                values.append(self.counts[0])
                row[0] = math.sqrt(self.counts[1][0])
                continue
            place, statistic = self.by_name[name]
            if statistic is not GroupEstimates.total or place >= self._rows:
                raise LookupError(name)
            (centre, radius), (count, variance) = self._scale(place), self._count_for(place)
            values.append(centre * count + radius * self._difference(place)[0])
            shared = self.strategy.parts[place].counts_all
            row[0] = centre * math.sqrt(variance[0]) * shared
            alone = 0.0 if shared else centre**2 * variance[0]
            row[1 + place] = math.sqrt(alone + radius**2 * self._difference(place)[1][0])
        return np.array(values), parts @ parts.T

    def variance(self, place: int) -> Estimates:
        """Return the variance of a part's values."""
        _, radius = self._scale(place)
        count, count_variance = self._count_for(place)
        step = max(4 * self.steps[place], 4 / 3 * max(self.steps))  # of a sum in (t - mean)^2 - variance, of the count
        spread = group_moments.spread(self._levels(place), self._variances(place), count, count_variance, self.z, step)
        return group_moments.moved(spread, 0.0, radius**2)

    def quantile(self, place: int, *, share: Fraction) -> Estimates:
        """Return a quantile of a distribution."""
        part, q = self.strategy.distributions[place - self._moments], float(share)
        variances = form_variances(part.tree, self.variances[place], q)
        step = max(q, 1 - q) * self.steps[place]
        pairs = zip(self._prefixes[place - self._moments], self.sizes, strict=True)
        rows = [group_moments.quantile(prefixes, margin(variances * size, self.z, step), q) for prefixes, size in pairs]
        count, spread = self._count_for(place)
        some = (count > margin(spread, self.z, self._count_step(place)))[:, np.newaxis]
        places = list(np.where(some, rows, [math.nan, 0.0, part.tree.cells]).T)
        attribute = bounded(self.schema, part.axis)
        if part.borders:
            return valued_between(attribute, part.edges, places, self.z)
        return valued(attribute, part.tree.cells, part.levels, places, self.z)

    def _of_all(self, start: int, stop: int) -> Counted:
        """Return the counts of all of some parts that count everybody, weighted by their precision."""
        parts = self.strategy.parts
        return self._combined([self._part_count(place) for place in range(start, stop) if parts[place].counts_all])

    @staticmethod
    def _combined(counts: Sequence[Counted]) -> Counted:
        return group_moments.combined([count for count, _ in counts], [spread for _, spread in counts])

    def _row_count(self, place: int) -> Counted:
        """Return the count of rows that a part has by itself, and its variance."""
        if place >= self._moments or not self.strategy.moments[place].first:
            return self._part_count(place)
        sums = self.sums[place]
        return sums.sum(axis=1), sums.shape[1] * self._variances(place)

    def _levels(self, place: int) -> Array:
        """Return the sums of the shares of levels: not what weights leave of rows."""
        return self.sums[place][:, self.strategy.moments[place].first if place < self._moments else 0 :]

    def _part_count(self, place: int) -> Counted:
        """Return the count that a part has by itself, of weighted rows the sum of u, and its variance."""
        if self._moments <= place < self._rows:
            part = self.strategy.distributions[place - self._moments]
            below, _ = prefix_variances(part.tree, self.variances[place])
            return self._prefixes[place - self._moments][:, -1], below[-1] * self.sizes
        sums = self._levels(place)
        return sums.sum(axis=1), sums.shape[1] * self._variances(place)

    def _count_for(self, place: int) -> Counted:
        """Return the best count of the rows, or persons, that a part is about."""
        if not self.strategy.parts[place].counts_all:
            return self._part_count(place)
        return self.weights if place < self._rows else self._persons

    def _count_step(self, place: int) -> float:
        return max(self.steps if place < self._rows else self.steps[self._first_person :])

    def _variances(self, place: int) -> Array:
        """Return the variance of one sum of every set: the persons of a set are no sum of its groups'."""
        return self.variances[place] * (self.sizes if place < self._rows else np.ones(len(self.sums[place])))

    def _difference(self, place: int) -> Counted:
        """Return the sum of t, and its variance."""
        sums = self._levels(place)
        return sums[:, -1] - sums[:, 0], 2 * self._variances(place)

    def _ratio(self, place: int) -> Estimates:
        steps = 2 * self.steps[place], self._count_step(place)
        return group_moments.ratio(*self._difference(place), *self._count_for(place), self.z, steps)

    def _scale(self, place: int) -> tuple[float, float]:
        if place < self._rows:
            return scale_of(self.schema, self.strategy.moments[place])
        low, high = map(float, self.strategy.persons[place - self._first_person].bounds)
        return (low + high) / 2, (high - low) / 2

    @cached_property
    def _prefixes(self) -> tuple[Array, ...]:
        """The counts below every edge of the cells, shape (sets, cells + 1), of every distribution."""
        return tuple(
            prefixes(part.tree, self.sums[place], self.variances[place])
            for place, part in enumerate(self.strategy.distributions, start=self._moments)
        )


Statistic = Callable[[GroupEstimates, int], Estimates]


def statistics(strategy: GroupStatistics, schema: Schema) -> dict[str, tuple[int, Statistic]]:
    """Return the part that every statistic but the count comes from, and what makes it, as they are published."""
    named: dict[str, tuple[int, Statistic]] = {}
    if strategy.weight is not None:
        of_all = next(place for place, part in enumerate(strategy.of_rows) if part.counts_all)
        named[f"sum {weighted(schema, strategy.weight)}"] = (of_all, GroupEstimates.weight_sum)
    for place, moments in enumerate(strategy.moments):
        if moments.where:
            named[share_name(schema, moments)] = (place, GroupEstimates.share)
        elif moments.axis is not None:
            name = schema.names[moments.axis]
            named |= {f"sum {name}": (place, GroupEstimates.total), f"mean {name}": (place, GroupEstimates.mean)}
            named |= {f"variance {name}": (place, GroupEstimates.variance)} if moments.degree == 2 else {}
    for place, tree in enumerate(strategy.distributions, len(strategy.moments)):
        for share in tree.quantiles:
            quantile = functools.partial(GroupEstimates.quantile, share=share)
            named[quantile_name(schema.names[tree.axis], share)] = (place, quantile)
    return named | _for_themselves(strategy, schema)


def _for_themselves(strategy: GroupStatistics, schema: Schema) -> dict[str, tuple[int, Statistic]]:
    """Return the statistics of different values and of persons as `statistics` does."""
    named: dict[str, tuple[int, Statistic]] = {}
    for place, values in enumerate(strategy.distinct, len(strategy.of_rows)):
        named[f"{DISTINCT} {schema.names[values.axis]}"] = (place, GroupEstimates.distinct)
    first = len(strategy.of_rows) + len(strategy.distinct)
    for place, persons in enumerate(strategy.persons, first):
        if persons.counts_all:
            named[PERSONS] = (place, GroupEstimates.persons)
    for place, persons in enumerate(strategy.persons, first):
        if persons.axis is not None:
            name = f"total {schema.names[persons.axis]}"
            named |= {name: (place, GroupEstimates.total), f"{name} per person": (place, GroupEstimates.mean)}
    return named


def not_additive(strategy: GroupStatistics, schema: Schema) -> tuple[str, ...]:
    """Return the statistics of different values and of persons, which are no sums of the groups'."""
    return tuple(_for_themselves(strategy, schema))


def group_estimates(
    strategy: GroupStatistics,
    schema: Schema,
    measurement: Measurement,
    *,
    z: float,
    mask: Mask | None = None,
    of_sampling: float | None = None,
) -> GroupEstimates:
    """Return the estimates of every group, or of the one set of those that a mask names.

    Args:
        strategy: that was measured.
        schema: of the attributes.
        measurement: the noisy answers.
        z: standard errors to each side of an interval.
        mask: shape (groups,).
        of_sampling: the same of the error of sampling; z where it is None.
    """
    pairs = list(zip(strategy.parts, measurement.parts, strict=True))
    groups = strategy.parts[0].groups
    return GroupEstimates(
        strategy=strategy,
        schema=schema,
        sums=tuple(part.of_sets(measured.answers * part.step, mask) for part, measured in pairs),
        variances=tuple(float(np.max(measured.variance)) * part.step**2 for part, measured in pairs),
        steps=tuple(part.step for part in strategy.parts),
        sizes=np.ones(groups) if mask is None else np.array([float(mask.sum())]),
        z=z,
        of_sampling=z if of_sampling is None else of_sampling,
    )
