"""Predicates: conditions joined by `and`, `or`, `not` and parentheses -> boxes of cells (`core.atoms.Predicate`).

Every condition is read by the query language (`query_language.parse`), so that it means the same wherever it stands.
"""

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.atoms import MOST_BOXES, Box, Condition, Predicate
from dpress.core.domain import Schema
from dpress.core.linear import Array
from dpress.release.query_language import OPERATORS, QUOTED, parse

DEEPEST = 50  # parentheses within one another
STRAY = re.compile(r"""\bor\s+([^'"<>=!(),\s]+)\s*(?:[!<>]=?|==?|\bin\b)""")  # a condition left within a value
Cells = dict[int, npt.NDArray[np.bool_]]  # by axis, which cells a box has; axes that do not matter are left out
Node = tuple[str, Any]  # "is" a text, "not" a node, "and" or "or" several nodes


def predicate(schema: Schema, text: str) -> Predicate:
    """Return the rows that a text asks for as a union of boxes, none of them empty; they may overlap.

    `not` binds closer than `and`, `and` closer than `or`; parentheses group. A value that holds a parenthesis, `and` or
    `or` before the name of an attribute must be quoted. `total` holds of every row.

    Raises:
        ValueError: the text is no query, holds of no row, or is more than 256 boxes; the message says what would be
            right.
    """
    if not isinstance(text, str):
        raise ValueError(f"a query is a string such as `age in 30..40`, got {type(text).__name__}")
    found = _boxes(schema, _Reader(schema=schema, text=text).whole(), negated=False)
    boxes = tuple(dict.fromkeys(map(_box, found)))
    if not boxes:
        raise ValueError(f"{text!r} holds of no row: its conditions exclude each other")
    return ((),) if () in boxes else boxes


def _boxes(schema: Schema, node: Node, *, negated: bool) -> list[Cells]:
    """Return the boxes of a node, or of its negation, none of them empty."""
    kind, own = node
    if kind == "not":
        return _boxes(schema, own, negated=not negated)
    if kind == "is":
        weights = {axis: one > 0 for axis, one in enumerate(_parsed(schema, own)) if not one.all()}
        if negated:
            return [{axis: ~one} for axis, one in weights.items() if not one.all()]
        return [weights] if all(one.any() for one in weights.values()) else []
    parts = [_boxes(schema, one, negated=negated) for one in own]
    if (kind == "or") != negated:
        return _few(itertools.chain.from_iterable(parts))
    return reduce(lambda one, other: _few(_common(*pair) for pair in itertools.product(one, other)), parts)


def _parsed(schema: Schema, text: str) -> list[Array]:
    """Return the weights of one condition; where it cannot be read, name an unknown attribute after an `or`."""
    try:
        return parse(schema, text)
    except ValueError:
        if stray := STRAY.search(QUOTED.sub("", text)):
            schema.attribute(stray[1])
        raise


def _common(one: Cells, other: Cells) -> Cells:
    return one | {axis: own & one[axis] if axis in one else own for axis, own in other.items()}


def _few(boxes: Iterable[Cells]) -> list[Cells]:
    """Return the boxes that are not empty, each once.

    Raises:
        ValueError: there are too many.
    """
    found: dict[Box, Cells] = {}
    for one in boxes:
        if all(own.any() for own in one.values()):
            found[_box(one)] = one
        if len(found) > MOST_BOXES:
            raise ValueError(f"a query of more than {MOST_BOXES} alternatives is too long; use `in (a, b)`, or several")
    return list(found.values())


def _box(cells: Cells) -> Box:
    return tuple(Condition(axis, _runs(cells[axis])) for axis in sorted(cells) if not cells[axis].all())


def _runs(cells: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], cells, [False]]).astype(np.int8)))
    return tuple((int(first), int(after) - 1) for first, after in edges.reshape(-1, 2))


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Reads one text from left to right.

    Args:
        schema: whose attributes begin conditions.
        text: the query.
        at: how far it was read.
        open: how many parentheses are open.
    """

    schema: Schema
    text: str
    at: int = 0
    open: int = 0

    def whole(self) -> Node:
        """Return the node of the whole text.

        Raises:
            ValueError: a parenthesis is missing or left over.
        """
        node = self._joined("or")
        if self.at < len(self.text):
            raise ValueError(f"cannot read {self.text[self.at :].strip()!r}; a parenthesis is left over")
        return node

    def _joined(self, word: str) -> Node:
        """Return operands joined by a word: by `or` those that are joined by `and`."""
        one: Callable[[], Node] = self._operand if word == "and" else lambda: self._joined("and")
        nodes = [one()]
        while self._skip(rf"\s*\b{word}\b"):
            nodes.append(one())
        return (word, nodes) if len(nodes) > 1 else nodes[0]

    def _operand(self) -> Node:
        if not self._next(self._begin) and self._skip(r"\s*not\b"):
            return ("not", self._operand())
        if self._skip(r"\s*\("):
            self.open += 1
            if self.open > DEEPEST:
                raise ValueError(f"more than {DEEPEST} parentheses within one another")
            node = self._joined("or")
            if not self._skip(r"\s*\)\s*"):
                raise ValueError(f"{self.text!r}: a parenthesis is not closed")
            self.open -= 1
            return node
        return ("is", self._condition())

    def _condition(self) -> str:
        """Return the text up to what ends a condition: a word before the next one, or a parenthesis that was open."""
        ends = rf"\s+(?:and|or)\b(?=(?:[\s(]|not\b)*(?:{self._begin}|total\b))"
        depth, stop = 0, len(self.text)
        for match in re.compile(rf"""'[^']*'|"[^"]*"|[()]|{ends}""").finditer(self.text, self.at):
            depth += {"(": 1, ")": -1}.get(match[0], 0)
            if depth < 0 < self.open or (depth == 0 and match[0][0].isspace()):
                stop = match.start()
                break
            depth = max(depth, 0)  # a parenthesis of a value
        found, self.at = self.text[self.at : stop].strip(), stop
        return found

    @property
    def _begin(self) -> str:
        names = "|".join(re.escape(name) for name in sorted(self.schema.names, key=len, reverse=True))
        operators = "|".join(rf"{one}\b" if one.isalpha() else re.escape(one) for one in OPERATORS)
        return rf"\s*(?:{names})\s*(?:{operators})"

    def _next(self, pattern: str) -> bool:
        return re.compile(pattern).match(self.text, self.at) is not None

    def _skip(self, pattern: str) -> bool:
        """Go beyond a pattern that stands here; say whether it does."""
        match = re.compile(pattern).match(self.text, self.at)
        self.at = self.at if match is None else match.end()
        return match is not None
