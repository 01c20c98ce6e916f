"""Queries as small trees: what a text asks for, whoever reads it and whoever answers it; `grammar` makes them of texts.

Texts of values stay texts: which cells they name is the attribute's to say (`condition_cells`).
"""

import functools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

Word = Literal["total", "and", "or", "not", "=", "!=", "<", "<=", ">", ">=", "in", "between", "missing"]
Of = Literal[
    "count", "mean", "sum", "quantile", "share", "ratio", "difference", "circular mean", "resultant length",
    "variance", "distinct", "persons", "total", "total per person", "set size", "relation", "contrast", "quotient",
]  # fmt: skip
PLAIN = re.compile(r"[\w+-]+(?:\.[\w+-]+)*")  # a value that needs no quotes
NAME = re.compile(r"\w+(?: \w+)*")
RESERVED = {"and", "or", "not", "total", "where", "by", "in", "is", "between", "missing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Which rows: a test of one attribute, or others joined.

    Args:
        word: the operator; `total` holds of every row, `and`, `or` and `not` join `parts`.
        attribute: of a test.
        values: of a test: both ends of `between`, those of `in` one after the other, none of `missing`; as texts.
        parts: what is joined.
        level: of a test, of the tree of its attribute, whose nodes the values are; empty for the attribute's cells.
        written: what stood behind the operator, for messages.
    """

    word: Word
    attribute: str = ""
    values: tuple[str, ...] = ()
    parts: tuple["Condition", ...] = ()
    level: str = ""
    written: str = field(default="", compare=False, repr=False)

    @property
    def tests(self) -> Iterator["Condition"]:
        """The tests of attributes in it, from left to right."""
        if self.attribute:
            yield self
        for part in self.parts:
            yield from part.tests

    @property
    def text(self) -> str:
        """A text that reads as this."""
        if self.word in ("and", "or"):
            return f" {self.word} ".join(_operand(part, self.word) for part in self.parts)
        if self.word == "not":
            return f"not {_operand(self.parts[0], 'not')}"
        return _test(self) if self.attribute else "total"


TOTAL = Condition(word="total")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked of a release.

    Args:
        of: which statistic.
        attribute: whose mean, sum, quantile and the like; of a relation its text.
        level: of a quantile, strictly between 0 and 1.
        first: what is counted, the part of a share, the numerator of a ratio, or what is subtracted from.
        second: the denominator of a ratio, or what is subtracted.
        where: the rows that it is about; None for all.
        by: attributes, for each of whose values it is asked.
        sides: of a contrast, two queries of one statistic, of which the second is subtracted from the first; of a
            quotient two sums, of which the first is divided by the second.
    """

    of: Of
    attribute: str = ""
    level: float = 0.5
    first: Condition = TOTAL
    second: Condition = TOTAL
    where: Condition | None = None
    by: tuple[str, ...] = ()
    sides: tuple["Query", ...] = ()

    @property
    def rows(self) -> tuple[Condition, ...]:
        """The rows that it is about; of a share, a ratio or a difference those of both counts."""
        if self.sides:
            return tuple(rows for side in self.scoped_sides for rows in side.rows)
        seconds = {"share": (TOTAL,), "ratio": (self.second,), "difference": (self.second,)}.get(self.of, ())
        return tuple(both(rows, self.where) for rows in (self.first, *seconds))

    @property
    def scoped_sides(self) -> tuple["Query", ...]:
        """The sides of a contrast or a quotient, each of the rows that both conditions name."""
        rows = (both(side.where or TOTAL, self.where) for side in self.sides)
        return tuple(
            replace(side, where=None if where == TOTAL else where) for side, where in zip(self.sides, rows, strict=True)
        )

    @property
    def text(self) -> str:
        """A text that reads as this."""
        if self.of == "contrast":
            groups = f" by {', '.join(map(named, self.by))}" if self.by else ""
            return " - ".join(side.text for side in self.scoped_sides) + groups
        scope = f" where {self.where.text}" if self.where is not None else ""
        scope += f" by {', '.join(map(named, self.by))}" if self.by else ""
        return _head(self, bare=not scope) + scope


def both(first: Condition, second: Condition | None) -> Condition:
    """Return the rows of which two conditions hold."""
    if second is None or second == TOTAL:
        return first
    return second if first == TOTAL else Condition(word="and", parts=(*_parts(second), *_parts(first)))


def parted(condition: Condition | None, names: Collection[str]) -> tuple[Condition | None, Condition | None]:
    """Return what a condition asks of some attributes alone, and the rest of it; None for nothing.

    >>> where = Condition(word="=", attribute="region", values=("north",))
    >>> parted(both(where, Condition(word="=", attribute="sex", values=("f",))), ["region"])[1].text
    'sex = f'
    """
    sides: tuple[list[Condition], list[Condition]] = [], []
    for part in () if condition is None else _parts(condition):
        sides[not {test.attribute for test in part.tests} <= {*names}].append(part)
    some, rest = (functools.reduce(both, side, TOTAL) for side in sides)
    return (None if some == TOTAL else some), (None if rest == TOTAL else rest)


def named(name: str) -> str:
    """Return an attribute as it stands in a query."""
    plain = NAME.fullmatch(name) and not RESERVED & set(name.split())
    return name if plain or {"'", '"'} <= set(name) else _quoted(name)


def valued(value: str) -> str:
    """Return a value as it stands in a query."""
    return value if PLAIN.fullmatch(value) and value not in RESERVED else _quoted(value)


def _quoted(text: str) -> str:
    return f'"{text}"' if "'" in text else f"'{text}'"


def _parts(condition: Condition) -> tuple[Condition, ...]:
    return condition.parts if condition.word == "and" else (condition,)


def _operand(part: Condition, word: str) -> str:
    """Return a part in parentheses, unless it binds closer than the word that joins it."""
    closer = {"or": ("or",), "and": ("and", "or"), "not": ("and", "or", "not")}[word]
    return f"({part.text})" if part.word in closer else part.text


def _test(test: Condition) -> str:
    name, values = named(test.level or test.attribute), [*map(valued, test.values)]
    if test.word == "missing":
        return f"{name} is missing"
    if test.word == "between":
        return f"{name} in {values[0]}..{values[1]}"
    return f"{name} in ({', '.join(values)})" if test.word == "in" else f"{name} {test.word} {values[0]}"


def _head(query: Query, *, bare: bool) -> str:
    """Return what stands before `where` and `by`; where neither follows, a count needs no word."""
    first, second, name = query.first.text, query.second.text, named(query.attribute)
    if query.of == "count":
        return first if bare else "count" if query.first == TOTAL else f"count {first}"
    if query.of == "quantile":
        return f"median {name}" if query.level == 0.5 else f"quantile {query.level!r} of {name}"
    if query.of == "relation":
        return query.attribute
    if query.of == "total per person":
        return f"total {name} per person"
    pairs = {"share": f"share {first}", "ratio": f"ratio {first} / {second}"}
    pairs["quotient"] = f"ratio {' / '.join(side.text for side in query.sides)}"
    pairs["difference"] = f"count {first} - count {second}"
    return pairs.get(query.of, f"{query.of} {name}" if query.attribute else query.of)
