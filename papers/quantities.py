"""The quantities of claims: a mean, a ratio, a share of settings, a share of steps; each with rows that have a value.

rows of some runs -> a number; a number -> rows of one run that have it, by which the tests let a claim hold and fail.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Row = dict[str, Any]
Tables = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number that is computed from rows, and rows that have it.

    Args:
        words: what it is.
        table: whose rows it takes.
        where: the rows that it takes, by the values of their columns; a tuple allows several.
        of: from the rows of some runs to the number; ValueError or ZeroDivisionError where they do not give it.
        example: from a number to rows of one run that have it.
    """

    words: str
    table: str
    where: Mapping[str, Any]
    of: Callable[[Sequence[Row]], float]
    example: Callable[[float], list[Row]]


def chosen(rows: Sequence[Row], where: Mapping[str, Any]) -> list[Row]:
    """Return the rows whose columns have these values; a tuple allows several."""
    return [row for row in rows if all(_is(row.get(name), value) for name, value in where.items())]


def _is(value: Any, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, tuple) else bool(value == wanted)


def mean(rows: Sequence[Row], column: str) -> float:
    """Return the mean of a column.

    Raises:
        ValueError: there are no rows.
    """
    if not rows:
        raise ValueError("no rows")
    return float(np.mean([row[column] for row in rows]))


def _average(found: Sequence[bool]) -> float:
    if not found:
        raise ValueError("no settings")
    return sum(found) / len(found)


def settings(rows: Sequence[Row], by: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Return rows by their values of some columns."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in by), []).append(row)
    return found


def level(words: str, column: str, *, table: str = "errors", **where: Any) -> Quantity:
    """Return the mean of a column."""
    return Quantity(
        words=words,
        table=table,
        where=where,
        of=lambda rows: mean(rows, column),
        example=lambda value: [{column: value}],
    )


def ratio(
    of: str,
    to: str,
    column: str,
    *,
    by: Sequence[str] = (),
    name: str = "method",
    table: str = "errors",
    **where: Any,
) -> Quantity:
    """Return how many times a column of one method is that of another: the geometric mean over settings with both.

    Args:
        of: the method above the line.
        to: the method below.
        column: that is compared; its mean over runs.
        by: the columns that tell settings.
        name: the column that tells methods.
        table: of the rows.
        where: more conditions.
    """

    def times(rows: Sequence[Row]) -> float:
        logs = []
        for own in settings(rows, by).values():
            pair = [chosen(own, {name: one}) for one in (of, to)]
            if all(pair):
                logs.append(math.log(mean(pair[0], column) / mean(pair[1], column)))
        if not logs:
            raise ValueError("no setting with both")
        return math.exp(sum(logs) / len(logs))

    def rows(value: float) -> list[Row]:
        place = dict.fromkeys(by, "x")
        place = {one: _first(where.get(one, "x")) for one in place}
        return [place | {name: of, column: value}, place | {name: to, column: 1.0}]

    condition = {**where, name: (of, to)}
    return Quantity(words=f"{column} of {of} over that of {to}", table=table, where=condition, of=times, example=rows)


def share(
    words: str,
    holds: Callable[[Mapping[str, float]], bool],
    column: str,
    *,
    by: Sequence[str],
    yes: Mapping[str, float],
    no: Mapping[str, float],
    name: str = "method",
    table: str = "errors",
    **where: Any,
) -> Quantity:
    """Return the share of settings in which the means of a column by method are as claimed.

    Args:
        words: what it is the share of.
        holds: from the means by method, whether it is so.
        column: that is compared.
        by: the columns that tell settings.
        yes: means by method that are as claimed.
        no: means that are not.
        name: the column that tells methods.
        table: of the rows.
        where: more conditions.
    """
    methods = tuple(yes)

    def part(rows: Sequence[Row]) -> float:
        found = []
        for own in settings(rows, by).values():
            each = {one: chosen(own, {name: one}) for one in methods}
            if all(each.values()):
                found.append(holds({one: mean(own_rows, column) for one, own_rows in each.items()}))
        return _average(found)

    def rows(value: float) -> list[Row]:
        number = 100
        place = {one: _first(where.get(one, "x")) for one in by}
        free = [one for one in by if one not in where]
        if not free and value not in (0, 1):
            raise ValueError("settings cannot be told: every column is fixed")
        out = []
        for one in range(number if free else 1):
            means = yes if one < round(value * number) else no
            own = place | ({free[0]: one} if free else {})
            out += [own | {name: method, column: figure} for method, figure in means.items()]
        return out

    return Quantity(words=words, table=table, where={**where, name: methods}, of=part, example=rows)


def steps(
    words: str,
    column: str,
    along: str,
    *,
    sign: int,
    by: Sequence[str],
    tolerance: float = 0.0,
    table: str = "errors",
    **where: Any,
) -> Quantity:
    """Return the share of steps along an axis, all else equal, in which a column goes the way that is claimed.

    Args:
        words: what it is the share of.
        column: that rises or falls.
        along: the axis, whose values are numbers.
        sign: 1 where it should rise, -1 where it should fall.
        by: the columns that tell lines.
        tolerance: of the column, relative: what counts as no step back.
        table: of the rows.
        where: more conditions.
    """

    def part(rows: Sequence[Row]) -> float:
        found = []
        for own in settings(rows, by).values():
            line = sorted((float(at[0]), mean(same, column)) for at, same in settings(own, (along,)).items())
            found += [sign * (b - a) >= -tolerance * abs(a) for (_, a), (_, b) in itertools.pairwise(line)]
        return _average(found)

    def rows(value: float) -> list[Row]:
        place = {one: _first(where.get(one, "x")) for one in by}
        height, out = 100.0, []
        for at in range(101):
            out.append(place | {along: at, column: height})
            height *= 1 + (0.5 if at < round(100 * value) else -0.3) * sign
        return out

    return Quantity(words=words, table=table, where=where, of=part, example=rows)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) else value
