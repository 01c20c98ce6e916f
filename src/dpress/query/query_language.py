"""The query language: `age in 30..40 and sex = Female` -> one weight vector per attribute."""

import contextlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.by_edges import ByEdges
from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical, Ordinal
from dpress.core.basics.near import MOST, meant
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Range
from dpress.core.maps.runs import Runs, common, complement, of_codes
from dpress.query.query_words import (
    IN_QUOTES,
    MIRRORED,
    OPERATOR,
    QUOTED,
    START,
    any_name,
    beginning,
    unquoted,
    without_values,
)

OR = re.compile(r"\s+or\s+", re.IGNORECASE)
STRAY = re.compile(rf"""\band\s+({QUOTED}|[^'"<>=!(),]+?)\s*{OPERATOR}""")  # a condition left within a value


@dataclass(frozen=True, slots=True)
class Condition:
    """One attribute, one operator, and the text behind it."""

    attribute: Tabular
    operator: str
    text: str


def parse(schema: Schema, text: str) -> list[Array]:
    """Return the 0/1 weights of a query, one vector of shape (cells,) for every attribute, in the schema's order.

    Conditions are joined by `and`: `= != < <= > >=` with a value, `in a..b` (both ends included), `in (a, b)`. A value
    or an attribute may be quoted; a quoted value may stand first. A listed attribute also takes its labels and the
    names of its hierarchy's groups. `total` asks for all rows.

    Raises:
        ValueError: the text is no query, or asks for part of a cell; the message says what would be right.
    """
    cells = cells_of(schema, text)
    return [_weights(cells[axis], size) if axis in cells else np.ones(size) for axis, size in enumerate(schema.shape)]


def cells_of(schema: Schema, text: str) -> dict[int, Runs]:
    """Return by axis which cells a query asks for, of the axes that it has conditions on; no cell may be left.

    Raises:
        ValueError: see `parse`.
    """
    found: dict[int, Runs] = {}
    for condition in _conditions(schema, text):
        axis = schema.names.index(condition.attribute.name)
        with _no_stray(schema, condition):
            cells = _runs(condition)
        found[axis] = common(found[axis], cells) if axis in found else cells
    return found


def _weights(cells: Runs, size: int) -> Array:
    weights = np.zeros(size)
    for first, last in cells:
        weights[first : last + 1] = 1.0
    return weights


def parse_box(schema: Schema, text: str) -> tuple[Range, ...]:
    """Return the range of cells that a query asks for on every axis; nothing as long as an axis is formed.

    Raises:
        ValueError: the text is no query, or does not ask for one range of each attribute.
    """
    first = dict.fromkeys(schema.names, 0)
    last = dict(zip(schema.names, (size - 1 for size in schema.shape), strict=True))
    for condition in _conditions(schema, text):
        name = condition.attribute.name
        with _no_stray(schema, condition):
            low, high = _one_range(condition)
        first[name], last[name] = max(first[name], low), min(last[name], high)
        if first[name] > last[name]:
            raise ValueError(f"{text!r} asks for no cell of {name}; its conditions exclude each other")
    return tuple(Range(first[name] + 1, last[name] + 1) for name in schema.names)


