"""What a release of statistics says of its groups, or of sets of them: every statistic with its interval.

noisy sums of all groups -> sums of a set of groups -> counts -> means, variances, shares, quantiles.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import Ranges
from dpress.inference import group_moments
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import margin
from dpress.kinds.statistics.curator.person_estimates import PersonEstimates, of_sets
from dpress.kinds.statistics.level_values import bounded, level_scale, valued
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.moment_sums import Condition, MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums

Mask = npt.NDArray[np.bool_]

COUNT = "count"


@dataclass(frozen=True, kw_only=True)
class GroupEstimates:
    """Sums of many sets of groups.

    Args:
        strategy: that names the parts.
        schema: of the attributes.
        sums: of every part, in counts, shape (sets, sums or nodes of one group).
        variances: of one sum of every part in one group, in counts squared.
        steps: of the noise of one sum of every part, in counts.
        sizes: how many groups each set has, shape (sets,).
        z: standard errors to each side of an interval.
    """

    strategy: GroupStatistics
    schema: Schema
    sums: tuple[Array, ...]
    variances: tuple[float, ...]
    steps: tuple[float, ...]
    sizes: Array
    z: float

    def of(self, name: str, share: Fraction | None = None) -> Estimates:
        """Return one statistic of all sets.

        Args:
            name: one of `names`; or an attribute with a distribution, for the quantile at `share`.
            share: of a quantile.
        """
        if share is not None:
            return self._quantiles(name, share)
        statistic: Estimates = self._by_name[name]()
        return statistic

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics, in the order that they are published in."""
        return tuple(self._by_name)

    @property
    def quantile_shares(self) -> dict[str, tuple[Fraction, ...]]:
        """The quantiles of every attribute that has some."""
        return {self.schema.names[part.axis]: part.quantiles for part in self.strategy.distributions}

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """The count of every set, and its variance: all parts that count every row, weighted by their precision."""
        counts = [self._part_count(place) for place, part in enumerate(self.strategy.of_rows) if self._counts_all(part)]
        return group_moments.combined([count for count, _ in counts], [spread for _, spread in counts])

    @cached_property
    def _by_name(self) -> dict[str, Any]:
        statistics: dict[str, Any] = {}
        if any(map(self._counts_all, self.strategy.of_rows)):
            statistics[COUNT] = lambda: group_moments.linear(*self.counts, self.z, max(self.steps))
        for place, part in enumerate(self.strategy.moments):
            statistics |= self._of_moments(place, part)
        for tree in self.strategy.distributions:
            name = self.schema.names[tree.axis]
            for share in tree.quantiles:
                statistics[quantile_name(name, share)] = lambda name=name, share=share: self._quantiles(name, share)
        return statistics | self._persons.by_name

    @property
    def _persons(self) -> PersonEstimates:
        of_persons = slice(len(self.strategy.of_rows), None)
        return PersonEstimates(
            names=self.schema.names,
            parts=self.strategy.persons,
            sums=self.sums[of_persons],
            variances=self.variances[of_persons],
            steps=self.steps[of_persons],
            z=self.z,
        )

    def _of_moments(self, place: int, part: MomentSums) -> dict[str, Any]:
        if part.axis is None:
            return {} if not part.where else {f"share {condition(self.schema, part.where)}": lambda: self._share(place)}
        name = self.schema.names[part.axis]
        statistics = {f"sum {name}": lambda: self._sum(place), f"mean {name}": lambda: self._mean(place)}
        return statistics | ({f"variance {name}": lambda: self._variance(place)} if part.degree == 2 else {})

    def _counts_all(self, part: MomentSums | GroupDistribution) -> bool:
        """Return whether every row has a level."""
        if isinstance(part, GroupDistribution):
            return part.levels == part.shape[part.axis]
        return part.axis is None or part.steps + 1 == part.shape[part.axis]

    def _part_count(self, place: int) -> tuple[Array, Array]:
        """Return the count that a part has by itself, and its variance."""
        part = self.strategy.of_rows[place]
        if isinstance(part, MomentSums):
            return self.sums[place].sum(axis=1), (part.degree + 1) * self._variances(place)
        return self._prefixes(place)[:, -1], self._prefix_variances(place)[0][-1] * self.sizes

    def _count_for(self, place: int) -> tuple[Array, Array]:
        """Return the best count of the rows that a part is about."""
        return self.counts if self._counts_all(self.strategy.of_rows[place]) else self._part_count(place)

    def _variances(self, place: int) -> Array:
        return self.variances[place] * self.sizes

    def _total(self, place: int) -> tuple[Array, Array]:
        """Return the sum of t, and its variance."""
        return self.sums[place][:, -1] - self.sums[place][:, 0], 2 * self._variances(place)

    def _sum(self, place: int) -> Estimates:
        centre, radius = self._scale(place)
        (count, count_variance), (total, variance) = self._count_for(place), self._total(place)
        value, spread = centre * count + radius * total, centre**2 * count_variance + radius**2 * variance
        return group_moments.linear(value, spread, self.z, abs(centre) * max(self.steps) + radius * self.steps[place])

    def _mean(self, place: int) -> Estimates:
        centre, radius = self._scale(place)
        return group_moments.moved(self._ratio(place), centre, radius)

    def _share(self, place: int) -> Estimates:
        return group_moments.moved(self._ratio(place), 0.5, 0.5)

    def _ratio(self, place: int) -> Estimates:
        steps = 2 * self.steps[place], max(self.steps)
        return group_moments.ratio(*self._total(place), *self._count_for(place), self.z, steps)

    def _variance(self, place: int) -> Estimates:
        _, radius = self._scale(place)
        count, count_variance = self._count_for(place)
        step = max(4 * self.steps[place], 4 / 3 * max(self.steps))  # of a sum in (t - mean)^2 - variance, of the count
        spread = group_moments.spread(self.sums[place], self._variances(place), count, count_variance, self.z, step)
        return group_moments.moved(spread, 0.0, radius**2)

    def _scale(self, place: int) -> tuple[float, float]:
        part = self.strategy.moments[place]
        return scale(self.schema, part)

    def _prefixes(self, place: int) -> Array:
        """Return the counts below every edge of the cells, shape (sets, cells + 1)."""
        return self._all_prefixes[place - len(self.strategy.moments)]

    @cached_property
    def _all_prefixes(self) -> tuple[Array, ...]:
        """The prefixes of every distribution, from least squares over its tree."""
        return tuple(
            prefixes(part.tree, self.sums[place], self.variances[place])
            for place, part in enumerate(self.strategy.distributions, start=len(self.strategy.moments))
        )

    def _prefix_variances(self, place: int) -> tuple[Array, Array]:
        """Return the variances of what lies below and above every edge, of one group, shape (cells + 1,) each."""
        part = self.strategy.distributions[place - len(self.strategy.moments)]
        return prefix_variances(part.tree, self.variances[place])

    def _quantiles(self, name: str, share: Fraction) -> Estimates:
        axes = [part.axis for part in self.strategy.distributions]
        place = axes.index(self.schema.names.index(name))
        part = self.strategy.distributions[place]
        place += len(self.strategy.moments)
        q, variances = float(share), form_variances(part.tree, self.variances[place], float(share))
        step = max(q, 1 - q) * self.steps[place]
        pairs = zip(self._prefixes(place), self.sizes, strict=True)
        rows = [group_moments.quantile(prefixes, margin(variances * size, self.z, step), q) for prefixes, size in pairs]
        places = [np.array(column) for column in zip(*rows, strict=True)]
        value, low, high = valued(bounded(self.schema, part.axis), part.tree.cells, part.levels, places)
        error = np.where(np.isnan(value), math.nan, (high - low) / (2 * self.z))  # Woodruff 1952
        return Estimates(value=value, standard_error=error, low=low, high=high)


