"""Queries by attributes: `mean cost by ward` is one query for every value of `ward`, which together make a table."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpress.attributes.attribute import Tabular
from dpress.query.query_tree import Condition, Query, both

MOST = 1 << 12  # groups of one query
Group = tuple[tuple[str, str], ...]  # the value of every attribute, by its name


def groups(columns: Sequence[Tabular], query: Query) -> Iterator[tuple[Group, Query]]:
    """Yield every group with the query of it; of a query without `by` itself alone.

    Args:
        columns: the attributes, with their cells.
        query: the query.

    Raises:
        ValueError: there are too many groups.
    """
    by = [next(column for column in columns if column.name == name) for name in query.by]
    if (count := math.prod(column.size for column in by)) > MOST:
        raise ValueError(f"by {', '.join(query.by)}: {count:,} groups, at most {MOST:,}; the release's tables have all")
    for labels in itertools.product(*(column.labels_between(0, column.size) for column in by)):
        group = tuple(zip(query.by, labels, strict=True))
        where = query.where
        for name, label in group:
            where = both(Condition(word="=", attribute=name, values=(label,)), where)
        yield group, replace(query, where=where, by=())
