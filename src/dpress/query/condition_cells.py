"""Which cells of an attribute a test of a condition names; what they are is the attribute's to say.

`query_tree.Condition` of one attribute -> runs of its cells, a range of them, or an interval of numbers.
"""

import math
import re
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.by_edges import ByEdges
from dpress.attributes.domain import Schema
from dpress.core.basics.near import MOST, meant
from dpress.core.maps.runs import Runs, complement, of_codes
from dpress.query.condition_grammar import no_attribute
from dpress.query.query_tree import Condition
from dpress.query.query_words import IN_QUOTES, OPERATOR, QUOTED, beginning, hint_for, unquoted, without_values

OR = re.compile(r"\s+or\s+", re.IGNORECASE)
STRAY = re.compile(rf"""\b(?:and|or)\s+({QUOTED}|[^'"<>=!(),]+?)\s*{OPERATOR}""")  # a condition left within a value
NO_OPERATORS = {"==": "=", "=>": ">=", "=<": "<=", "<>": "!=", "=!": "!="}
RANGE = re.compile(r"([^\s'\"]+?)\s*(?:\.{2,3}|\bto\b|\u2013)\s*([^\s'\".]+(?:\.\d+)?)")  # behind =, where none is read
SPAN = re.compile(r"(\d+)\s*[-:]\s*(\d+)")  # the same of numbers
CAPITALS = re.compile(r"\sAND\s|&|\|\|")
BY = re.compile(r"\s+by\s+(\S+)$")
T = TypeVar("T")


def runs_of(schema: Schema, test: Condition) -> Runs:
    """Return the cells that a test names.

    Raises:
        ValueError: it names none, or part of a cell; the message says what would be right.
    """
    return _read(schema, test, cells_of)


def cells_of(column: Tabular, test: Condition) -> Runs:
    """Return the cells of an attribute that a test of it names; see `runs_of`."""
    return _at_level(column, test, _runs)


def range_of(schema: Schema, test: Condition) -> tuple[int, int]:
    """Return the first and the last cell of a test that asks for neighbouring cells.

    Raises:
        ValueError: as `runs_of`, or it asks for others.
    """
    return _read(schema, test, lambda column, test: _at_level(column, test, _contiguous)[0])


def interval_of(schema: Schema, test: Condition) -> tuple[float, float]:
    """Return the ends of a range of numbers; whether they are included makes no difference to an area.

    Raises:
        ValueError: it asks for no range of numbers.
    """
    return _read(schema, test, _interval)


def _at_level(column: Tabular, test: Condition, how: Callable[[Tabular, Condition], Runs]) -> Runs:
    """Return the cells that a test of a level of a column names, or of the column's own cells."""
    if not test.level:
        return how(column, test)
    return column.widened(test.level, how(column.coarsened(test.level), test))


def _read(schema: Schema, test: Condition, how: Callable[[Tabular, Condition], T]) -> T:
    """Read a test; where its value cannot be read, say what the text was meant as."""
    column = next(column for column in schema.tabular if column.name == test.attribute)
    try:
        return how(column, test)
    except ValueError:
        if hint := stray(schema, test, number=column.numbers is not None):
            raise ValueError(hint) from None
        raise


def stray(schema: Schema, test: Condition, *, number: bool = False) -> str:
    """Return why a test's text is no value, of a number or another attribute; empty where it is nothing but a value."""
    name, text = test.level or test.attribute, test.written
    if operator := NO_OPERATORS.get(test.word + text[:1]):
        return f"`{test.word}{text[0]}` is no operator; did you mean `{name} {operator} {text[1:].strip()}`?"
    ends = RANGE.fullmatch(text) or (SPAN.fullmatch(text) if number else None)
    if ends and (test.word != "between" or "..." in text):
        return f"cannot read {text!r} behind {name}; a range is `{name} in {ends[1]}..{ends[2]}`"
    if stray := STRAY.search(without_values(text)):
        return no_attribute(schema.words, unquoted(stray[1]))
    return _several(schema, name, text)


def _several(schema: Schema, name: str, text: str) -> str:
    """Return how conditions are joined, or grouped by, that stand in a value's place; empty where none do."""
    bare, unread = IN_QUOTES.sub("", text), f"cannot read {text!r} behind {name}"
    if CAPITALS.search(bare):
        return f"{unread}; conditions are joined by `and` and `or`, in small letters"
    if (by := BY.search(bare)) and unquoted(by[1]) in schema.words:
        return f"{unread}; groups are `count by {by[1]} where {name} = {text[: by.start()]}`"
    if OR.search(bare):
        values = [re.sub(rf"^{re.escape(name)}\s*==?\s*", "", value) for value in OR.split(text)]
        return f"`or` stands between conditions; did you mean `{name} in ({', '.join(values)})`?"
    if not hint_for(text) and re.search(rf"\s{beginning(schema.words)}", bare):
        return f"{unread}; conditions are joined by `and` and `or`"
    return ""


def _interval(column: Tabular, test: Condition) -> tuple[float, float]:
    if test.word == "between":
        low, high = (_named(column, value)[0] for value in test.values)
        if low > high:
            raise ValueError(_reversed(column, *test.values))
        return low, high
    if test.word[0] not in "<>":
        raise ValueError(f"{column.name} {test.word} ...: write a range such as `in a..b`")
    number = _named(column, test.values[0])[0]
    return (number, math.inf) if test.word[0] == ">" else (-math.inf, number)


