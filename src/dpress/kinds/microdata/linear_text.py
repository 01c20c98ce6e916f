"""Equations and inequalities of numeric attributes as texts: `years_worked <= age - 16`, `total = rooms + 2`.

text -> terms of both sides -> integer coefficients of a sum that is compared with 0.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.mechanisms.microdata.record_rules import Linear

SIDES = re.compile(r"(<=|>=|!=|<|>|=)")
NUMBER = r"\d+(?:\.\d+)?"
SIGN = re.compile(r"\s*([+-])\s*")
OPPOSITE = {"<=": ">", ">=": "<", "<": ">=", ">": "<=", "=": "!=", "!=": "="}
_ENDS = {"<=": (1, 0), "<": (1, 1), ">=": (-1, 0), ">": (-1, 1), "=": (1, 0), "!=": (1, 0)}
"""By what the sum of the left side less the right is multiplied, and what is then added, to compare whole numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """A sum of attributes, each times a number, and a number.

    Args:
        factors: by attribute.
        number: that is added.
        lone: the attribute that it is alone; empty for any other sum.
    """

    factors: dict[str, Fraction]
    number: Fraction
    lone: str


def linear(schema: Schema, text: str, *, negated: bool = False) -> Linear | None:
    """Return what a text says of several numbers; None where it is a condition of something else.

    Args:
        schema: of the attributes.
        text: two sums with =, !=, <, <=, > or >= between them.
        negated: whether the opposite holds.

    Raises:
        ValueError: an attribute has cells of several numbers, or both sides are the same.
    """
    parts = SIDES.split(text)
    columns = {column.name: column for column in schema.tabular if column.numbers is not None}
    if len(parts) != 3:
        return None
    left, right = (_sum(part, sorted(columns, key=len, reverse=True)) for part in (parts[0], parts[2]))
    if left is None or right is None or len({*left.factors, *right.factors}) < 2:
        return None
    factors = {
        name: left.factors.get(name, Fraction(0)) - right.factors.get(name, Fraction(0)) for name in schema.names
    }
    about = [name for name, factor in factors.items() if factor]
    for name in about:
        _check_integers(columns[name])
    if len(about) < 2:
        raise ValueError(f"{text!r} is about fewer than two numbers once both sides are taken together")
    word = OPPOSITE[parts[1]] if negated else parts[1]
    solved = next((side.lone for side in (left, right) if side.lone and abs(factors[side.lone]) == 1), "")
    return _whole(schema, factors, left.number - right.number, word, solved if word == "=" else "")


def _whole(schema: Schema, factors: dict[str, Fraction], number: Fraction, word: str, solved: str) -> Linear:
    """Return a rule with whole numbers."""
    names = [name for name in schema.names if factors[name]]
    places, columns = [schema.names.index(name) for name in names], {column.name: column for column in schema.tabular}
    scale = math.lcm(number.denominator, *(factors[name].denominator for name in names))
    sign, more = _ENDS[word]
    kept: Literal["=", "!=", "<="] = "=" if word == "=" else "!=" if word == "!=" else "<="
    return Linear(
        about=tuple(places),
        coefficients=tuple(int(sign * scale * factors[name]) for name in names),
        lows=tuple(_low(columns[name]) for name in names),
        sizes=tuple(columns[name].size for name in names),
        offset=int(sign * scale * number) + more,
        word=kept,
        solved=schema.names.index(solved) if solved else None,
    )


def _check_integers(column: Tabular) -> None:
    if not column.unbinned:
        raise ValueError(
            f"{column.name} has cells of several numbers; what is said of several numbers at once needs "
            '`kind = "integer"` without `bins`, a cell for every integer'
        )


def _low(column: Tabular) -> int:
    scale = column.scale
    return 0 if scale is None else int(scale.ends[0])


def _sum(text: str, names: Sequence[str]) -> Sum | None:
    """Return a side as a sum; None where it is none."""
    if not names:
        return None
    name = "|".join(map(re.escape, names))
    term = re.compile(rf"\s*(?:({NUMBER})\s*\*?\s*({name})|({name})\s*\*\s*({NUMBER})|({name})|({NUMBER}))(?!\w)")
    factors, number, at, sign = dict[str, Fraction](), Fraction(0), 0, 1
    if first := SIGN.match(text):
        at, sign = first.end(), -1 if first[1] == "-" else 1
    while match := term.match(text, at):
        attribute = match[2] or match[3] or match[5]
        value = sign * Fraction(match[1] or match[4] or match[6] or 1)
        number += 0 if attribute else value
        if attribute:
            factors[attribute] = factors.get(attribute, Fraction(0)) + value
        at = match.end()
        if not text[at:].strip():
            return Sum(factors=factors, number=number, lone=text.strip() if text.strip() in names else "")
        if (follows := SIGN.match(text, at)) is None:
            return None
        at, sign = follows.end(), -1 if follows[1] == "-" else 1
    return None