def parse_rectangle(schema: Schema, text: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the range that a query asks for of each of two numeric columns, infinite where it says nothing.

    Raises:
        ValueError: the text is no query, a range is reversed, or it asks for nothing within the columns' bounds.
    """
    found = dict.fromkeys(schema.names, (-math.inf, math.inf))
    for condition in _conditions(schema, text):
        name = condition.attribute.name
        with _no_stray(schema, condition):
            low, high = _interval(condition)
        found[name] = max(found[name][0], low), min(found[name][1], high)
    for attribute in schema.tabular:
        low, high = found[attribute.name]
        if low >= high:
            raise ValueError(f"{attribute.name}: {low:.10g}..{high:.10g} has no length, and so no area")
        least, most = map(float, attribute.ends) if isinstance(attribute, ByEdges) else (low, high)
        if not max(low, least) < min(high, most):
            raise ValueError(f"{attribute.name}: nothing lies there; it runs from {least:.10g} to {most:.10g}")
    across, up = (found[name] for name in schema.names)
    return across, up


def _interval(condition: Condition) -> tuple[float, float]:
    """Return the ends of a range of numbers; whether they are included makes no difference to an area."""
    attribute, text, operator = condition.attribute, condition.text, condition.operator
    if operator == "in" and not text.startswith("("):
        low, dots, high = text.partition("..")
        if not dots:
            raise ValueError(f"cannot read {text!r} after `in`; write a..b")
        ends = _named(attribute, low.strip())[0], _named(attribute, high.strip())[0]
        if ends[0] > ends[1]:
            raise ValueError(_reversed(attribute, low.strip(), high.strip()))
        return ends
    if operator[0] not in "<>":
        raise ValueError(f"{attribute.name} {operator} ...: write a range such as `in a..b`")
    number = _named(attribute, text)[0]
    return (number, math.inf) if operator[0] == ">" else (-math.inf, number)


@contextlib.contextmanager
def _no_stray(schema: Schema, condition: Condition) -> Iterator[None]:
    """Where a value cannot be read, say what its text was meant as: another operator, or a second condition."""
    try:
        yield
    except ValueError:
        if found := _stray(schema, condition):
            raise ValueError(found) from None
        raise


def _stray(schema: Schema, condition: Condition) -> str:
    """Return why a condition's text is no value; empty where it holds nothing but a value."""
    name, operator, text = condition.attribute.name, condition.operator, condition.text
    if operator == "=" and text.startswith("="):
        return f"`==` is no operator; did you mean `{name} = {text[1:].strip()}`?"
    if OR.search(IN_QUOTES.sub("", text)):
        return f"`or` joins no conditions; did you mean {_either(schema, condition)}?"
    if stray := STRAY.search(without_values(text)):
        return no_attribute(schema, unquoted(stray[1]))
    return ""


def _either(schema: Schema, condition: Condition) -> str:
    """Return the right form of `a or b`: a list of values where all are about one attribute."""
    name = condition.attribute.name
    first, *others = OR.split(condition.text)
    values = [first, *(re.sub(rf"^{re.escape(name)}\s*==?\s*", "", one) for one in others)]
    about = [other for other in schema.names if any(re.match(rf"{re.escape(other)}\s*[=<>!]", one) for one in values)]
    if condition.operator == "=" and not about:
        return f"`{name} in ({', '.join(values)})`"
    return f"`{name} in (a, b)`, or two queries"


def no_attribute(schema: Schema, name: str) -> str:
    """Return that there is no attribute of that name, and what was probably meant."""
    return f"there is no attribute {name!r}; the attributes are {', '.join(schema.names)}{meant(name, schema.names)}"


def _one_range(condition: Condition) -> tuple[int, int]:
    """Return the first and the last cell of a condition that asks for neighbouring cells."""
    if condition.operator == "!=" or (condition.operator == "in" and condition.text.startswith("(")):
        raise ValueError(f"{condition.attribute.name} {condition.operator} ...: write a range such as `in a..b`")
    if condition.operator != "=":
        return _range(condition)
    cells = _cells(condition.attribute, condition.text)
    if len(cells) != cells[-1] - cells[0] + 1:
        raise ValueError(f"{condition.attribute.name} = {condition.text}: these cells are no range")
    return cells[0], cells[-1]


def _conditions(schema: Schema, text: str) -> list[Condition]:
    if not isinstance(text, str):
        raise ValueError(f"a query is a string such as `age in 30..40`, got {type(text).__name__}")
    if text.strip().lower() == "total":
        return []
    start, parts, begin = beginning(schema.names), [], 0
    for match in re.finditer(rf"{QUOTED}|\s+and\s+(?={start})", text):
        if match[0][0] not in "'\"":  # an `and` within quotes belongs to the value
            parts.append(text[begin : match.start()])
            begin = match.end()
    return [_condition(schema, part.strip()) for part in (*parts, text[begin:])]


def _condition(schema: Schema, part: str) -> Condition:
    name = any_name(schema.names)
    if match := re.fullmatch(rf"({name})\s*({OPERATOR})\s*(.+)", part, re.DOTALL):
        written, operator, value = match[1], match[2], match[3].strip()
    elif match := re.fullmatch(rf"({QUOTED})\s*({OPERATOR})\s*({name})", part, re.DOTALL):
        value, operator, written = match[1], MIRRORED.get(match[2], ""), match[3]
    if match is None or not operator:
        raise ValueError(_unread(schema, part))
    plain = written if written in schema.names else unquoted(written)
    return Condition(next(one for one in schema.tabular if one.name == plain), operator, value)


def _unread(schema: Schema, part: str) -> str:
    """Return why a part of a query is no condition, and what it was probably meant as."""
    left = re.match(rf"(.+?)\s*({START})\s*(.*)", part, re.DOTALL)
    name = unquoted((part if left is None else left[1]).strip())
    if left is None and name in schema.names:
        return f"cannot read {part!r}; write e.g. `{name} = VALUE`, and the whole query in quotes in a shell"
    if re.match(r"where\b", part, re.IGNORECASE):
        return f"cannot read {part!r}; leave out `{part[:5]}`: a query is a condition alone"
    known = ", ".join(schema.names)
    wanted = f"write e.g. `NAME in 30..40 and NAME = VALUE`, with the attributes {known}"
    return f"cannot read {part!r}; {wanted}{meant(name, schema.names)}"


def _runs(condition: Condition) -> Runs:
    """Return the cells of a condition."""
    attribute, text = condition.attribute, condition.text
    if condition.operator in ("=", "!="):
        cells = of_codes(_cells(attribute, text))
        return complement(cells, attribute.size) if condition.operator == "!=" else cells
    if condition.operator == "in" and text.startswith("(") and text.endswith(")"):
        return of_codes([cell for value in _listed_values(text[1:-1]) for cell in _cells(attribute, value)])
    return (_range(condition),)


def _listed_values(text: str) -> list[str]:
    values = [match.strip() for match in re.findall(r"""\s*'[^']*'\s*|\s*"[^"]*"\s*|[^,]+""", text) if match.strip()]
    if not values:
        raise ValueError("the list after `in` is empty; write in (a, b)")
    return values


def _cells(attribute: Tabular, text: str) -> list[int]:
    """Return the cells that one value names."""
    value = unquoted(text)
    if isinstance(attribute, Categorical):
        if value in attribute.groups:
            return list(attribute.groups[value])
        if (code := attribute.code(value)) is None:
            hint = meant(value, attribute.labels_between(0, min(attribute.size, MOST)))
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
    if isinstance(attribute, Categorical):
        pairs = zip(names, attribute.captions, strict=False)
        names = [name if label == name else f"{name} ({label})" for name, label in pairs]
    labels = ", ".join(names)
    return labels + (f", ... ({attribute.size} in all)" if attribute.size > 8 else "")


def _range(condition: Condition) -> tuple[int, int]:
    """Return the first and the last cell of a range condition."""
    attribute, text = condition.attribute, condition.text
    if condition.operator == "in":
        low, dots, high = text.partition("..")
        if not dots:
            raise ValueError(f"cannot read {text!r} after `in`; write a..b or (a, b, c)")
        return _span(attribute, low.strip(), high.strip())
    up = condition.operator.startswith(">")
    strict = condition.operator in ("<", ">")
    if isinstance(attribute, ByEdges):
        first, end = _named(attribute, text)
        if up:
            return _bounded_span(attribute, end if strict else first, None)
        return _bounded_span(attribute, None, first if strict else end)
    if isinstance(attribute, Ordinal) and strict:
        raise ValueError(f"{attribute.name} is a list of values; use <=, >= or in a..b")
    return _span(attribute, text, None) if up else _span(attribute, None, text)


def _span(attribute: Tabular, low: str | None, high: str | None) -> tuple[int, int]:
    """Return the cells from `low` to `high`, which must lie on the borders of cells; None is the end of the axis."""
    if isinstance(attribute, ByEdges):
        bottom = None if low is None else _named(attribute, low)[0]
        top = None if high is None else _named(attribute, high)[1]
        if low is not None and high is not None and _named(attribute, low)[0] > _named(attribute, high)[0]:
            raise ValueError(_reversed(attribute, low, high))
        return _bounded_span(attribute, bottom, top)
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
    wanted = attribute.expected if isinstance(attribute, ByEdges) else "a number"
    try:
        if isinstance(attribute, ByEdges):
            return attribute.named(unquoted(text))
    except ValueError:
        pass
    raise ValueError(f"{attribute.name}: expected {wanted}, got {text!r} (join conditions with a small `and`)")
