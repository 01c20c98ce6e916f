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
    by = [_column(columns, name) for name in query.by]
    if (count := math.prod(column.size for column in by)) > MOST:
        raise ValueError(f"by {', '.join(query.by)}: {count:,} groups, at most {MOST:,}; the release's tables have all")
    for labels in itertools.product(*(column.labels_between(0, column.size) for column in by)):
        where = query.where
        for name, column, label in zip(query.by, by, labels, strict=True):
            level = name if name in column.tree_levels else ""
            where = both(Condition(word="=", attribute=column.name, level=level, values=(label,)), where)
        yield tuple(zip(query.by, labels, strict=True)), replace(query, where=where, by=())


def _column(columns: Sequence[Tabular], name: str) -> Tabular:
    """Return the attribute of a name, or the one whose level it is, with the nodes of that level as cells."""
    column = next(column for column in columns if name in (column.name, *column.tree_levels))
    return column if column.name == name else column.coarsened(name)
