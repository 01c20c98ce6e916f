"""Answers of a release of a table's statistics: what the noisy sums say, and quantiles that were chosen."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import SumsAndLevels
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import critical
from dpress.inference.sampling_variance import SamplingVariance
from dpress.inference.two_samples import SampledRows, variance_of_means, variance_of_share
from dpress.kinds.statistics.curator import shared_errors
from dpress.kinds.statistics.curator.conditions import held_by, share_name, within
from dpress.kinds.statistics.curator.estimates import GroupEstimates, group_estimates, not_additive
from dpress.kinds.statistics.curator.first_step import (
    GroupMechanism,
    bounds_first,
    clamped,
    decoder_of,
    grouping,
    names_first,
)
from dpress.kinds.statistics.curator.quantiles import estimates, quantile_names, without_interval
from dpress.kinds.statistics.curator.weights import weighted
from dpress.kinds.statistics.group_answers import GroupAnswers, level_of
from dpress.kinds.statistics.group_results import COUNT, Mask, only
from dpress.kinds.statistics.level_values import bounded
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.selection.above_threshold import LIKELY
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels
from dpress.query.answering import Answering
from dpress.query.answers import Progress, Sides
from dpress.query.boxes import products
from dpress.query.linear_forms import Compared, Linear
from dpress.query.published_tables import CONFIDENCE
from dpress.query.query_tree import TOTAL, Condition, Query, both, parted
from dpress.query.result import Result


@dataclass(frozen=True, kw_only=True)
class CuratorAnswers(GroupAnswers):
    """Statistics of the groups of a table."""

    @property
    def mechanism(self) -> GroupMechanism:
        """What measured the groups."""
        return grouping(self.release.mechanism)

    @property
    def strategy(self) -> GroupStatistics | None:
        """The sums that were measured; None where there are chosen quantiles alone."""
        return decoder_of(self.mechanism).strategy

    @property
    def chosen(self) -> tuple[ChosenLevels, ...]:
        """The quantiles that were chosen."""
        return decoder_of(self.mechanism).chosen

    @property
    def by(self) -> tuple[int, ...]:
        """The axes of the groups."""
        return decoder_of(self.mechanism).by

    @cached_property
    def drawn(self) -> SumsAndLevels:
        """The noisy sums with their variance, and the levels that were chosen."""
        drawn: Any = self.mechanism.measured(self.release.kept)
        return drawn if self.chosen else SumsAndLevels(sums=drawn, levels=())

    @cached_property
    def _chosen_estimates(self) -> dict[str, Estimates]:
        """The chosen quantiles of every group, by name."""
        statistics: dict[str, Estimates] = {}
        for chosen, levels in zip(self.chosen, self.drawn.levels, strict=True):
            statistics |= estimates(chosen, self.release.schema, levels)
        return statistics

    def estimates(self, mask: Mask | None, confidence: float) -> GroupEstimates | None:
        """Return what follows from the noisy sums; None where there are none."""
        if self.strategy is None or self.drawn.sums is None:
            return None
        z = critical(confidence, self.release.tail)
        normal = critical(confidence, "gaussian")
        return group_estimates(self.strategy, self.release.schema, self.drawn.sums, z=z, mask=mask, of_sampling=normal)

    def chosen_estimates(self, mask: Mask | None) -> dict[str, Estimates]:
        """Return the quantiles that were chosen, of every group, or of the one that a mask names."""
        if mask is None:
            return self._chosen_estimates
        chosen = self._chosen_estimates if mask.sum() == 1 else {}
        return {name: only(statistic, mask) for name, statistic in chosen.items()}

    @property
    def quantile_shares(self) -> Mapping[str, tuple[Fraction, ...]]:
        """The quantiles of every attribute that has some."""
        names = self.release.schema.names
        return {**super().quantile_shares} | {names[chosen.axis]: chosen.choice.quantiles for chosen in self.chosen}

    def quantile(self, query: Query, text: str, confidence: float) -> Result:
        """Answer a quantile, also one that was chosen.

        Raises:
            ValueError: it was not measured, or one that was chosen is not asked of a single group.
        """
        names = self.release.schema.names
        for chosen in self.chosen:
            if names[chosen.axis] == query.attribute:
                return self._of_chosen(chosen, query, text, confidence)
        return super().quantile(query, text, confidence)

    def _of_chosen(self, chosen: ChosenLevels, query: Query, text: str, confidence: float) -> Result:
        names, share = quantile_names(chosen, self.release.schema), level_of(query)
        if share not in chosen.choice.quantiles:
            raise ValueError(
                f"{text}: chosen were {', '.join(names)}; another quantile is known where intervals = true"
            )
        mask = self.mask(query.where)
        if mask.sum() != 1:
            raise ValueError(
                f"{text}: it was chosen in every group, and is known of one group; name its "
                f"{' and '.join(axis.name for axis in self.axes)}"
            )
        value = self.chosen_estimates(mask)[names[chosen.choice.quantiles.index(share)]].value
        return Result(
            query=text,
            value=float(value[0]),
            standard_error=math.nan,
            interval=(math.nan, math.nan),
            confidence=confidence,
            note=without_interval(chosen),
            of=query.of,
        )

    def share(self, query: Query, text: str, confidence: float) -> Result | None:
        """Answer the share of a condition that was measured; None where there is none."""
        if (measured := self._measured_share(query)) is None:
            return None
        name, groups = measured
        return self.answered((text, query.of), name, groups, confidence)

    def _measured_share(self, query: Query) -> tuple[str, Condition | None] | None:
        """Return the name of a share that was measured, and the groups that it is of; None where there is none."""
        schema = self.release.schema
        groups, among = parted(query.where, [axis.name for axis in self.axes])
        boxes = [products(schema, each) for each in (query.first, among or TOTAL)]
        if self.strategy is None or any(len(each) > 1 for each in boxes):
            return None
        where, inside = (held_by(each[0]) for each in boxes)
        sought = within(where, inside), inside
        names = [share_name(schema, part) for part in self.strategy.moments if (part.where, part.among) == sought]
        return (names[0], groups) if names and where else None

    def _measured(self, side: Query) -> tuple[str, Condition | None]:
        """Return the name of a mean or a share, `COUNT` of a share that follows from counts, and the groups."""
        if side.of != "share":
            return f"mean {side.attribute}", side.where
        return self._measured_share(side) or (COUNT, side.where)

    def groups_of(self, query: Query) -> Iterable[Condition | None]:
        """Return the conditions that name the groups of an answer; see `GroupAnswers`."""
        sides = query.scoped_sides or (query,)
        return [self._measured(side)[1] for side in sides] if sides[0].of == "share" else super().groups_of(query)

    def linear(self, queries: Sequence[Query]) -> Linear:
        """Return counts and sums of sets of groups, with the exact covariance of their errors.

        Error: see `GroupEstimates.linear`; groups have noise of their own, so that two sets share that of the groups
        that are in both.

        Raises:
            ValueError: one was not measured, or is about other attributes than the groups'.
        """
        names = [COUNT if query.of == "count" else f"{query.of} {query.attribute}" for query in queries]
        rows = [both(query.first, query.where) if query.of == "count" else query.where for query in queries]
        masks = np.array([self.mask(where) for where in rows], dtype=np.float64)
        if (sums := self.estimates(None, CONFIDENCE)) is None:
            raise ValueError("quantiles were chosen, and nothing was added up")
        try:
            values, within = sums.linear(names)
        except LookupError as error:
            raise ValueError(self._unknown(str(error))) from None
        return Linear(values=(masks * values).sum(axis=1), covariance=within * (masks @ masks.T))

    @cached_property
    def not_additive(self) -> tuple[str, ...]:
        """The statistics that are known of one group, and of all."""
        return () if self.strategy is None else not_additive(self.strategy, self.release.schema)

    @property
    def replicated(self) -> bool:
        """Whether the error of sampling is estimated, by replicate weights."""
        return self.strategy is not None and bool(self.strategy.replicates)

    @cached_property
    def weighted(self) -> str:
        """The attribute that rows are weighted by; empty where they are not."""
        return "" if self.strategy is None else weighted(self.release.schema, self.strategy.weight)

    def sizes(self) -> tuple[Array, Array]:
        """Return what shares and ratios of groups are made of: counts, of weighted rows sums of weights.

        Raises:
            ValueError: nothing was counted.
        """
        if not self.weighted:
            return super().sizes()
        sums = cast("GroupEstimates", self.groups().sums)
        value, variance = sums.weights
        return sums.heaviest * value, sums.heaviest**2 * variance

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return the counts of two sets of groups, of weighted rows their weights, with the error of sampling."""
        compared = super().compared(first, second, progress)
        if not self.replicated:
            return compared
        sums = cast("GroupEstimates", self.groups().sums)
        sampling = shared_errors.of_weights(sums, (self.mask(first), self.mask(second)))
        return replace(compared, sampling=sampling, notes=(self.of_weights(sampled=sampling is not None),))

    def correlation(self, sides: Sides, results: tuple[Result, Result]) -> tuple[float | None, tuple[str, ...]]:
        """Return that the noise of different groups is independent, and that two sums share what counts their rows."""
        del results
        if sides[0].of != "sum" or (sums := self.estimates(self.mask(sides[0].where), CONFIDENCE)) is None:
            return 0.0, ()
        first, second = (f"sum {side.attribute}" for side in sides)
        return shared_errors.correlation(sums, first, second), ()

    def sampling(self, sides: Sides, results: tuple[Result, Result]) -> SamplingVariance | None:
        """Return the variance of sampling: by replicates, of weights alone none, else of drawn rows."""
        if sides[0].of == "sum":
            sums = self.estimates(self.mask(sides[0].where), CONFIDENCE)
            first, second = (f"sum {side.attribute}" for side in sides)
            return None if sums is None else shared_errors.of_quotient(sums, first, second)
        if not self.weighted:
            drawn = [self._drawn(*pair) for pair in zip(sides, results, strict=True)]
            return None if None in drawn else variance_of_means([each for each in drawn if each is not None])
        if not self.replicated:
            return None
        (name, groups), (other, beside) = (self._measured(side) for side in sides)
        left, right = (self.estimates(self.mask(where), CONFIDENCE) for where in (groups, beside))
        if name == COUNT and sides[0].of == "share" and (sums := self.estimates(None, CONFIDENCE)) is not None:
            masks = [(self.mask(both(side.first, side.where)), self.mask(side.where)) for side in sides]
            return shared_errors.of_weights(sums, *masks)
        if left is None or right is None or name != other or name not in left.names:
            return None
        return shared_errors.of_difference(left, right, name)

    def _drawn(self, side: Query, result: Result) -> SampledRows | None:
        """Return how the rows of a group vary; None of a mean whose variance was not measured."""
        name, groups = self._measured(side)
        sums = self.estimates(self.mask(groups), CONFIDENCE)
        if sums is None:
            return None
        if side.of == "share":
            variance, most = variance_of_share(result.value, result.interval)
            count, spread = sums.count_of(name)
        elif (name := f"variance {side.attribute}") in sums.names:
            among = sums.of(name)
            variance, most = float(among.value[0]), float(among.high[0])
            count, spread = sums.count_of(name)
        else:
            return None
        return SampledRows(variance=variance, most=most, count=float(count[0]), count_error=math.sqrt(spread[0]))

    @cached_property
    def bounded(self) -> Mapping[str, str]:
        """A remark on every attribute whose bounds were chosen privately."""
        if (mechanism := bounds_first(self.release.mechanism)) is None:
            return {}
        attributes = [bounded(self.release.schema, axis) for axis in mechanism.axes]
        return {
            attribute.name: clamped(attribute.inclusive(*attribute.ends), outside)
            for attribute, outside in zip(attributes, mechanism.outside, strict=True)
        }

    @property
    def discovered(self) -> str:
        """How the groups were found whose names nobody listed, in a sentence; empty where all are listed."""
        if (mechanism := names_first(self.release.mechanism)) is None:
            return ""
        attribute: Any = self.release.schema.tabular[mechanism.axis]
        nearly, unit = mechanism.names.holders_for(LIKELY), mechanism.unit
        whom = f"different {unit.name}" if unit.columns else "rows"
        title = attribute.title or attribute.name
        return (
            f"{title}: {len(attribute.listed):,} names occurred often enough to be released "
            f"(a name that {nearly:,} {whom} have is, with a chance of 99 %); all other rows are in the groups of "
            f"“{attribute.extra[-1]}”."
        )


ANSWERING = Answering(answers=CuratorAnswers)
