"""What the releases of a session say together: a statement answered for nothing, counts from all that measured them.

statement -> the releases that are of the same rows -> a table by the one that errs least, its counts with the others'.

Two releases have unbiased counts y1 and y2 of the same rows with noise that is drawn independently, of variances v1
and v2, both known. Of all unbiased combinations w y1 + (1 - w) y2 the variance w^2 v1 + (1 - w)^2 v2 is least where its
derivative 2 w v1 - 2 (1 - w) v2 is 0, at w = v2 / (v1 + v2): (y1 / v1 + y2 / v2) / (1 / v1 + 1 / v2), with variance
1 / (1 / v1 + 1 / v2) <= min(v1, v2). The weights depend on the designs alone, so that this is exact. The same holds of
any number of releases; it is their generalised least squares (Aitken 1936).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dpress.attributes.domain import Schema
from dpress.attributes.policy import DROP
from dpress.data.specification.spec import Spec
from dpress.inference.interval import Tail, half_width
from dpress.query.query_tree import Query
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.query.sql.answer import Place, answered, columns_of_release, grouped
from dpress.query.sql.reader import statements
from dpress.query.sql.sql_table import SUFFIXES, SqlTable
from dpress.release.statements.joined_rows import joined_rows
from dpress.release.statements.parts import Need, need_of
from dpress.release.statements.session_folder import Accepted
from dpress.release.statements.specifications import columns_of

Rows = tuple[str, frozenset[str], frozenset[tuple[str, int, int]]]
"""Which rows count: the tables that are joined, the attributes that leave some out, and the ranges of a release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """An answer from the releases of a session.

    Args:
        table: the answer.
        numbers: of the statements whose releases it is from.
    """

    table: SqlTable
    numbers: tuple[int, ...]

    @property
    def error(self) -> float | None:
        """The typical standard error of the first number: the root of its mean square; None where none is known."""
        errors = self.table.table[self.table.numbers[0] + SUFFIXES[0]].to_pylist() if self.table.numbers else []
        stated = [error for error in errors if error is not None]
        return math.sqrt(math.fsum(error**2 for error in stated) / len(stated)) if stated else None


@dataclass(frozen=True)
class Reading:
    """A statement, as one release reads it.

    Args:
        number: of the statement in the session that the release was made for.
        release: that is asked.
        sql: the statement.
        confidence: of intervals.
        selected: whether its counts are of names that were found by their counts, which biases them.
    """

    number: int
    release: Release
    sql: str
    confidence: float
    selected: bool = False

    @cached_property
    def queries(self) -> Mapping[Place, Query]:
        """The query of every number of every group; of groups that look alike, and without such columns, none."""
        columns = columns_of_release(self.release, self.sql, joined=True)
        try:
            (statement,) = statements(self.sql, columns)
            pairs = [
                ((values, number.name), query)
                for values, queries in grouped(statement, Schema(columns.attributes))
                for number, query in queries
            ]
        except ValueError:  # it has other columns, or coarser cells
            return {}
        seen = Counter(place for place, _ in pairs)
        return {place: query for place, query in pairs if seen[place] == 1}

    @cached_property
    def counts(self) -> dict[Place, Result | None]:
        """The counts that were asked for so far."""
        return {}

    def count(self, place: Place) -> Result | None:
        """Return the count of a group with its exact error; None where this release has none."""
        if place not in self.counts:
            self.counts[place] = self._measured(place)
        return self.counts[place]

    def _measured(self, place: Place) -> Result | None:
        query = None if self.selected else self.queries.get(place)
        try:
            result = None if query is None or query.of != "count" else self.release.answered(query, self.confidence)
        except ValueError:  # a condition cuts a cell
            return None
        return result if result is not None and 0 < result.standard_error < math.inf else None


def need_in(spec: Spec, sql: str) -> Need:
    """Return what one statement needs.

    Raises:
        SqlRefusal, NotSupported: see `reader.statements` and `parts.need_of`.
    """
    (statement,) = statements(sql, columns_of(spec, sql))
    return need_of(0, statement, {attribute.name: attribute for attribute in spec.attribute})


