"""What an answer about groups is made of: which groups, and which of their sums.

query -> conditions that name groups; names of sums -> `Source`.
"""

from collections.abc import Iterable, Mapping

from dpress.kinds.statistics.group_results import COUNT
from dpress.query.query_tree import Condition, Query

COUNTED = ("count", "ratio", "difference")  # made of counts of groups


def rows_of(query: Query) -> Iterable[Condition | None]:
    """Return the conditions that name the groups of an answer: of both sides, of both counts, or of a statistic."""
    if query.sides:
        return [side.where for side in query.scoped_sides]
    return query.rows if query.of in COUNTED else [query.where]


def sums_of(query: Query) -> tuple[str, ...]:
    """Return which sums of every group a statistic is made of."""
    if query.sides:
        return sums_of(query.sides[0])
    of = query.attribute
    made: Mapping[str, tuple[str, ...]] = {
        "mean": (f"sum {of}", COUNT),
        "sum": (f"sum {of}",),
        "variance": (f"sum {of}", f"squares of {of}", COUNT),
        "quantile": (f"counts by {of}",),
        "share": (f"rows with {query.first.text}", COUNT),
        "total per person": (f"total {of}", "persons"),
        **dict.fromkeys(COUNTED, (COUNT,)),
    }
    return made.get(query.of, (f"{query.of} {of}".strip(),))
