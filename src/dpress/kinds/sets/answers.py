"""Answers of a release of sets: how many people hold each value, and how many values a person holds on average.

kept tallies of all groups of values -> counts, mean set size -> a table, queries.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar, cast

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.sets.attribute import SetMembers
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Mechanism
from dpress.core.reports.oracle import Tally
from dpress.inference.interval import half_width
from dpress.mechanisms.protocol.collection import method_of
from dpress.mechanisms.sets.privset import Privset, SetSize
from dpress.query.answering import Answering, all_tallies
from dpress.query.answers import KeptAnswers, Progress
from dpress.query.boxes import joined, product
from dpress.query.linear_forms import Compared, Group
from dpress.query.one_table import OneTable, only_file
from dpress.query.published_tables import PublishedTable
from dpress.query.query_tree import TOTAL, Condition, Query
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.release.plan.linear_error import predicted

SIZE = "set size"


@dataclass(frozen=True, kw_only=True)
class Answers(OneTable):
    """Counts of the values of sets."""

    undrawn: ClassVar[str] = "counts of members, and no joint distribution of all its attributes"

    @property
    def method(self) -> Privset:
        """What asked."""
        return privset_of(self.release.mechanism)

    @property
    def tallies(self) -> list[Tally]:
        """What was kept, by groups of values."""
        collection: Any = self.release.mechanism
        return list(collection.split_tally(self.release.kept))

    @cached_property
    def measurement(self) -> Measurement:
        """The count of every value with its variance."""
        return self.method.measurement(self.tallies)

    @cached_property
    def set_size(self) -> SetSize:
        """How many values a person holds on average, of those that the cap leaves."""
        return self.method.set_size(self.tallies)

    @property
    def members(self) -> SetMembers:
        """The attribute as devices code it."""
        return members_of(self.release)

    @cached_property
    def attribute(self) -> Categorical:
        """The attribute of a single value."""
        members = self.members
        words = {name: getattr(members, name) for name in ("title", "unit", "value_labels")}
        return Categorical(name=members.name, values=members.values, other=members.other, null=members.null, **words)

    @property
    def columns(self) -> tuple[Tabular, ...]:
        """The values of sets."""
        return (self.attribute,)

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Answer `apps = mail`, or `total`.

        Error: the variance of `Privset`.

        Raises:
            ValueError: the condition names no value, or several together.
        """
        del progress
        if condition == TOTAL:
            return Result.of_count(text, float(self.release.reports), 0.0, 0.0, confidence)
        place = self._place(condition)
        variance = float(np.asarray(self.measurement.variance)[place])
        half = half_width(variance, confidence, self.release.tail)
        return Result.of_count(text, float(self.measurement.answers[place]), variance, half, confidence, self.capped)

    def statistic(self, query: Query, text: str, confidence: float) -> Result | None:
        """Answer `set size`, the mean number of values that a person holds; None for anything else.

        Error: an empirical one, with the spread of people in it.
        """
        if query.of != SIZE:
            return None
        if query.where is not None:
            raise ValueError(f"{SIZE} is known of all people together")
        mean, error = self.set_size.mean, math.sqrt(self.set_size.variance)
        half = NormalDist().inv_cdf((1 + confidence) / 2) * error
        result = Result(
            query=text, value=mean, standard_error=error, interval=(mean - half, mean + half), confidence=confidence
        )
        return replace(result, of="mean", note=self.capped)

    def _place(self, condition: Condition) -> int:
        """Return the place of the one value that a condition names."""
        (weights,) = product(Schema((self.attribute,)), condition)
        others = joined(condition) is None or any(test.word == "!=" for test in condition.tests)
        if others or np.count_nonzero(weights) != 1:
            name, first = self.attribute.name, self.attribute.labels[0]
            raise ValueError(f"{name}: sets overlap, so that one value at a time is counted, as in `{name} = {first}`")
        return int(np.argmax(weights))

    def group(self, attribute: str, where: Condition | None, progress: Progress | None = None) -> Group:
        """Refuse: values of sets are no numbers."""
        del where, progress
        raise ValueError(f"{attribute}: values of sets have no numbers; ask `{SIZE}` for how many a person holds")

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Refuse: sets overlap."""
        del first, second, progress
        raise ValueError(
            "shares, ratios and differences of counts of sets are not answered: whether people hold both is not known"
        )

    @property
    def capped(self) -> str:
        """What the cap does to counts, in a sentence."""
        return (
            f"Of a set of more than {self.method.cap:,} values as many were drawn at random on the device: a value of "
            "a larger set counts in part."
        )

    @property
    def described(self) -> Mapping[str, Any]:
        """The mean set size."""
        size = self.set_size
        return {"set_size": {"mean": size.mean, "standard_error": math.sqrt(size.variance)}}

    @property
    def announced(self) -> tuple[str, ...]:
        """The mean set size."""
        size = self.set_size
        return (f"Sizes:   {size.mean:.2f} values a person on average, standard error {math.sqrt(size.variance):.2g}",)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The mean set size, and what the cap does."""
        return (*self.announced, self.capped)

    def published(self) -> Iterator[PublishedTable]:
        """Yield the table: a row for every value."""
        yield PublishedTable(
            name=only_file(self.release),
            axes=(self.attribute,),
            count=np.asarray(self.measurement.answers, dtype=np.float64),
            variance=np.asarray(self.measurement.variance),
            adjusted=None,
            tail=self.release.tail,
        )


def tallied(_: object, tallies: list[Tally]) -> KeptAnswers:
    """Return the tallies.

    Raises:
        SchemaMismatch: a group of values has no report.
    """
    if not all(int(tally[-1]) for tally in tallies):
        raise SchemaMismatch("no report is about some of the values; every group of values needs at least one")
    return all_tallies(tallies)


def privset_of(mechanism: Mechanism) -> Privset:
    """Return the method of a collection of sets."""
    return cast("Privset", method_of(mechanism))


def members_of(release: Release) -> SetMembers:
    """Return the attribute of a release of sets, as devices code it."""
    (attribute,) = release.schema.attributes
    if attribute.held is None:
        raise TypeError(f"{attribute.name} has no sets")
    return attribute.held


ANSWERING = Answering(answers=Answers, predicted=predicted, tallied=tallied)
