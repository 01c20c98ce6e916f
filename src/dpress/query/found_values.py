"""Answers about values that nobody listed: the count of every one that was found, and of the rest.

found values, counts, variances of sums -> an attribute of these values -> one table, queries.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.core.maps.linear import Array
from dpress.inference.interval import critical, half_width
from dpress.inference.joint.factors import dense
from dpress.inference.ratio import pair_of
from dpress.query.answers import Progress
from dpress.query.boxes import product
from dpress.query.linear_forms import Compared
from dpress.query.one_table import OneTable, only_file
from dpress.query.published_tables import CONFIDENCE, PublishedTable
from dpress.query.query_tree import Condition
from dpress.query.record_source import RecordSource, of_joint, shares_of
from dpress.query.release import Release
from dpress.query.result import Result


def searched(release: Release) -> Categorical:
    """Return the attribute whose values are found."""
    attribute = release.schema.attributes[0]
    if attribute.listing is None:
        raise TypeError(f"{attribute.name} has no values to find")
    return attribute.listing


@dataclass(frozen=True, kw_only=True)
class FoundValues(OneTable):
    """Counts of values that were found, and of the rest; what a kind adds is which, how many, and how wrong."""

    @property
    def values(self) -> tuple[str, ...]:
        """The values that were released, in the order of the table."""
        raise NotImplementedError

    @property
    def counts(self) -> Array:
        """The estimated count of every value, then of the rest, shape (values + 1,)."""
        raise NotImplementedError

    @property
    def variances(self) -> Array:
        """The variances of the counts, in counts squared, shape (values + 1,)."""
        raise NotImplementedError

    def variance_of(self, weights: Array) -> float:
        """Return the variance of a weighted sum of the counts, in counts squared.

        Args:
            weights: of every value, then of the rest, shape (values + 1,).
        """
        raise NotImplementedError

    @property
    def rest_variance(self) -> float:
        """The variance of the count of the rest, in counts squared."""
        return self.variance_of(np.append(np.zeros(len(self.values)), 1.0))

    @property
    def selected(self) -> str:
        """What the selection does to counts and intervals, in a sentence."""
        raise NotImplementedError

    def level(self, confidence: float) -> float:
        """Return the confidence that each interval is computed for: the one that is asked for."""
        return confidence

    @cached_property
    def attribute(self) -> Categorical:
        """The attribute with the released values, and the rest as the last one."""
        column = searched(self.release)
        return Categorical(name=column.name, title=column.title, unit=column.unit, values=(*self.values, *column.extra))

    @property
    def columns(self) -> tuple[Tabular, ...]:
        """The released values."""
        return (self.attribute,)

    def record_source(self, where: str) -> RecordSource:
        """Return what draws released values, and the rest, by their counts, those below 0 as 0."""
        return of_joint(Schema((self.attribute,)), dense(shares_of(self.counts)), where)

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Answer a query such as `product = tea`, `product in (tea, other)` or `total`.

        Error: `variance_of`.

        Raises:
            ValueError: the condition names what was not released.
        """
        del progress
        weights = self._weights(condition)
        variance = self.variance_of(weights)
        half = half_width(variance, self.level(confidence), self.release.tail)
        note = None if np.all(weights == weights[-1]) else self.selected
        return Result.of_count(text, float(weights @ self.counts), variance, half, confidence, note)

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return two counts with the covariance of their errors."""
        del progress
        weights, other = self._weights(first), self._weights(second)
        pair = pair_of(
            lambda ratio: (float((weights - ratio * other) @ self.counts), self.variance_of(weights - ratio * other))
        )
        return Compared(
            pair=pair,
            critical=lambda confidence: critical(self.level(confidence), self.release.tail),
            notes=(self.selected,),
        )

    def _weights(self, condition: Condition) -> Array:
        (weights,) = product(Schema((self.attribute,)), condition)
        return weights

    def published(self) -> Iterator[PublishedTable]:
        """Yield the table: a row for every released value, then one for the rest."""
        yield PublishedTable(
            name=only_file(self.release),
            axes=(self.attribute,),
            count=self.counts,
            variance=self.variances,
            adjusted=None,
            tail=self.release.tail,
            level=self.level(CONFIDENCE),
        )
