"""What the page of a series is about: a count or a statistic of every published period, in all and by groups.

series -> counts of its tables, or the statistics that its releases measured -> parts, each of the groups of some names.
"""

import itertools
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpress import catalog
from dpress.attributes.attribute import Tabular
from dpress.inference.suppression import display_of
from dpress.query.query_tree import Query
from dpress.release.periods.period_numbers import PeriodNumbers, counts, group_weights, statistics
from dpress.reporting.rounding import TIMES
from dpress.reporting.statistic_titles import Titled

if TYPE_CHECKING:  # a page knows the series
    from dpress.release.periods.series import Series

MOST_NUMBERS = 20_000  # on a page, of all groups and periods
MOST_SHOWN = 20  # groups that are drawn
ALL, REST = "all rows", "the rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSeries:
    """A number of every period: its query and name, whether its scale begins at zero, and its factor for people."""

    query: Query
    statistic: Titled
    from_zero: bool = False
    factor: float = 1.0


COUNT = TimeSeries(query=Query(of="count"), statistic=Titled(name="count", unit="rows"), from_zero=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One count or statistic of some groups, the largest first.

    Args:
        statistic: what it is called, with its unit.
        query: that has it of every group.
        from_zero: whether its scale begins at zero.
        axes: the attributes of the groups; empty of all rows together.
        labels: of every group, shape (groups, axes).
        numbers: of every group and period.
        shown: the same as they are shown.
        base: to whose multiples they are rounded.
        order: the places of the groups among all that the axes make.
        factor: of the numbers for people.
        rest: as they are shown, of all groups but the first `MOST_SHOWN` together; None where there are none, or that
            is not known.
    """

    statistic: Titled
    query: Query
    from_zero: bool = False
    axes: tuple[Tabular, ...]
    labels: tuple[tuple[str, ...], ...]
    numbers: PeriodNumbers
    shown: PeriodNumbers
    base: int = 1
    order: tuple[int, ...] = ()
    factor: float = 1.0
    rest: PeriodNumbers | None = None

    @property
    def counted(self) -> bool:
        """Whether it is a count."""
        return self.query.of == "count"

    @property
    def heading(self) -> str:
        """What it is of which groups."""
        caption = self.statistic.caption
        by = " and ".join(axis.caption for axis in self.axes)
        return caption[0].upper() + caption[1:] + (f" by {by}" if by else "")

    @property
    def names(self) -> list[str]:
        """What every group is called."""
        return [TIMES.join(group) for group in self.labels] if self.axes else [ALL]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """All parts of a page, the chief statistic first, and queries for those that it has no room for."""

    shown: tuple[Part, ...]
    left: tuple[str, ...]


def parts(series: "Series") -> Parts:
    """Return what the page shows of a series: of every statistic all rows, then the groups that there is room for."""
    release, schema, dated = series.releases[series.spans[-1]], series.calendar.spec.schema, series.calendar.dated.name
    tables = [tuple(name for name in names if name != dated) for names in release.answers.tables.values()]
    single = [(name,) for name in dict.fromkeys(itertools.chain.from_iterable(tables))]
    several = [tuple(name for name in schema.names if name in names) for names in tables if len(names) > 1]
    every = [*dict.fromkeys([(), *single, *several])]
    shown, left, room = list[Part](), list[str](), MOST_NUMBERS
    for followed, names in itertools.product(_followed(series), every):
        query = replace(followed.query, by=names)
        axes = tuple(attribute for attribute in schema.tabular if attribute.name in names)
        size = len(series.periods) * math.prod(axis.size for axis in axes)
        if size > room:
            left.append(query.text)
            continue
        with suppress(ValueError):  # what no table of the releases tells
            shown.append(_part(series, replace(followed, query=query), axes))
            room -= size
    return Parts(shown=tuple(shown), left=tuple(left))


def _followed(series: "Series") -> Sequence[TimeSeries]:
    """Return what every period tells, as its kind says; else the count."""
    release = series.releases[series.spans[-1]]
    over_time = catalog.room(release.design.kind).page.over_time
    return [COUNT] if over_time is None else over_time(release, series.calendar.spec.schema)


def _part(series: "Series", followed: TimeSeries, axes: tuple[Tabular, ...]) -> Part:
    """Return the groups of a number by some attributes, in the order of the schema, the largest group first.

    Raises:
        ValueError: see `counts` and `statistics`.
    """
    query, display = followed.query, display_of(series.calendar.spec.release.display)
    labels = [*itertools.product(*(axis.captions for axis in axes))]
    weights = group_weights(series, query.by) if series.adds_up("total") else []
    numbers = counts(series, weights) if weights else statistics(series, query)
    numbers = numbers if followed.factor == 1 else numbers.times(followed.factor)
    order = np.argsort(-np.nan_to_num(numbers.value).mean(axis=1), kind="stable").tolist()
    hidden, rest = order[MOST_SHOWN:], None
    if hidden and weights and len(axes) == 1:  # groups of one attribute are a product of weights, too
        along = zip(*(weights[place] for place in hidden), strict=True)
        rest = counts(series, [[np.max(cells, axis=0) for cells in along]]).shown(display, counts=True)
    ordered, counted = numbers.only(order), query.of == "count"
    return Part(
        statistic=followed.statistic,
        query=query,
        from_zero=followed.from_zero,
        axes=axes,
        labels=tuple(labels[place] for place in order),
        numbers=ordered,
        shown=ordered.shown(display, counts=counted),
        base=display.base if counted else 1,
        order=tuple(order),
        factor=followed.factor,
        rest=rest,
    )
