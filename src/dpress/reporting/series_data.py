"""What the page of a series answers queries with: the noisy counts of every span, and how spans add up to periods.

series -> of every span what the page of its release has -> one object that holds no more than these releases do.
"""

import math
from typing import TYPE_CHECKING, Any

from dpress import catalog
from dpress.release.periods.period_numbers import span_shares
from dpress.reporting.page_data import MOST_CELLS
from dpress.reporting.views import LONGEST

if TYPE_CHECKING:  # a page knows the series
    from dpress.release.periods.series import Series


def series_data(series: "Series") -> dict[str, Any] | None:
    """Return the data; None where the command alone answers.

    That is so of kinds whose releases are no tables, of attributes too long for a page, and of more than 100,000 cells.

    Args:
        series: with at least one period.
    """
    schema, calendar = series.calendar.spec.schema, series.calendar
    releases = [*series.releases.values()]
    answering = catalog.room(releases[0].design.kind).page.answering
    attributes = [attribute.for_script(LONGEST) for attribute in schema.tabular]
    if answering is None or None in attributes or not series.adds_up("total"):
        return None
    sizes = {attribute.name: attribute.size for attribute in releases[0].schema.tabular}
    tables = releases[0].answers.tables.values()
    cells = len(releases) * sum(math.prod(sizes[name] for name in names) for names in tables)
    spans = [answering(release) for release in releases] if cells <= MOST_CELLS else [None]
    if None in spans:
        return None
    return {
        "attributes": attributes,
        "dated": schema.names.index(calendar.dated.name),
        "periods": [calendar.place(name) for name in series.periods],
        "named": len(calendar.names),
        "running": series.running,
        "shares": span_shares(series).tolist(),
        "spans": spans,
    }
