"""Equations and inequalities of numeric attributes as texts: `years_worked <= age - 16`, `total = rooms + 2`.

text -> terms of both sides -> integer coefficients of a sum that is compared with 0.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.mechanisms.microdata.record_rules import Linear
from dpress.query.query_tree import Condition
from dpress.query.query_words import QUOTED

SIDES = re.compile(r"(<=|>=|!=|<|>|=)")
NUMBER = r"\d+(?:\.\d+)?"
SIGN = re.compile(r"\s*([+-])\s*")
OPPOSITE = {"<=": ">", ">=": "<", "<": ">=", ">": "<=", "=": "!=", "!=": "="}
_ENDS = {"<=": (1, 0), "<": (1, 1), ">=": (-1, 0), ">": (-1, 1), "=": (1, 0), "!=": (1, 0)}
"""By what the sum of the left side less the right is multiplied, and what is then added, to compare whole numbers."""


HOLDS = "so"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A sum of numeric attributes, each times a number, and a number, beside 0.

    Args:
        factors: of two attributes or more, by name, none of them 0.
        number: that is added.
        word: how the sum stands to 0.
        solved: the attribute that an equation is solved for; empty where it is solved for none.
    """

    factors: Mapping[str, Fraction]
    number: Fraction
    word: str
    solved: str


def comparison_of(schema: Schema, text: str, *, negated: bool = False) -> Comparison | None:
    """Return what a text says of several numbers; None where it is a condition of something else.

    Args:
        schema: of the attributes.
        text: two sums with =, !=, <, <=, > or >= between them.
        negated: whether the opposite holds.

    Raises:
        ValueError: both sides are the same.
    """
    parts = SIDES.split(text)
    names = sorted((column.name for column in schema.tabular if column.numbers is not None), key=len, reverse=True)
    if len(parts) != 3:
        return None
    left, right = (_sum(part, names) for part in (parts[0], parts[2]))
    if left is None or right is None or len({*left.factors, *right.factors}) < 2:
        return None
    factors = {
        name: left.factors.get(name, Fraction(0)) - right.factors.get(name, Fraction(0)) for name in schema.names
    }
    factors = {name: factor for name, factor in factors.items() if factor}
    if len(factors) < 2:
        raise ValueError(f"{text!r} is about fewer than two numbers once both sides are taken together")
    word = OPPOSITE[parts[1]] if negated else parts[1]
    solved = next((side.lone for side in (left, right) if side.lone and abs(factors.get(side.lone, 0)) == 1), "")
    number = left.number - right.number
    return Comparison(factors=factors, number=number, word=word, solved=solved if word == "=" else "")


def linear(schema: Schema, text: str, *, negated: bool = False) -> Linear | None:
    """Return what a text says of several numbers, of which every one is a cell; see `comparison_of`.

    Raises:
        ValueError: an attribute has cells of several numbers, or both sides are the same.
    """
    form = comparison_of(schema, text, negated=negated)
    if form is None:
        return None
    columns = {column.name: column for column in schema.tabular}
    for name in form.factors:
        _check_integers(columns[name])
    return whole(schema, form)


def set_apart(schema: Schema, text: str) -> tuple[dict[str, str], str]:
    """Return comparisons of several numbers by names that no attribute has, and the text with tests of these names.

    What joins the tests can then be read as that of a query.

    Args:
        schema: of the attributes.
        text: conditions, among which comparisons may stand.

    Raises:
        ValueError: see `linear`.
    """
    numbers = [column.name for column in schema.tabular if column.numbers is not None]
    if not numbers:
        return {}, text
    name = "|".join(map(re.escape, sorted(numbers, key=len, reverse=True)))
    term = rf"(?:{NUMBER}\s*\*?\s*(?:{name})|(?:{name})\s*\*\s*{NUMBER}|(?:{name})|{NUMBER})(?!\w)"
    total = rf"(?:[+-]\s*)?{term}(?:\s*[+-]\s*{term})*"
    stem, apart = "comparison", dict[str, str]()
    while stem in " ".join((text, *schema.words)):
        stem += "_"

    def test(match: re.Match[str]) -> str:
        if match["sums"] is None or comparison_of(schema, match[0]) is None:
            return match[0]
        apart[f"{stem}{len(apart)}"] = match[0]
        return f"{stem}{len(apart) - 1} = {HOLDS}"

    return apart, re.sub(rf"{QUOTED}|(?P<sums>(?<![\w.]){total}\s*{SIDES.pattern}\s*{total})", test, text)


def comparison(schema: Schema, apart: Mapping[str, str], test: Condition, *, negated: bool) -> Comparison:
    """Return a comparison that was set apart, from its test; see `set_apart`.

    Raises:
        ValueError: more stands behind the comparison.
    """
    text = apart[test.attribute]
    form = comparison_of(schema, text, negated=negated)
    if form is None or (test.word, *test.values) != ("=", HOLDS):
        left = test.written.removeprefix(HOLDS).strip()
        raise ValueError(f"cannot read {left!r} behind {text!r}; `and` or `or` stands before the next condition")
    return form


def as_written(message: str, apart: Mapping[str, str]) -> str:
    """Return a message with comparisons as they were written; see `set_apart`."""
    tests = re.compile("|".join(rf"{name}\b(?: = {HOLDS})?" for name in apart) or "(?!)")
    return tests.sub(lambda match: apart[match[0].partition(" ")[0]], message)


def whole(schema: Schema, form: Comparison) -> Linear:
    """Return a comparison of integers, each a cell, as a rule with whole numbers."""
    names, columns = [*form.factors], {column.name: column for column in schema.tabular}
    scale = math.lcm(form.number.denominator, *(factor.denominator for factor in form.factors.values()))
    sign, more = _ENDS[form.word]
    kept: Literal["=", "!=", "<="] = "=" if form.word == "=" else "!=" if form.word == "!=" else "<="
    return Linear(
        about=tuple(schema.names.index(name) for name in names),
        coefficients=tuple(int(sign * scale * form.factors[name]) for name in names),
        lows=tuple(_low(columns[name]) for name in names),
        sizes=tuple(columns[name].size for name in names),
        offset=int(sign * scale * form.number) + more,
        word=kept,
        solved=schema.names.index(form.solved) if form.solved else None,
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
