"""Queries by attributes: `mean cost by ward` is one query for every value of `ward`, which together make a table."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpress.attributes.attribute import Tabular
from dpress.core.maps.runs import Runs, common
from dpress.query.boxes import joined
from dpress.query.condition_cells import cells_of
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
    inside = [_inside(column, query.where) for column in by]
    if (count := math.prod(sum(last + 1 - first for first, last in runs) for runs in inside)) > MOST:
        raise ValueError(f"by {', '.join(query.by)}: {count:,} groups, at most {MOST:,}; the release's tables have all")
    for labels in itertools.product(*(_labels(*pair) for pair in zip(by, inside, strict=True))):
        where = query.where
        for name, column, label in zip(query.by, by, labels, strict=True):
            level = "" if name == column.name else name
            where = both(Condition(word="=", attribute=column.name, level=level, values=(label,)), where)
        yield tuple(zip(query.by, labels, strict=True)), replace(query, where=where, by=())


def _inside(column: Tabular, where: Condition | None) -> Runs:
    """Return the cells of a level that lie in the regions of its tree which a condition asks for, all of any other."""
    inside: Runs = ((0, column.size - 1),)
    for test in (joined(where) or ()) if where is not None else ():
        if test.attribute == column.name and test.level in column.tree_levels[: _depth(column)]:
            inside = common(inside, cells_of(column, test))
    return inside


def _depth(column: Tabular) -> int:
    """Return how many levels of its tree lie at or above an attribute's cells."""
    return column.tree_levels.index(column.level) + 1 if column.tree_levels else 0


def _labels(column: Tabular, runs: Runs) -> list[str]:
    return [label for first, last in runs for label in column.labels_between(first, last + 1)]


def _column(columns: Sequence[Tabular], name: str) -> Tabular:
    """Return the attribute of a name, or the one whose level it is, with the nodes of that level as cells."""
    column = next(column for column in columns if name in (column.name, *column.tree_levels))
    return column if column.name == name else column.coarsened(name)
