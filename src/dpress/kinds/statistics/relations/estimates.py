"""What follows from the moments of groups: counts, means, variances, and the relations that a release states.

answers -> features of every group and cell -> statistics of every set of groups.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array, Numbers
from dpress.inference import group_moments, linear_relations
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import cut_ends
from dpress.inference.linear_relations import Estimated, Moments, Regression
from dpress.kinds.statistics.group_results import COUNT, Mask
from dpress.kinds.statistics.relations.terms import (
    Term,
    axes_of,
    categories,
    column,
    in_attribute_units,
    scale_of,
    terms,
)
from dpress.mechanisms.linear.cross_moments import CrossMoments, feature_places
from dpress.query.relation_grammar import Relation, relation

STEP = 1e-9  # the most that one step of the noise changes a sum, in counts: steps are 2^-20 of one and finer


@dataclass(frozen=True, kw_only=True)
class RelationEstimates:
    """Statistics of many sets of groups.

    Args:
        strategy: that was measured.
        schema: of the attributes, with their levels.
        features: noisy features, shape (sets, cells of every axis kept apart, features).
        covariance: of the features of a cell of one group.
        sizes: how many groups every set has, shape (sets,).
        z: standard errors to each side of an interval.
    """

    strategy: CrossMoments
    schema: Schema
    features: Array
    covariance: Array
    sizes: Array
    z: float

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics, in the order that they are published in."""
        counted = [COUNT] if self.strategy.counts_all else []
        numbers = [self.schema.names[axis] for axis in self.strategy.axes]
        moments = [f"{word} {name}" for name in numbers for word in ("mean", "variance")]
        return (*counted, *moments, *self._placed)

    @property
    def quantile_shares(self) -> Mapping[str, tuple[Fraction, ...]]:
        """No quantiles."""
        return {}

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """The relations that are stated."""
        return tuple(relation(self.schema.names, text) for text in self.strategy.relations)

    @cached_property
    def _placed(self) -> dict[str, tuple[Relation, int]]:
        """The relation of every statistic that is of one, and which of its coefficients it is."""
        placed = {}
        for stated in self.relations:
            for place, name in enumerate(names_of(self.strategy, self.schema, stated)):
                placed[name] = (stated, place)
        return placed

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """The count of every set, and its variance: of the rows that have all numbers."""
        cells = math.prod(self.features.shape[1:-1])
        count = self.features[..., 0].reshape(len(self.features), -1).sum(axis=1)
        return count, self.covariance[0, 0] * self.sizes * cells

    def of(self, name: str, share: Fraction | None = None) -> Estimates:
        """Return one statistic of all sets."""
        del share
        if name == COUNT:
            return group_moments.linear(*self.counts, self.z, STEP)
        if name in self._placed:
            stated, place = self._placed[name]
            return self._pair(stated) if stated.of != "regression" else self._coefficient(stated, place)
        word, _, attribute = name.partition(" ")
        if name not in self.names:
            raise LookupError(name)
        number = 1 + self.strategy.axes.index(self.schema.names.index(attribute))
        return self._mean(number) if word == "mean" else self._covariance(number, number)

    @cached_property
    def fitted(self) -> dict[Relation, list[Estimated]]:
        """The coefficients of every regression, in the units of the attributes, set by set."""
        return {stated: self._fit(stated) for stated in self.relations if stated.of == "regression"}

    def _fit(self, stated: Relation) -> list[Estimated]:
        transform, shift = self._in_units(stated)
        return [regression.coefficients(transform, shift) for regression in self._regressions(stated)]

    def _in_units(self, stated: Relation) -> tuple[Array, Array]:
        listed = terms(self.strategy, self.schema, stated)
        return in_attribute_units(self.strategy, self.schema, self._number(stated.names[0]), listed)

    def _regressions(self, stated: Relation) -> Iterator[Regression]:
        """Yield the regression of every set, in units of t."""
        axes, listed = axes_of(self.strategy, self.schema, stated), terms(self.strategy, self.schema, stated)
        columns = tuple(column(term, self.schema, axes) for term in listed)
        outcome = self._number(stated.names[0])
        yield from (Regression(moments=each, outcome=outcome, columns=columns) for each in self.moments(axes))

    def line(self, stated: Relation, points: Array) -> Estimates:
        """Return what a regression on one number says of its outcome at some points of it, in the first set.

        Error: that of the intercept plus slope times the point, by the covariance of both.

        Args:
            stated: an outcome by one number.
            points: in the units of the attribute, shape (points,).
        """
        transform, shift = self._in_units(stated)
        design = np.stack([np.ones(len(points)), points], axis=1)
        return self._with_both(next(self._regressions(stated)).coefficients(design @ transform, design @ shift))

    def moments(self, axes: tuple[int, ...] = ()) -> list[Moments]:
        """Return the moments of every set, by the values of some of the axes kept apart, over all cells of the others.

        Rows without a value of such an axis, and those of its other values, are left out.
        """
        features, merged = self.features, 1
        for place, axis in reversed([*enumerate(self.strategy.within, 1)]):
            if axis in axes:
                features = features.take(range(categories(self.schema, axis)), axis=place)
            else:
                merged *= features.shape[place]
                features = features.sum(axis=place)
        places = feature_places(self.strategy.numbers, self.strategy.pairs)
        width = features.shape[-1]
        return [
            Moments(
                features=part.reshape(-1, width),
                covariance=self.covariance,
                merged=np.full(part.size // width, size * merged),
                places=places,
                z=self.z,
            )
            for part, size in zip(features, self.sizes, strict=True)
        ]

    def _number(self, name: str) -> int:
        return 1 + self.strategy.axes.index(self.schema.names.index(name))

    def _mean(self, number: int) -> Estimates:
        cells = math.prod(self.features.shape[1:-1])
        total = self.features[..., number].reshape(len(self.features), -1).sum(axis=1)
        variance = self.covariance[number, number] * self.sizes * cells
        ratio = group_moments.ratio(total, variance, *self.counts, self.z, (STEP, STEP))
        return group_moments.moved(ratio, *scale_of(self.strategy, self.schema, number))

    def _pair(self, stated: Relation) -> Estimates:
        first, second = map(self._number, stated.names)
        if stated.of == "covariance":
            return self._covariance(first, second)
        rows = [linear_relations.correlation(moments, first - 1, second - 1) for moments in self.moments()]
        return self._with_interval(rows, 1.0, (-1.0, 1.0))

    def _covariance(self, first: int, second: int) -> Estimates:
        rows = [linear_relations.covariance(moments, first - 1, second - 1) for moments in self.moments()]
        unit = math.prod(scale_of(self.strategy, self.schema, number)[1] for number in (first, second))
        return self._with_interval(rows, unit, (0.0 if first == second else -1.0, 1.0))

    def _with_interval(self, rows: list[tuple[float, float]], unit: float, bounds: tuple[float, float]) -> Estimates:
        """Return values in some units with their intervals, cut to what is possible; all of it where none is known."""
        value, error = np.array(rows).reshape(-1, 2).T
        low, high = cut_ends(value - self.z * error, value + self.z * error, bounds)
        low, high = np.where(np.isnan(value), bounds[0], low), np.where(np.isnan(value), bounds[1], high)
        return group_moments.moved(
            Estimates(value=np.clip(value, *bounds), standard_error=error, low=low, high=high), 0.0, unit
        )

    def _coefficient(self, stated: Relation, place: int) -> Estimates:
        rows = [(each.value[place], each.noise[place], each.sampling[place]) for each in self.fitted[stated]]
        values, errors, sampling = np.array(rows).T
        return self._with_both(Estimated(value=values, noise=errors, sampling=sampling))

    def _with_both(self, fitted: Estimated) -> Estimates:
        """Return values with their intervals, without and with sampling."""
        values, errors, sampling = fitted.value, fitted.noise, fitted.sampling
        half, both = self.z * errors, self.z * np.hypot(errors, sampling)
        return Estimates(
            value=values,
            standard_error=errors,
            low=values - half,
            high=values + half,
            sampling=sampling,
            population=(values - both, values + both),
        )


def names_of(strategy: CrossMoments, schema: Schema, stated: Relation) -> tuple[str, ...]:
    """Return what the statistics of a relation are called: of a regression one for every coefficient."""
    if stated.of != "regression":
        return (stated.text,)
    listed: tuple[Term, ...] = terms(strategy, schema, stated)
    return tuple(stated.only(term.name).text for term in listed)


def relation_estimates(
    strategy: CrossMoments, schema: Schema, measured: tuple[Numbers, float], *, z: float, mask: Mask | None = None
) -> RelationEstimates:
    """Return the estimates of every group, or of the one set of those that a mask names.

    Args:
        strategy: that was measured.
        schema: of the attributes.
        measured: the noisy answers, and the variance of each.
        z: standard errors to each side of an interval.
        mask: shape (groups,).
    """
    answers, variance = measured
    cells = [schema.tabular[axis].size for axis in strategy.within]
    features = (answers.reshape(-1, strategy.width) @ strategy.reading.T).reshape(-1, *cells, len(strategy.reading))
    groups = len(features)
    if mask is not None:
        features = features[mask].sum(axis=0, keepdims=True)
    return RelationEstimates(
        strategy=strategy,
        schema=schema,
        features=features,
        covariance=strategy.covariance(variance),
        sizes=np.ones(groups) if mask is None else np.array([float(mask.sum())]),
        z=z,
    )
