"""Statistics that the page of a series follows: the chief one first, each with the query and the unit that it has."""

import re
from collections.abc import Sequence
from dataclasses import replace

from dpress.attributes.domain import Schema
from dpress.kinds.statistics.group_results import COUNT
from dpress.query.release import Release
from dpress.query.schema_queries import query_of
from dpress.reporting.series_parts import TimeSeries
from dpress.reporting.statistic_titles import PERCENT, chief, titled

QUANTILE = re.compile(r"quantile (\S+) ")
LENGTHS = ("count", "sum", "persons", "total", "distinct")  # statistics whose scales begin at zero
UNITS = {"count": "rows", "share": PERCENT}


def over_time(release: Release, schema: Schema) -> Sequence[TimeSeries]:
    """Return the statistics that a release of a period measured, as queries of the schema of all periods."""
    names = release.answers.measured
    return [_followed(name, schema) for name in sorted(names, key=lambda each: each != chief(names))]


def _followed(name: str, schema: Schema) -> TimeSeries:
    text = "total" if name == COUNT else QUANTILE.sub(r"quantile \1 of ", name)
    query, title = query_of(schema, text), titled(name, schema)
    return TimeSeries(
        query=query,
        statistic=replace(title, unit=UNITS.get(query.of, title.unit)),
        from_zero=query.of in LENGTHS,
        factor=100.0 if query.of == "share" else 1.0,
    )
