"""Answers of a release of statistics: of every group, of all rows, and of any set of groups.

noisy sums -> estimates -> a table of a row for every group and statistic; `mean cost where ward = eyes` -> one of them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.core.basics.near import meant
from dpress.core.maps.measurement import Measurement, SumsAndLevels
from dpress.core.methods.mechanism import MeasuringMechanism
from dpress.inference.group_moments import CountedEstimates, Estimates
from dpress.inference.interval import critical
from dpress.inference.ratio import Pair
from dpress.kinds.statistics.curator.chosen_bounds import clamped
from dpress.kinds.statistics.curator.chosen_quantiles import (
    GroupResults,
    estimates,
    only,
    quantile_names,
    without_interval,
)
from dpress.kinds.statistics.curator.estimates import COUNT, Mask, condition, group_estimates, masks
from dpress.kinds.statistics.curator.parts_of_budget import chosen_of
from dpress.kinds.statistics.curator.person_estimates import statistics_of
from dpress.kinds.statistics.group_table import NAME, GroupTable
from dpress.mechanisms.discovery.bounds_first import BoundsFirst
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.selection.above_threshold import SURE
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels, GroupQuantiles
from dpress.query.answers import Part, Progress, PublishedOnly
from dpress.query.boxes import products
from dpress.query.condition_grammar import no_attribute
from dpress.query.linear_forms import Compared
from dpress.query.published_tables import CONFIDENCE
from dpress.query.query_tree import TOTAL, Condition, Query
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.query.statistics import EMPTY


@dataclass(frozen=True, kw_only=True)
class GroupAnswers(PublishedOnly):
    """Statistics of groups.

    Args:
        release: of statistics.
    """

    release: Release

    @property
    def mechanism(self) -> MeasuringMechanism:
        """What measured the groups."""
        mechanism = self.release.mechanism
        if not isinstance(mechanism, MeasuringMechanism):
            raise TypeError(f"{type(mechanism).__name__} measures no table")
        return mechanism

    @property
    def strategy(self) -> GroupStatistics | None:
        """The sums that were measured; None where there are chosen quantiles alone."""
        mechanism: Any = self.mechanism
        mechanism = mechanism.groups if isinstance(mechanism, GroupQuantiles) else mechanism
        if mechanism is not None and not isinstance(mechanism.strategy, GroupStatistics):
            raise TypeError(f"{type(mechanism).__name__} measures no statistics")
        return None if mechanism is None else mechanism.strategy

    @cached_property
    def drawn(self) -> SumsAndLevels:
        """The noisy sums with their variance, and the levels that were chosen."""
        drawn: Measurement | SumsAndLevels = self.mechanism.measured(self.release.kept)
        return drawn if isinstance(drawn, SumsAndLevels) else SumsAndLevels(sums=drawn, levels=())

    @property
    def chosen(self) -> tuple[ChosenLevels, ...]:
        """The quantiles that were chosen."""
        return chosen_of(self.release.mechanism)

    @cached_property
    def chosen_estimates(self) -> dict[str, Estimates]:
        """Those of every group, by name."""
        statistics: dict[str, Estimates] = {}
        for chosen, levels in zip(self.chosen, self.drawn.levels if self.chosen else (), strict=True):
            statistics |= estimates(chosen, self.release.schema, levels)
        return statistics

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.mechanism.decoder.groups)

    @property
    def axes(self) -> tuple[Tabular, ...]:
        """The attributes of the groups."""
        tabular = self.release.schema.tabular
        return tuple(tabular[axis] for axis in self._by)

    @property
    def _by(self) -> tuple[int, ...]:
        by: tuple[int, ...] = self.mechanism.decoder.by
        return by

    @property
    def _with_quantiles(self) -> list[str]:
        """The attributes whose quantiles were counted."""
        distributions = () if self.strategy is None else self.strategy.distributions
        return [self.release.schema.names[part.axis] for part in distributions]

    def groups(self, confidence: float = CONFIDENCE) -> GroupResults:
        """Return the estimates of every group."""
        return GroupResults(sums=self._sums(confidence, None), chosen=self.chosen_estimates, size=self.size)

    def together(self, confidence: float = CONFIDENCE) -> GroupResults:
        """Return the estimates of all groups together."""
        return self._estimates(confidence, np.ones(self.size, dtype=bool))

    def _estimates(self, confidence: float, mask: Mask) -> GroupResults:
        """Return those of one set of groups; chosen quantiles only where it is a single group."""
        chosen = self.chosen_estimates if mask.sum() == 1 else {}
        chosen = {name: only(statistic, mask) for name, statistic in chosen.items()}
        return GroupResults(sums=self._sums(confidence, mask), chosen=chosen, size=1)

    def _sums(self, confidence: float, mask: Mask | None) -> CountedEstimates | None:
        if self.strategy is None or self.drawn.sums is None:
            return None
        z = critical(confidence, self.release.tail)
        return group_estimates(self.strategy, self.release.schema, self.drawn.sums, z=z, mask=mask)

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Count the rows of the groups that a condition names.

        Error: see `inference.group_moments`.

        Raises:
            ValueError: nothing was counted, or the condition is about other attributes than the groups'.
        """
        del progress
        return self._answered((text, "count"), COUNT, condition, confidence)

    def statistic(self, query: Query, text: str, confidence: float) -> Result | None:
        """Answer a statistic that was measured; None for what follows from counts.

        Raises:
            ValueError: it was not measured, or the condition is about other attributes than the groups'.
        """
        if query.of in ("count", "ratio", "difference"):
            return None
        if query.of == "quantile":
            return self._quantile(query, text, confidence)
        if query.of == "share":
            name = self._share_name(query.first)
            return None if name is None else self._answered((text, query.of), name, query.where, confidence)
        word = query.of.split()[0] if query.of == "total per person" else query.of
        return self._answered((text, word), replace(query, where=None, by=()).text, query.where, confidence)

    def _quantile(self, query: Query, text: str, confidence: float) -> Result:
        share = Fraction(query.level).limit_denominator(1 << 20)
        if (chosen := self._chosen(query.attribute)) is not None:
            return self._of_chosen(chosen, query, text, share, confidence)
        if query.attribute not in self._with_quantiles:
            raise ValueError(self._unknown(f"quantile of {query.attribute}"))
        return self._answered((text, query.of), query.attribute, query.where, confidence, share)

    def _chosen(self, attribute: str) -> ChosenLevels | None:
        """Return what chose the quantiles of an attribute; None where nothing did."""
        return next((chosen for chosen in self.chosen if self.release.schema.names[chosen.axis] == attribute), None)

    def _of_chosen(self, chosen: ChosenLevels, query: Query, text: str, share: Fraction, confidence: float) -> Result:
        """Answer a quantile that was chosen.

        Raises:
            ValueError: another one was, or the condition names no single group.
        """
        names = quantile_names(chosen, self.release.schema)
        if share not in chosen.choice.quantiles:
            raise ValueError(
                f"{text}: chosen were {', '.join(names)}; another quantile is known where intervals = true"
            )
        mask = self._mask(query.where)
        if mask.sum() != 1:
            raise ValueError(
                f"{text}: it was chosen in every group, and is known of one group; name its "
                f"{' and '.join(axis.name for axis in self.axes)}"
            )
        value = only(self.chosen_estimates[names[chosen.choice.quantiles.index(share)]], mask).value
        nothing = math.nan
        return Result(
            query=text,
            value=float(value[0]),
            standard_error=nothing,
            interval=(nothing, nothing),
            confidence=confidence,
            note=without_interval(chosen),
            of=query.of,
        )

    def _share_name(self, conditions: Condition) -> str | None:
        """Return the share of a condition that was measured; None where there is none."""
        boxes = products(self.release.schema, conditions)
        if len(boxes) > 1:
            return None
        (weights,) = boxes
        where = tuple(
            (axis, tuple(np.flatnonzero(mask).tolist())) for axis, mask in enumerate(weights) if not mask.all()
        )
        measured = [] if self.strategy is None else [part.where for part in self.strategy.moments]
        return f"share {condition(self.release.schema, where)}" if where in measured else None

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return the counts of two sets of groups, whose errors are those of the groups that both have."""
        del progress
        sums, groups = self.groups().sums, [self._mask(each).astype(float) for each in (first, second)]
        if sums is None or COUNT not in sums.names:
            raise ValueError(self._unknown(COUNT))
        count, variance = sums.counts
        left, right = groups
        pair = Pair(
            first=float(left @ count),
            second=float(right @ count),
            variances=(float(left @ variance), float(right @ variance)),
            covariance=float((left * right) @ variance),
        )
        return Compared(pair=pair, critical=lambda confidence: critical(confidence, self.release.tail))

    def _mask(self, where: Condition | None) -> Mask:
        """Return which groups conditions name, shape (groups,)."""
        schema, condition = self.release.schema.subset([axis.name for axis in self.axes]), where or TOTAL
        for test in condition.tests:
            if test.attribute not in schema.names:
                raise ValueError(no_attribute(schema.names, test.attribute))
        mask: Mask = np.any([masks(weights) for weights in products(schema, condition)], axis=0)
        return mask

    def _answered(
        self,
        query: tuple[str, str],
        name: str,
        where: Condition | None,
        confidence: float,
        share: Fraction | None = None,
    ) -> Result:
        """Answer a statistic by its name; `query` is the query and what it is of."""
        mask = self._mask(where)
        sums = self._sums(confidence, mask)
        if sums is None or (share is None and name not in sums.names):
            raise ValueError(self._unknown(name))
        if where and name in self.of_persons and not mask.all() and mask.sum() != 1:
            raise ValueError(f"{name} is known of one group and of all: a person may be in several; got {where.text!r}")
        statistic = sums.of(name, share)
        value = float(statistic.value[0])
        return Result(
            query=query[0],
            value=value,
            standard_error=float(statistic.standard_error[0]),
            interval=(float(statistic.low[0]), float(statistic.high[0])),
            confidence=confidence,
            note=EMPTY if math.isnan(value) else self._bounds_of(name),
            of=query[1],
        )

    def _bounds_of(self, name: str) -> str | None:
        """Return the remark on the bounds of a statistic's attribute."""
        notes = self.bounded.items()
        return next((note for measured, note in notes if name == measured or name.endswith(f" {measured}")), None)

    @cached_property
    def of_persons(self) -> tuple[str, ...]:
        """The statistics of persons."""
        persons = () if self.strategy is None else self.strategy.persons
        return tuple(statistics_of(persons, self.release.schema.names))

    def _unknown(self, name: str) -> str:
        names = self.groups().names
        return f"there is no statistic {name!r}; there are {', '.join(names)}{meant(name, names)}"

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The one table."""
        return {NAME: tuple(axis.name for axis in self.axes)}

    @property
    def announced(self) -> tuple[str, ...]:
        """Which statistics there are, and how their groups were found."""
        discovered = self.discovered
        notes = [f"{name}: {note}" for name, note in self.bounded.items()]
        chosen = [f"Chosen, without an interval: {', '.join(self.chosen_estimates)}"] if self.chosen else []
        return (f"Statistics: {', '.join(self.groups().names)}", *chosen, *([discovered] if discovered else []), *notes)

    @cached_property
    def bounded(self) -> Mapping[str, str]:
        """A remark on every attribute whose bounds were chosen privately."""
        mechanism = self.release.mechanism
        if not isinstance(mechanism, BoundsFirst):
            return {}
        tabular: Any = self.release.schema.tabular
        attributes = [tabular[axis] for axis in mechanism.axes]
        return {
            attribute.name: clamped(attribute.inclusive(*attribute.ends), outside)
            for attribute, outside in zip(attributes, mechanism.outside, strict=True)
        }

    @property
    def discovered(self) -> str:
        """How the groups were found whose names nobody listed, in a sentence; empty where all are listed."""
        mechanism = self.release.mechanism
        if not isinstance(mechanism, DiscoveredGroups):
            return ""
        attribute: Any = self.release.schema.tabular[mechanism.axis]
        nearly, unit = mechanism.names.holders_for(SURE), mechanism.unit
        whom = f"different {unit.name}" if unit.columns else "rows"
        return (
            f"{attribute.name}: {len(attribute.listed):,} names occurred often enough to be released (a name that "
            f"{nearly:,} {whom} have is, with a chance of 99 %); all other rows are in the groups of "
            f"“{attribute.extra[-1]}”."
        )

    @property
    def measured(self) -> tuple[str, ...]:
        """The names of the statistics."""
        return tuple(self.groups().names)

    @property
    def described(self) -> Mapping[str, Any]:
        """The names of the statistics."""
        return {"statistics": list(self.measured)}

    def published(self) -> Iterator[Any]:
        """Yield no table of counts."""
        yield from ()

    @property
    def table(self) -> GroupTable:
        """The table of all statistics."""
        return GroupTable(axes=self.axes, groups=self.groups(), together=self.together(), size=self.size)

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield the table with the names of the groups' attributes."""
        yield tuple(axis.name for axis in self.axes), self.table

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the table."""
        del progress
        yield self.table