def group_estimates(
    strategy: GroupStatistics, schema: Schema, measurement: Measurement, *, z: float, mask: Mask | None = None
) -> GroupEstimates:
    """Return the estimates of every group, or of the one set of those that a mask names.

    Args:
        strategy: that was measured.
        schema: of the attributes.
        measurement: the noisy answers.
        z: standard errors to each side of an interval.
        mask: shape (groups,).
    """
    sums, variances = [], []
    for part, measured in zip(strategy.parts, measurement.parts, strict=True):
        if isinstance(part, PersonSums):
            sums.append(of_sets(part, measured.answers * part.step, mask))
        else:
            rows = measured.answers.reshape(part.groups, -1) * part.step
            sums.append(rows if mask is None else rows[mask].sum(axis=0, keepdims=True))
        variances.append(float(np.max(measured.variance)) * part.step**2)
    groups = strategy.parts[0].groups
    sizes = np.ones(groups) if mask is None else np.array([float(mask.sum())])
    return GroupEstimates(
        strategy=strategy,
        schema=schema,
        sums=tuple(sums),
        variances=tuple(variances),
        steps=tuple(part.step for part in strategy.parts),
        sizes=sizes,
        z=z,
    )


def prefixes(tree: Hierarchy, nodes: Array, variance: float) -> Array:
    """Return the counts below every edge of the cells by least squares, shape (sets, cells + 1).

    Args:
        tree: over the cells.
        nodes: noisy counts of its nodes, shape (sets, nodes).
        variance: of one of them.
    """
    cells = np.array([tree.map.reconstruct(row, variance) for row in nodes])
    return np.concatenate([np.zeros((len(cells), 1)), cells.cumsum(axis=1)], axis=1)


