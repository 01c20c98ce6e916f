"""Numbers of groups in every published period, and how much they differ from one period to another.

series -> noisy counts of its spans, or the answers of its releases -> numbers by group and period, with their errors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpress.core.maps import spans as counters
from dpress.core.maps.linear import Array
from dpress.inference.interval import half_width
from dpress.inference.suppression import Display, Mask, display_of
from dpress.query.boxes import product
from dpress.query.hidden_answers import hides
from dpress.query.published_tables import CONFIDENCE
from dpress.query.queries_by import groups
from dpress.query.query_tree import TOTAL, Query
from dpress.query.release import Release

if TYPE_CHECKING:  # a page knows the series
    from dpress.release.periods.series import Series


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """By how much numbers of groups differ between two periods; every array has shape (groups,), NaN where unknown."""

    value: Array
    low: Array
    high: Array

    @property
    def significant(self) -> Array:
        """1 where the number has risen, -1 where it has fallen, 0 where the noise hides which, NaN where none knows."""
        direction = np.where(self.low > 0, 1.0, np.where(self.high < 0, -1.0, 0.0))
        return np.where(np.isnan(self.low), np.nan, direction)

    def only(self, order: Sequence[int]) -> "Change":
        """Return some groups, in another order."""
        return Change(value=self.value[order], low=self.low[order], high=self.high[order])

    def times(self, factor: float) -> "Change":
        """Return the changes in another unit."""
        return Change(value=factor * self.value, low=factor * self.low, high=factor * self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodNumbers:
    """Numbers of groups in every published period; every array has shape (groups, periods).

    Args:
        value: the estimates.
        error: the standard errors.
        low: the lower ends of the intervals of 95 %, each by itself.
        high: the upper ones.
        change: from the places of two periods and a confidence to the change from the first to the second.
        hidden: which are not shown, as the specification says.
    """

    value: Array
    error: Array
    low: Array
    high: Array
    change: Callable[[int, int, float], Change]
    hidden: Mask

    @property
    def columns(self) -> tuple[Array, Array, Array, Array]:
        """The estimates, their standard errors and both ends of their intervals."""
        return self.value, self.error, self.low, self.high

    def only(self, order: Sequence[int]) -> "PeriodNumbers":
        """Return some groups, in another order."""
        change = self.change
        return replace(
            self._each(lambda column: column[order]),
            change=lambda *which: change(*which).only(order),
            hidden=self.hidden[order],
        )

    def times(self, factor: float) -> "PeriodNumbers":
        """Return the numbers in another unit."""
        change = self.change
        return replace(self._each(lambda column: factor * column), change=lambda *which: change(*which).times(factor))

    def shown(self, display: Display, *, counts: bool) -> "PeriodNumbers":
        """Return the numbers as they are shown: NaN for hidden ones; counts are rounded, their ends outward."""
        low, high = display.outward((self.low, self.high)) if counts else (self.low, self.high)
        value = display.rounded(self.value) if counts else self.value
        value, error, low, high = (np.where(self.hidden, np.nan, column) for column in (value, self.error, low, high))
        return replace(self, value=value, error=error, low=low, high=high)

    def _each(self, change: Callable[[Array], Array]) -> "PeriodNumbers":
        """Return the numbers with every column changed."""
        value, error, low, high = map(change, self.columns)
        return replace(self, value=value, error=error, low=low, high=high)


def group_weights(series: "Series", by: tuple[str, ...]) -> list[list[Array]]:
    """Return the weights of every attribute's cells within a span, of every group by some attributes.

    Raises:
        ValueError: there are too many groups.
    """
    schema = series.calendar.spec.schema
    (axis,) = schema.axes([series.calendar.dated.name])
    each = [product(schema, query.where or TOTAL) for _, query in groups(schema.tabular, Query(of="count", by=by))]
    return [[np.ones(1) if place == axis else cells for place, cells in enumerate(weights)] for weights in each]


def counts(series: "Series", weights: Sequence[list[Array]]) -> PeriodNumbers:
    """Return counts of groups; the noise of a change is that of all spans that either period is made of.

    Error: sum c^2 s^2 over spans, c the difference of how often either period counts a span, s the standard error of
    that span's count; exact.

    Args:
        series: with at least one period.
        weights: of every group, those of every attribute's cells within a span, which has one cell of time.

    Raises:
        ValueError: no table answers this, or not of every published period.
        NotSupported: the releases have no counts.
    """
    shares = span_shares(series)
    answers = [[series.span_count(span, group) for group in weights] for span in series.spans]
    each, variances = (np.array(part, dtype=np.float64) for part in np.moveaxis(np.array(answers), -1, 0))

    def change(first: int, second: int, confidence: float) -> Change:
        weight = shares[second] - shares[first]
        value, half = weight @ each, half_width(weight**2 @ variances, confidence, series.tail)
        return Change(value=value, low=value - half, high=value + half)

    value, variance = (shares @ each).T, (shares**2 @ variances).T
    half: Array = half_width(variance, CONFIDENCE, series.tail)
    error, low, high = np.sqrt(variance), value - half, value + half
    hidden = display_of(series.calendar.spec.release.display).hidden(value, error, (low, high), value)
    return PeriodNumbers(value=value, error=error, low=low, high=high, change=change, hidden=hidden)


def span_shares(series: "Series") -> Array:
    """Return how much of every measured span each published period is, shape (periods, spans).

    Of the least variance, and linear: a sum of periods has the sum of their rows.

    Raises:
        ValueError: the spans do not say.
    """
    calendar = series.calendar
    wanted = np.eye(len(calendar.names))[[calendar.place(name) for name in series.periods]]
    shares = counters.coefficients(series.spans, wanted)
    if shares is None:
        raise ValueError(f"{series.folder}: its spans do not say how many every published period has")
    return shares


def statistics(series: "Series", query: Query) -> PeriodNumbers:
    """Return a statistic that every period answers by itself, of every group of a query.

    Error: of counts, the root of the sum of both variances; of anything else an interval may lie unevenly about its
    value, and the change lies between the difference of the ends of two intervals, each with half the chance to miss.

    Args:
        series: with at least one period; what is measured of spans of several is left out.
        query: the statistic, perhaps by attributes.

    Raises:
        ValueError: nothing answers it, or there are too many groups.
    """
    pairs = [each for _, each in groups(series.calendar.spec.schema.tabular, query)]

    alone = series.alone

    def at(period: int, confidence: float) -> Array:
        release = alone[period]
        if release is None:
            return np.full((5, len(pairs)), np.nan)
        return _columns(release, pairs, confidence)

    def change(first: int, second: int, confidence: float) -> Change:
        if query.of == "count":
            value = numbers[0][:, second] - numbers[0][:, first]
            half = half_width(errors[:, first] ** 2 + errors[:, second] ** 2, confidence, series.tail)
            return Change(value=value, low=value - half, high=value + half)
        before, after = (at(period, 1 - (1 - confidence) / 2) for period in (first, second))
        return Change(value=after[0] - before[0], low=after[2] - before[3], high=after[3] - before[2])

    numbers = np.stack([at(period, CONFIDENCE) for period in range(len(alone))], axis=-1)
    errors = numbers[1]
    return PeriodNumbers(
        value=numbers[0], error=errors, low=numbers[2], high=numbers[3], change=change, hidden=numbers[4] == 1
    )


def _columns(release: Release, queries: Sequence[Query], confidence: float) -> Array:
    """Return values, standard errors, both ends of the intervals and 1 where tables hide them, shape (5, groups)."""
    pairs = [(query, release.answered(query, confidence)) for query in queries]
    rows = [
        (each.value, each.standard_error, *each.interval, hides(release.design.release, query, each, release.answers))
        for query, each in pairs
    ]
    return np.array(rows, dtype=np.float64).T
