"""A table of a release as an Altair chart: what is published with its intervals, and nothing else.

columns, rows -> which columns are attributes, which of them have an order -> bars, a line with a band, or a heat map.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dpress.core import extras
from dpress.release.measured_columns import measured

MOST = 5_000  # rows of a chart, which Altair draws
LONGEST = 3  # attributes of a chart
ALL = "all"  # of a group: whatever its value


def chart(table: pa.Table) -> Any:
    """Return an Altair chart of a table with its 95 % intervals; ordered attributes stay in order.

    One attribute: bars, of dates a line with a band. Two ordered attributes: a heat map, whose cells tell their
    interval when they are pointed at. Otherwise bars in groups, and a panel for each value of a third attribute or for
    each statistic.

    Args:
        table: of a release, as `KeyedTable.to_arrow` returns it.

    Raises:
        NotSupported: Altair is not installed.
        ValueError: records, which have no counts; more than MOST rows, or more than LONGEST attributes.
    """
    alt = extras.load("altair", extra="report", need="a chart needs")
    if (columns := measured(table.schema)) is None:
        raise ValueError("records have no counts to draw; take them by to_pandas() or to_polars()")
    named, value = columns
    if len(named) > LONGEST:
        raise ValueError(f"a chart has at most {LONGEST} attributes, the table has {len(named)}: {', '.join(named)}")
    if table.num_rows > MOST:
        raise ValueError(f"a chart has at most {MOST:,} rows, the table has {table.num_rows:,}; choose a smaller table")
    rows = [{name: _plain(one, named=name in named) for name, one in row.items()} for row in table.to_pylist()]
    base = alt.Chart(alt.Data(values=rows))
    if len(named) == 1 and _dated(table, named[0]):
        return _line(alt, base, named[0], value)
    if len(named) == 2 and all(f"{one}_from" in table.column_names for one in named):
        return _heat(alt, base, named, value, table)
    return _bars(alt, base, named, value, table)


def _line(alt: Any, base: Any, name: str, value: str) -> Any:
    across = alt.X(f"{name}_from:T", title=name)
    band = base.mark_area(opacity=0.3).encode(across, alt.Y("low:Q", title=value), alt.Y2("high:Q"))
    return band + base.mark_line().encode(across, alt.Y(f"{value}:Q"), tooltip=_tips([name], value))


def _heat(alt: Any, base: Any, named: Sequence[str], value: str, table: pa.Table) -> Any:
    first, second = (_in_order(table, one) for one in named)
    return base.mark_rect().encode(
        alt.X(f"{named[0]}:N", sort=first),
        alt.Y(f"{named[1]}:N", sort=second[::-1]),
        alt.Color(f"{value}:Q"),
        tooltip=_tips(named, value),
    )


def _bars(alt: Any, base: Any, named: Sequence[str], value: str, table: pa.Table) -> Any:
    panel = "statistic" if "statistic" in named else named[0] if len(named) == LONGEST else ""
    others = [one for one in named if one != panel]
    across = [alt.X(f"{one}:N", sort=_in_order(table, one)) for one in others[:1]]
    beside = [alt.XOffset(f"{one}:N", sort=_in_order(table, one)) for one in others[1:2]]
    colour = [alt.Color(f"{one}:N", sort=_in_order(table, one)) for one in others[1:2]]
    height, tips = alt.Y(f"{value}:Q"), _tips(named, value)
    bars = base.mark_bar(opacity=0.6).encode(*across, *beside, *colour, height, tooltip=tips)
    intervals = base.mark_rule().encode(*across, *beside, alt.Y("low:Q", title=value), alt.Y2("high:Q"))
    both = alt.layer(bars, intervals, data=base.data)
    if not panel:
        return both
    facets = both.facet(alt.Facet(f"{panel}:N", sort=_in_order(table, panel)), columns=LONGEST)
    return facets.resolve_scale(y="independent") if panel == "statistic" else facets


def _tips(named: Sequence[str], value: str) -> list[str]:
    return [*(f"{one}:N" for one in named), f"{value}:Q", "low:Q", "high:Q"]


def _in_order(table: pa.Table, name: str) -> list[Any]:
    """Return the values of a column as they first come, which is the order of the cells."""
    return [_plain(one, named=True) for one in dict.fromkeys(table[name].to_pylist())]


def _dated(table: pa.Table, name: str) -> bool:
    own = f"{name}_from"
    return own in table.column_names and pa.types.is_temporal(table[own].type)


def _plain(value: Any, *, named: bool) -> Any:
    """Return what JSON has; of a group without a value, which is all of them, a word."""
    if value is None and named:
        return ALL
    return value.isoformat() if hasattr(value, "isoformat") else value
