"""What the page of a series is about: a count or a statistic of every published period, in all and by groups.

series -> counts of its tables, or the statistics that its releases measured -> parts, each of the groups of some names.
"""

import itertools
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.query.query_tree import Query
from dpress.query.schema_queries import query_of
from dpress.release.periods.period_numbers import PeriodNumbers, counts, group_weights, statistics
from dpress.reporting.rounding import TIMES
from dpress.reporting.statistic_titles import Titled, chief, titled

if TYPE_CHECKING:  # a page knows the series
    from dpress.release.periods.series import Series

MOST_NUMBERS = 20_000  # on a page, of all groups and periods
MOST_SHOWN = 20  # groups that are drawn
PERCENT = "%"  # of shares
ALL, REST = "all rows", "the rest"
QUANTILE = re.compile(r"quantile (\S+) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One count or statistic of some groups, the largest first.

    Args:
        statistic: what it is called, with its unit.
        query: that has it of every group.
        axes: the attributes of the groups; empty of all rows together.
        labels: of every group, shape (groups, axes).
        numbers: of every group and period.
        rest: of all groups but the first `MOST_SHOWN` together; None where there are none, or that is not known.
    """

    statistic: Titled
    query: Query
    axes: tuple[Tabular, ...]
    labels: tuple[tuple[str, ...], ...]
    numbers: PeriodNumbers
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
    for (query, statistic), names in itertools.product(_measured(series), every):
        axes = tuple(attribute for attribute in schema.tabular if attribute.name in names)
        size = len(series.periods) * math.prod(axis.size for axis in axes)
        if size > room:
            left.append(replace(query, by=names).text)
            continue
        with suppress(ValueError):  # what no table of the releases tells
            shown.append(_part(series, statistic, replace(query, by=names), axes))
            room -= size
    return Parts(shown=tuple(shown), left=tuple(left))


def _measured(series: "Series") -> Iterator[tuple[Query, Titled]]:
    """Yield what every period tells: of tables the count, else the statistics, the chief first."""
    schema = series.calendar.spec.schema
    if series.adds_up("total"):
        yield Query(of="count"), Titled(name="count", unit="rows")
        return
    names = series.releases[series.spans[-1]].answers.measured
    for name in sorted(names, key=lambda each: each != chief(names)):
        text = "total" if name == "count" else QUANTILE.sub(r"quantile \1 of ", name)
        query, title = query_of(schema, text), titled(name, schema)
        unit = {"count": "rows", "share": PERCENT}.get(query.of, title.unit)
        yield query, replace(title, unit=unit)


def _part(series: "Series", statistic: Titled, query: Query, axes: tuple[Tabular, ...]) -> Part:
    """Return the groups of a query by some attributes, in the order of the schema, the largest group first.

    Raises:
        ValueError: see `counts` and `statistics`.
    """
    labels = [*itertools.product(*(axis.captions for axis in axes))]
    weights = group_weights(series, query.by) if series.adds_up("total") else []
    numbers = counts(series, weights) if weights else statistics(series, query)
    numbers = numbers.times(100.0) if statistic.unit == PERCENT else numbers
    order = np.argsort(-np.nan_to_num(numbers.value).mean(axis=1), kind="stable").tolist()
    hidden, rest = order[MOST_SHOWN:], None
    if hidden and weights and len(axes) == 1:  # groups of one attribute are a product of weights, too
        along = zip(*(weights[place] for place in hidden), strict=True)
        rest = counts(series, [[np.max(cells, axis=0) for cells in along]])
    return Part(
        statistic=statistic,
        query=query,
        axes=axes,
        labels=tuple(labels[place] for place in order),
        numbers=numbers.only(order),
        rest=rest,
    )