def _contiguous(column: Tabular, test: Condition) -> Runs:
    if test.word in ("!=", "in"):
        raise ValueError(f"{column.name} {test.word} ...: write a range such as `in a..b`")
    if test.word not in ("=", "missing"):
        return (_range(column, test),)
    cells = _cells(column, test.values[0]) if test.values else [_missing(column)]
    if len(cells) != cells[-1] - cells[0] + 1:
        raise ValueError(f"{column.name} = {test.written}: these cells are no range")
    return ((cells[0], cells[-1]),)


def _runs(column: Tabular, test: Condition) -> Runs:
    if test.word == "missing":
        return of_codes([_missing(column)])
    if test.word not in ("=", "!=", "in"):
        return (_range(column, test),)
    cells = of_codes([cell for value in test.values for cell in _cells(column, value)])
    return complement(cells, column.size) if test.word == "!=" else cells


def _missing(column: Tabular) -> int:
    """Return the cell that missing values have to themselves."""
    if column.missing_cell is None:
        raise ValueError(f"{column.name} has no cell for missing values; `null` of a specification names it")
    return column.missing_cell


def _cells(attribute: Tabular, value: str) -> list[int]:
    """Return the cells that one value names."""
    if (named := attribute.cells_named(value)) is not None:
        return [*named]
    if attribute.listing is not None:
        if value in attribute.groups:
            return list(attribute.groups[value])
        if (code := attribute.code(value)) is None:
            labels = attribute.labels_between(0, min(attribute.size, MOST))
            hint = meant(value, [*labels, *(attribute.captions if attribute.labelled else ())]) or hint_for(
                value or "missing"
            )
            raise ValueError(f"{attribute.name} has no value {value!r}; it has {_some(attribute)}{hint}")
        return [code]
    if (code := attribute.code(value)) is not None:
        return [code]
    if not attribute.whole:
        raise ValueError(f"{attribute.name} has no cell {value!r}; it has {_some(attribute)}")
    first, last = _span(attribute, value, value)
    return [*range(first, last + 1)]


def _some(attribute: Tabular) -> str:
    names = attribute.labels_between(0, min(8, attribute.size))
    if attribute.labelled:
        pairs = zip(names, attribute.captions, strict=False)
        names = [name if label == name else f"{name} ({label})" for name, label in pairs]
    labels = ", ".join(names)
    return labels + (f", ... ({attribute.size} in all)" if attribute.size > 8 else "")


def _range(attribute: Tabular, test: Condition) -> tuple[int, int]:
    """Return the first and the last cell of a range condition."""
    if test.word == "between":
        return _span(attribute, *test.values)
    text = test.values[0]
    up = test.word.startswith(">")
    strict = test.word in ("<", ">")
    if (scale := attribute.scale) is not None:
        first, end = _named(attribute, text)
        if up:
            return _bounded_span(scale, end if strict else first, None)
        return _bounded_span(scale, None, first if strict else end)
    if attribute.ordered and strict:
        raise ValueError(f"{attribute.name} is a list of values; use <=, >= or in a..b")
    return _span(attribute, text, None) if up else _span(attribute, None, text)


def _span(attribute: Tabular, low: str | None, high: str | None) -> tuple[int, int]:
    """Return the cells from `low` to `high`, which must lie on the borders of cells; None is the end of the axis."""
    if (scale := attribute.scale) is not None:
        bottom = None if low is None else _named(attribute, low)[0]
        top = None if high is None else _named(attribute, high)[1]
        if low is not None and high is not None and _named(attribute, low)[0] > _named(attribute, high)[0]:
            raise ValueError(_reversed(attribute, low, high))
        return _bounded_span(scale, bottom, top)
    if attribute.ordered == 0:
        raise ValueError(f"{attribute.name} has no order; use = or in (a, b)")
    first = 0 if low is None else _cells(attribute, low)[0]
    last = attribute.ordered - 1 if high is None else _cells(attribute, high)[-1]
    if low is not None and high is not None and last < first < attribute.ordered:
        raise ValueError(_reversed(attribute, low, high))
    if not first <= last < attribute.ordered:
        raise ValueError(f"{attribute.name}: {low}..{high} is no range of its ordered values {_some(attribute)}")
    return first, last


def _bounded_span(attribute: ByEdges, bottom: float | None, top: float | None) -> tuple[int, int]:
    """Return the cells between two edges; None is the end of the axis."""
    least, most = attribute.ends
    bottom = least if bottom is None else max(bottom, least)
    top = most if top is None else min(top, most)
    if bottom >= top:
        lowest, highest = attribute.inclusive(least, most)
        raise ValueError(f"{attribute.name}: nothing lies there; it runs from {lowest} to {highest}")
    first, last = attribute.edge_below(np.array([bottom, top])).tolist()
    under, over = attribute.edges_at(np.array([first, last])).tolist()
    if (under, over) != (bottom, top):
        if over != top:
            over = attribute.edges_at(np.array([last + 1])).tolist()[0]
        nearest = "..".join(attribute.inclusive(under, over))
        raise ValueError(
            f"{attribute.name}: the condition cuts through a cell; the nearest range around it is {nearest}"
        )
    return first, last - 1


def _reversed(attribute: Tabular, low: str, high: str) -> str:
    return f"{attribute.name}: the ends of {low}..{high} are reversed; write {high}..{low}"


def _named(attribute: Tabular, text: str) -> tuple[float, float]:
    """Return the first number that a text stands for, and the end of what it stands for."""
    scale = attribute.scale
    if not text:
        raise ValueError(f"{attribute.name}: an end of the range is missing; write both, as in 30..40")
    wanted = "a number" if scale is None else scale.expected
    try:
        if scale is not None:
            return scale.named(text)
    except ValueError:
        pass
    raise ValueError(f"{attribute.name}: expected {wanted}, got {text!r}{hint_for(text)}")