def rows_of(spec: Spec, sql: str) -> Rows:
    """Return which rows the release of a statement counts.

    Raises:
        SqlRefusal, NotSupported: see `need_in` and `joined_rows`.
    """
    need, joined = need_in(spec, sql), joined_rows(sql, spec.privacy.protected.columns)
    used = need.by | {name for name, *_ in need.ranges} | {name for _, name in need.measured if name}
    used |= frozenset() if used else {spec.attribute[0].name}
    leaving_out = frozenset(
        column.name
        for column in spec.attribute
        if column.name in used and (column.discovered or DROP in column.with_cells.policies)
    )
    return "" if joined is None else joined.text, leaving_out, need.ranges


def usable(spec: Spec, sql: str, accepted: Sequence[Accepted], confidence: float) -> list[Reading]:
    """Return the releases of a session that count the same rows as a statement's would."""
    rows = rows_of(spec, sql)
    same = [each for each in accepted if each.whole and rows_of(spec, each.sql) == rows]
    return [
        Reading(
            each.number,
            each.statements.release(name),
            sql,
            confidence,
            selected=need_in(spec, each.sql).discovered is not None,
        )
        for each in same
        for name in each.statements.answered
    ]


def together(first: Reading, others: Sequence[Reading]) -> Combined:
    """Return the answer of one release, its counts combined with those of others; see above.

    Error: of a combined count exactly 1 / sqrt(1 / v1 + 1 / v2 + ...), of other numbers that of the first release.

    Raises:
        ValueError: the first release does not answer the statement.
    """
    columns = columns_of_release(first.release, first.sql, joined=True)
    (statement,) = statements(first.sql, columns)
    used = {first.number}

    def ask(place: Place, query: Query) -> Result:
        result = first.count(place)
        if result is None:
            return first.release.answered(query, first.confidence)
        pairs = [(each, each.count(place)) for each in others]
        counts = [(each, count) for each, count in pairs if count is not None]
        used.update(each.number for each, _ in counts)
        tails = {each.release.tail for each in (first, *(each for each, _ in counts))}
        return combined([result, *(count for _, count in counts)], "laplace" if "laplace" in tails else "gaussian")

    table = answered(statement, Schema(columns.attributes), ask, first.confidence)
    if beside := ", ".join(str(number) for number in sorted(used - {first.number})):
        note = f"Counts are together with those of statement {beside}, each weighted by 1 over its variance."
        table = replace(table, notes=(*table.notes, note))
    return Combined(table=table, numbers=tuple(sorted(used)))


def combined(counts: Sequence[Result], tail: Tail) -> Result:
    """Return independent counts of the same rows as one, each weighted by 1 over its variance.

    Error: exact; never more than that of any of them.

    >>> counts = [Result.of_count("total", value, 50.0, 16.0, 0.95) for value in (90.0, 110.0)]
    >>> both = combined(counts, "laplace")
    >>> both.value, both.standard_error, both.interval
    (100.0, 5.0, (88.0, 112.0))
    """
    if len(counts) == 1:
        return counts[0]
    weights = [1 / count.standard_error**2 for count in counts]
    variance = 1 / math.fsum(weights)
    value = variance * math.fsum(weight * count.value for weight, count in zip(weights, counts, strict=True))
    first, half = counts[0], half_width(variance, counts[0].confidence, tail)
    return replace(first, value=value, standard_error=math.sqrt(variance), interval=(value - half, value + half))


def for_nothing(readings: Sequence[Reading]) -> Combined | None:
    """Return the answer that errs least of those that releases give already; None where none answers."""
    answers: list[tuple[float, Combined]] = []
    for reading in readings:
        others = [each for each in readings if each is not reading]
        try:
            answer = together(reading, others)
        except ValueError:  # it has other columns, or coarser cells
            continue
        answers.append((math.inf if answer.error is None else answer.error, answer))
    return min(answers, key=lambda pair: pair[0], default=(0.0, None))[1]
