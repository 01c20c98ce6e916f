"""The query language: `age in 30..40 and sex = Female` -> one weight vector per attribute."""

import math
import re
from dataclasses import dataclass

import numpy as np

from dpress.core.domain import Bounded, Integer, Listed, Ordinal, Schema, Tabular
from dpress.core.linear import Array

OPERATORS = ("!=", "<=", ">=", "=", "<", ">", "in")


@dataclass(frozen=True, slots=True)
class Condition:
    """One attribute, one operator, and the text behind it."""

    attribute: Tabular
    operator: str
    text: str


def parse(schema: Schema, text: str) -> list[Array]:
    """Return the 0/1 weights of a query, one vector of shape (cells,) for every attribute, in the schema's order.

    Conditions are joined by `and`: `= != < <= > >=` with a value, `in a..b` (both ends included), `in (a, b)`. A value
    may be quoted. A listed attribute also takes the names of its hierarchy's groups. `total` asks for all rows.

    Raises:
        ValueError: the text is no query, or asks for part of a cell; the message says what would be right.
    """
    weights = [np.ones(size) for size in schema.shape]
    for condition in _conditions(schema, text):
        axis = schema.names.index(condition.attribute.name)
        weights[axis] = weights[axis] * _weights(condition)
    return weights


def _conditions(schema: Schema, text: str) -> list[Condition]:
    if not isinstance(text, str):
        raise ValueError(f"a query is a string such as `age in 30..40`, got {type(text).__name__}")
    if text.strip().lower() == "total":
        return []
    names = "|".join(re.escape(name) for name in sorted(schema.names, key=len, reverse=True))
    start = rf"(?:{names})\s*(?:!=|<=|>=|=|<|>|\bin\b)"
    parts, begin = [], 0
    for match in re.finditer(rf"""'[^']*'|"[^"]*"|\s+and\s+(?={start})""", text):
        if match[0][0] not in "'\"":  # an `and` within quotes belongs to the value
            parts.append(text[begin : match.start()])
            begin = match.end()
    return [_condition(schema, part.strip(), names) for part in (*parts, text[begin:])]


def _condition(schema: Schema, part: str, names: str) -> Condition:
    match = re.fullmatch(rf"({names})\s*(!=|<=|>=|=|<|>|\bin\b)\s*(.+)", part, re.DOTALL)
    if match is None:
        raise ValueError(
            f"cannot read {part!r}; write e.g. `NAME in 30..40 and NAME = VALUE`, "
            f"with the attributes {', '.join(schema.names)}"
        )
    attribute = next(one for one in schema.tabular if one.name == match[1])
    return Condition(attribute, match[2], match[3].strip())


def _weights(condition: Condition) -> Array:
    attribute, text = condition.attribute, condition.text
    weights = np.zeros(attribute.size)
    if condition.operator in ("=", "!="):
        weights[_cells(attribute, text)] = 1.0
        return 1.0 - weights if condition.operator == "!=" else weights
    if condition.operator == "in" and text.startswith("(") and text.endswith(")"):
        for value in _listed_values(text[1:-1]):
            weights[_cells(attribute, value)] = 1.0
        return weights
    first, last = _range(condition)
    weights[first : last + 1] = 1.0
    return weights


def _listed_values(text: str) -> list[str]:
    values = [match.strip() for match in re.findall(r"""\s*'[^']*'\s*|\s*"[^"]*"\s*|[^,]+""", text) if match.strip()]
    if not values:
        raise ValueError("the list after `in` is empty; write in (a, b)")
    return values


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" else text


def _cells(attribute: Tabular, text: str) -> list[int]:
    """Return the cells that one value names."""
    value = _unquoted(text)
    if isinstance(attribute, Listed):
        if value in attribute.groups:
            return list(attribute.groups[value])
        if value not in attribute.labels:
            raise ValueError(f"{attribute.name} has no value {value!r}; it has {_some(attribute.labels)}")
        return [attribute.labels.index(value)]
    if value in attribute.extra:
        return [attribute.ordered + attribute.extra.index(value)]
    if value in attribute.labels[: attribute.ordered]:
        return [attribute.labels.index(value)]
    first, last = _span(attribute, value, value) if isinstance(attribute, Integer) else (0, -1)
    if first != last:
        raise ValueError(f"{attribute.name} has no cell {value!r}; it has {_some(attribute.labels)}")
    return [first]


def _some(labels: tuple[str, ...]) -> str:
    return ", ".join(labels[:8]) + (f", ... ({len(labels)} in all)" if len(labels) > 8 else "")


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
    if isinstance(attribute, Integer):
        bound = _number(attribute, text) + (strict if up else -strict)
        return _span(attribute, f"{bound:.17g}", None) if up else _span(attribute, None, f"{bound:.17g}")
    if isinstance(attribute, Ordinal) and strict:
        raise ValueError(f"{attribute.name} is a list of values; use <=, >= or in a..b")
    return _span(attribute, text, None) if up else _span(attribute, None, text)


def _span(attribute: Tabular, low: str | None, high: str | None) -> tuple[int, int]:
    """Return the cells from `low` to `high`, which must lie on the borders of cells; None is the end of the axis."""
    if isinstance(attribute, Bounded):
        return _bounded_span(attribute, low, high)
    if attribute.ordered == 0:
        raise ValueError(f"{attribute.name} has no order; use = or in (a, b)")
    first = 0 if low is None else _cells(attribute, low)[0]
    last = attribute.ordered - 1 if high is None else _cells(attribute, high)[-1]
    if not first <= last < attribute.ordered:
        raise ValueError(f"{attribute.name}: {low}..{high} is no range of its ordered values {_some(attribute.labels)}")
    return first, last


def _bounded_span(attribute: Bounded, low: str | None, high: str | None) -> tuple[int, int]:
    edges = np.asarray(attribute.edges, dtype=np.float64)
    step = 1.0 if isinstance(attribute, Integer) else 0.0
    bottom = edges[0] if low is None else max(_number(attribute, low), edges[0])
    top = edges[-1] if high is None else min(_number(attribute, high) + step, edges[-1])
    first, last = np.searchsorted(edges, bottom), np.searchsorted(edges, top)
    if bottom >= top:
        raise ValueError(
            f"{attribute.name}: nothing lies there; it runs from {edges[0]:.10g} to {edges[-1] - step:.10g}"
        )
    if edges[first] != bottom or edges[last] != top:
        outer = edges[np.searchsorted(edges, bottom, side="right") - 1], edges[last]
        raise ValueError(
            f"{attribute.name}: the condition cuts through a cell; the nearest range around it is "
            f"{outer[0]:.10g}..{outer[1] - step:.10g}"
        )
    return int(first), int(last) - 1


def _number(attribute: Tabular, text: str) -> float:
    try:
        number = float(_unquoted(text))
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise ValueError(f"{attribute.name}: expected a number, got {text!r} (join conditions with a small `and`)")
    return number