def form_variances(tree: Hierarchy, variance: float, q: float) -> Array:
    """Return the variance of P_x - q N in one group: (1 - q) V(P_x) + q V(N - P_x) - q (1 - q) V(N), exact.

    It follows from Cov(P, N - P) = (V(N) - V(P) - V(N - P)) / 2.
    """
    below, above = prefix_variances(tree, variance)
    variances: Array = (1 - q) * below + q * above - q * (1 - q) * below[-1]
    return np.clip(variances, 0, None)


def mean_form_variance(tree: Hierarchy, variance: float, quantiles: Sequence[Fraction]) -> float:
    """Return the mean of `form_variances` over all edges and some quantiles, in one pass over the edges."""
    below, above = prefix_variances(tree, variance)
    q = np.array([*map(float, quantiles)])
    return float(np.mean((1 - q) * below.mean() + q * above.mean() - q * (1 - q) * below[-1]))


@functools.lru_cache(maxsize=4)
def prefix_variances(tree: Hierarchy, variance: float) -> tuple[Array, Array]:
    """Return the variances of the counts below and above every edge of a group's cells, shape (cells + 1,) each."""
    cells = tree.cells
    places, zero = np.arange(1, cells + 1), np.zeros(1)
    below = tree.range_variances(Ranges(cells, np.ones(cells, dtype=np.int64), places), (variance,))
    above = tree.range_variances(Ranges(cells, places, np.full(cells, cells)), (variance,))
    return np.concatenate([zero, below]), np.concatenate([above, zero])


def scale(schema: Schema, part: MomentSums) -> tuple[float, float]:
    """Return the value at t = 0, and how far that at t = 1 is from it: a level stands for the middle of its cell."""
    return level_scale(bounded(schema, part.axis), part.steps)


def quantile_name(name: str, share: Fraction) -> str:
    """Return what a quantile is called."""
    return f"median {name}" if share == Fraction(1, 2) else f"quantile {float(share):g} {name}"


def condition(schema: Schema, where: Condition) -> str:
    """Return a condition in the words of a query."""
    return " and ".join(_condition(schema, axis, cells) for axis, cells in where)


def _condition(schema: Schema, axis: int, cells: tuple[int, ...]) -> str:
    attribute, scale = schema.tabular[axis], schema.tabular[axis].scale
    if scale is not None and cells == tuple(range(cells[0], cells[-1] + 1)) and cells[-1] < attribute.ordered:
        low, high = scale.inclusive(*scale.edges_at(np.array([cells[0], cells[-1] + 1])).tolist())
        return f"{attribute.name} in {low}..{high}"
    names = [attribute.labels_between(cell, cell + 1)[0] for cell in cells]
    return f"{attribute.name} = {names[0]}" if len(names) == 1 else f"{attribute.name} in ({', '.join(names)})"


def masks(weights: list[Array]) -> Mask:
    """Return which groups a query holds for, shape (groups,).

    Args:
        weights: 0 or 1 for every cell of every axis of the groups.
    """
    product = np.ones(1)
    for factor in weights:
        product = np.multiply.outer(product, factor).ravel()
    chosen: Mask = product.astype(bool)
    return chosen
