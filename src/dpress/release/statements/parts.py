"""Which releases answer some statements, as few as do: counts together, statistics by group, names by themselves.

statements -> what each needs -> parts, each a release of one kind, with its statements.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.attributes.protocol import Cells
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.runs import common
from dpress.query.boxes import possible
from dpress.query.condition_cells import cells_of
from dpress.query.query_tree import TOTAL, Condition, Query, both
from dpress.query.sql.numbers import MEDIAN
from dpress.query.sql.statement import Statement

FINER = 4  # times as many groups, and a statement is still answered by another's: a budget of its own costs as much
COUNTS, SUMS, CELLS, UNLISTED = "counts", "sums", "cells", "unlisted"
"""What a part answers: counts, statistics by group, statistics of what tells groups itself, names that nobody lists."""
Measured = tuple[str, str]
"""A statistic that is more than a count, and its attribute: "mean", "median", "variance", "persons", or a level."""
ByName = Mapping[str, Attribute]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What one statement needs.

    Args:
        place: of the statement, from 0.
        by: the attributes that tell its groups and conditions.
        measured: what is added up in them.
        discovered: the attribute whose values nobody lists.
        ranges: of statistics, to which neighbouring cells of an attribute all of its rows belong.
        added: attributes that tell groups and are added up as well: the counts of their cells tell both.
    """

    place: int
    by: frozenset[str]
    measured: frozenset[Measured] = frozenset()
    discovered: str | None = None
    ranges: frozenset[tuple[str, int, int]] = frozenset()
    added: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A release that answers some of the statements.

    Args:
        name: of its folder.
        answers: what of statements, by which a kind of release is found.
        needs: what the statements need, in their order.
    """

    name: str
    answers: str
    needs: tuple[Need, ...]

    @property
    def by(self) -> frozenset[str]:
        """The attributes that tell groups and conditions."""
        return frozenset().union(*(need.by for need in self.needs))

    @property
    def groups(self) -> frozenset[str]:
        """Those, and attributes of which all rows lie in one range."""
        return self.by | {name for need in self.needs for name, *_ in need.ranges}

    @property
    def measured(self) -> frozenset[Measured]:
        """What is added up."""
        return frozenset().union(*(need.measured for need in self.needs))

    @property
    def statements(self) -> tuple[int, ...]:
        """The places of its statements, from 0."""
        return tuple(sorted(need.place for need in self.needs))


def parts_of(statements: Sequence[Statement], attributes: Sequence[Attribute]) -> list[Part]:
    """Return the releases that answer statements.

    A statement is answered by statistics of finer groups that another needs, up to four times as many; the groups of a
    release of its own would have half the budget, and so about as much noise.

    Raises:
        NotSupported: a statement asks for more of values that nobody lists than their counts.
    """
    columns = {attribute.name: attribute for attribute in attributes}
    needs = [need_of(place, statement, columns) for place, statement in enumerate(statements)]
    groups: list[list[Need]] = []
    for need in sorted(needs, key=lambda need: (not need.measured, -_cells(need.by, columns))):
        serving = [group for group in groups if _serves(group[0], need, columns)]
        if serving and need.discovered is None and not need.added:
            min(serving, key=lambda group: _cells(group[0].by, columns)).append(need)
        elif need.measured:
            groups.append([need])
    several = [f"-{number}" for number in range(1, len(groups) + 1)] if len(groups) > 1 else [""]
    parts = [_part(f"{SUMS}{end}", SUMS, group) for end, group in zip(several, groups, strict=False)]
    served = {need.place for group in groups for need in group}
    others = [need for need in needs if need.place not in served]
    kinds: dict[tuple[str, str], list[Need]] = {}
    for need in others:
        kinds.setdefault(_kind_of(need), []).append(need)
    parts += [_part(name, kind, each) for (name, kind), each in kinds.items()]
    return sorted(parts, key=lambda part: part.statements)


def _kind_of(need: Need) -> tuple[str, str]:
    """Return the release, and its kind, that a statement needs which no statistics answer."""
    if need.discovered is not None:
        return f"{UNLISTED}-{need.discovered}", UNLISTED
    return (CELLS, CELLS) if need.added else (COUNTS, COUNTS)


def _part(name: str, answers: str, needs: Sequence[Need]) -> Part:
    return Part(name=name, answers=answers, needs=tuple(sorted(needs, key=lambda need: need.place)))


def _cells(by: frozenset[str], columns: ByName) -> int:
    return prod(columns[name].with_cells.size for name in by if not columns[name].discovered)


def _serves(finer: Need, need: Need, columns: ByName) -> bool:
    return (
        need.by <= finer.by
        and need.ranges == finer.ranges
        and _cells(finer.by, columns) <= FINER * _cells(need.by, columns)
    )


def need_of(place: int, statement: Statement, columns: ByName) -> Need:
    """Return what a statement needs.

    Raises:
        NotSupported: it asks for more of values that nobody lists than their counts.
    """
    by = frozenset(test.attribute for test in attribute_tests([statement])) | {
        name for key in statement.keys for name in key.attributes
    }
    measured = frozenset(filter(None, (_measured(number.query) for number in statement.numbers)))
    unlisted = sorted(name for name in by if columns[name].discovered)
    if unlisted:
        _check_names(unlisted[0], by, statement)
        return Need(place=place, by=by, discovered=unlisted[0])
    added = frozenset(attribute for _, attribute in measured if attribute)
    if by & added:
        return Need(place=place, by=by | added, added=added)
    ranges = _ranges(statement, by, columns) if measured else frozenset[tuple[str, int, int]]()
    return Need(place=place, by=by - {name for name, *_ in ranges}, measured=measured, ranges=ranges)


def _ranges(statement: Statement, by: frozenset[str], columns: ByName) -> frozenset[tuple[str, int, int]]:
    """Return the ranges that `where` leaves of attributes which nothing else in a statement is about.

    A release of their rows alone has no groups for them; `Cells.within` is the attribute of such rows.
    """
    others = {
        test.attribute for test in _tests(each for each in conditions_of(statement) if each is not statement.where)
    }
    joined = () if statement.where is None else (statement.where,)
    tests = [part for each in joined for part in (each.parts if each.word == "and" else joined)]
    nested = {test.attribute for part in tests if not part.attribute for test in part.tests}
    ranges: set[tuple[str, int, int]] = set()
    for name in by - others - nested - {name for key in statement.keys for name in key.attributes}:
        column, of_column = columns[name].with_cells, [test for test in tests if test.attribute == name]
        runs = reduce(common, (cells_of(column, test) for test in of_column))
        if (
            column.line is not None
            and len(runs) == 1
            and runs[0][1] < column.ordered
            and _alone(column, runs[0], of_column)
        ):
            ranges.add((name, *runs[0]))
    return frozenset(ranges)


def _alone(column: Cells, cells: tuple[int, int], tests: Sequence[Condition]) -> bool:
    """Return whether an attribute of the rows in some cells alone is known, and all tests hold of all of them."""
    within = column.within(*cells)
    if within is None:
        return False
    try:
        return all(cells_of(within, test) == ((0, 0),) for test in tests)
    except ValueError:  # an end of the range that is stated, and beyond which others are clamped into it
        return False


def _tests(conditions: Iterable[Condition]) -> Iterator[Condition]:
    return itertools.chain.from_iterable(condition.tests for condition in conditions)


def _check_names(name: str, by: frozenset[str], statement: Statement) -> None:
    counts = all(number.query == Query(of="count") for number in statement.numbers)
    if len(by) > 1 or statement.where is not None or not counts:
        raise NotSupported(
            f"{name}: of values that nobody lists there are counts by themselves; ask select {name}, count(*) ... "
            f"group by {name}"
        )


def conditions_of(statement: Statement) -> Iterator[Condition]:
    """Yield every condition in a statement."""
    queries = [number.query for number in statement.numbers]
    yield from itertools.chain.from_iterable(key.conditions for key in statement.keys)
    yield from (each for query in queries for each in (query.first, query.second, query.where) if each is not None)
    if statement.where is not None:
        yield statement.where


def attribute_tests(statements: Iterable[Statement]) -> Iterator[Condition]:
    """Yield every test of one attribute in the conditions of statements."""
    return _tests(itertools.chain.from_iterable(map(conditions_of, statements)))


def _measured(query: Query) -> Measured | None:
    """Return the statistic that a query asks for; None for counts.

    Raises:
        NotSupported: it is a relation, which follows from a table of its attributes.
    """
    if query.of == "relation":
        raise NotSupported(f"{query.attribute} follows from a release: publish counts by its attributes, then ask it")
    if query.of == "quantile":
        return ("median" if query.level == MEDIAN else repr(query.level)), query.attribute
    named = {"mean": "mean", "sum": "mean", "variance": "variance", "persons": "persons"}.get(query.of)
    return None if named is None else (named, query.attribute)


def texts_of(statement: Statement, schema: Schema) -> Iterator[str]:
    """Yield every count that a statement's numbers are made of, in each of its groups, as a query.

    Rows that no row can be among, such as those of a group that `where` excludes, are not asked for: their count is 0.
    """
    for number, group in itertools.product(statement.numbers, statement.groups()):
        query = number.query
        scope = group.where if query.where is None else both(query.where, group.where)
        pairs = {"share": (query.first, TOTAL), "ratio": (query.first, query.second)}
        for each in pairs.get(query.of, (query.first, query.second) if query.of == "difference" else (query.first,)):
            rows = each if scope is None else both(each, scope)
            if possible(schema, rows):
                yield rows.text


Parameters = Callable[[Part, Sequence[Statement], Sequence[Attribute]], tuple[str, dict[str, Any]] | None]
"""From a part, its statements and the attributes to a kind of release and its parameters; None where it is too much."""
