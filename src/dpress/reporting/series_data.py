"""What the page of a series answers queries with: the noisy counts of every span, or the statistics of every period.

series -> of every span what the page of its release has -> one object that holds no more than these releases do.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpress import catalog
from dpress.query.published_tables import CONFIDENCE
from dpress.release.periods.period_numbers import span_shares
from dpress.reporting.packed_numbers import packed
from dpress.reporting.page_data import MOST_CELLS
from dpress.reporting.series_parts import Part
from dpress.reporting.views import LONGEST

if TYPE_CHECKING:  # a page knows the series
    from dpress.release.periods.series import Series


def series_data(series: "Series", shown: Sequence[Part]) -> dict[str, Any] | None:
    """Return the data; None where the command alone answers.

    That is so of kinds that have neither tables nor statistics, of attributes too long for a page, and of more than
    100,000 cells.

    Args:
        series: with at least one period.
        shown: the parts of the page.
    """
    schema, calendar = series.calendar.spec.schema, series.calendar
    attributes = [attribute.for_script(LONGEST) for attribute in schema.tabular]
    data = _counts(series) if series.adds_up("total") else _statistics(series, shown)
    if data is None or None in attributes:
        return None
    return data | {"attributes": attributes, "dated": schema.names.index(calendar.dated.name)}


def _counts(series: "Series") -> dict[str, Any] | None:
    releases, calendar = [*series.releases.values()], series.calendar
    answering = catalog.room(releases[0].design.kind).page.answering
    if answering is None:
        return None
    sizes = {attribute.name: attribute.size for attribute in releases[0].schema.tabular}
    tables = releases[0].answers.tables.values()
    cells = len(releases) * sum(math.prod(sizes[name] for name in names) for names in tables)
    spans = [answering(release) for release in releases] if cells <= MOST_CELLS else [None]
    if None in spans:
        return None
    return {
        "periods": [calendar.place(name) for name in series.periods],
        "named": len(calendar.names),
        "running": series.running,
        "shares": span_shares(series).tolist(),
        "spans": spans,
    }


def _statistics(series: "Series", shown: Sequence[Part]) -> dict[str, Any] | None:
    """Return the statistics of every period, of the groups in their order, with the remarks on each."""
    schema = series.calendar.spec.schema
    parts, notes = list[dict[str, Any]](), dict[str, list[str | None]]()
    for part in shown:
        query, order = replace(part.query, by=()), np.argsort(part.order)
        parts.append(
            {
                "text": query.text,
                "axes": [schema.names.index(axis.name) for axis in part.axes],
                "factor": part.factor,
                "numbers": [packed(column[order]) for column in part.numbers.columns],
            }
        )
        if not part.axes:
            notes[query.text] = [each and each.answered(query, CONFIDENCE).note for each in series.alone]
    return {"periods": series.periods, "parts": parts, "notes": notes} if parts else None
