"""A table of a release as an Altair chart: what is published with its intervals, and nothing else.

columns, rows -> which columns are attributes, which of them have an order -> bars, a line with a band, or a heat map.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dpress.core.basics import extras
from dpress.query.measured_columns import measured

MOST = 5_000  # rows of a chart, which Altair draws
LONGEST = 3  # attributes of a chart
ALL = "all"  # of a group: whatever its value
FIXED = ("statistic", "count", "value", "low", "high")  # columns that a table has whatever its attributes are called


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
    names = table.column_names
    rows = [
        {field(names, name): _plain(cell, named=name in named) for name, cell in row.items()}
        for row in table.to_pylist()
    ]
    base = alt.Chart(alt.Data(values=rows))
    if len(named) == 1 and _dated(table, named[0]):
        return _line(alt, base, named[0], value, names)
    if len(named) == 2 and all(f"{name}_from" in names for name in named):
        return _heat(alt, base, named, value, table)
    return _bars(alt, base, named, value, table)


def field(names: Sequence[str], name: str) -> str:
    """Return what a column is called inside a chart: an attribute's name might mean something to Vega.

    Args:
        names: of all columns.
        name: of one; those that every table has keep their name.

    >>> field(["a:b", "count"], "a:b"), field(["a:b", "count"], "count")
    ('column_0', 'count')
    """
    return name if name in FIXED else f"column_{names.index(name)}"


def _line(alt: Any, base: Any, name: str, value: str, names: Sequence[str]) -> Any:
    across = alt.X(f"{field(names, f'{name}_from')}:T", title=name)
    band = base.mark_area(opacity=0.3).encode(across, alt.Y("low:Q", title=value), alt.Y2("high:Q"))
    return band + base.mark_line().encode(across, alt.Y(f"{value}:Q"), tooltip=_tips(alt, [name], value, names))


def _heat(alt: Any, base: Any, named: Sequence[str], value: str, table: pa.Table) -> Any:
    across = _cells(alt.X, table, named[0])
    up = _cells(alt.Y, table, named[1])
    return base.mark_rect().encode(
        across,
        up.sort(_in_order(table, named[1])[::-1]),
        alt.Color(f"{value}:Q"),
        tooltip=_tips(alt, named, value, table.column_names),
    )


def _bars(alt: Any, base: Any, named: Sequence[str], value: str, table: pa.Table) -> Any:
    panel = "statistic" if "statistic" in named else named[0] if len(named) == LONGEST else ""
    others = [name for name in named if name != panel]
    across = [_cells(alt.X, table, name) for name in others[:1]]
    beside = [_cells(alt.XOffset, table, name) for name in others[1:2]]
    colour = [_cells(alt.Color, table, name) for name in others[1:2]]
    height, tips = alt.Y(f"{value}:Q"), _tips(alt, named, value, table.column_names)
    bars = base.mark_bar(opacity=0.6).encode(*across, *beside, *colour, height, tooltip=tips)
    intervals = base.mark_rule().encode(*across, *beside, alt.Y("low:Q", title=value), alt.Y2("high:Q"))
    both = alt.layer(bars, intervals, data=base.data)
    if not panel:
        return both
    facets = both.facet(_cells(alt.Facet, table, panel), columns=LONGEST)
    return facets.resolve_scale(y="independent") if panel == "statistic" else facets


def _tips(alt: Any, named: Sequence[str], value: str, names: Sequence[str]) -> list[Any]:
    cells = [alt.Tooltip(f"{field(names, name)}:N", title=name) for name in named]
    return [*cells, *(alt.Tooltip(f"{name}:Q") for name in (value, "low", "high"))]


def _cells(channel: Any, table: pa.Table, name: str) -> Any:
    """Return a channel of a chart that an attribute's cells take, in their order."""
    title = {} if channel.__name__ == "XOffset" else {"title": name}
    return channel(f"{field(table.column_names, name)}:N", sort=_in_order(table, name), **title)


def _in_order(table: pa.Table, name: str) -> list[Any]:
    """Return the values of a column as they first come, which is the order of the cells."""
    return [_plain(value, named=True) for value in dict.fromkeys(table[name].to_pylist())]


def _dated(table: pa.Table, name: str) -> bool:
    column = f"{name}_from"
    return column in table.column_names and pa.types.is_temporal(table[column].type)


def _plain(value: Any, *, named: bool) -> Any:
    """Return what JSON has; of a group without a value, which is all of them, a word."""
    if value is None and named:
        return ALL
    return value.isoformat() if hasattr(value, "isoformat") else value
