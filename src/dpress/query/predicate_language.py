"""Predicates: conditions joined by `and`, `or`, `not` and parentheses -> boxes of cells (`core.maps.atoms.Predicate`).

Every condition is read by the query language (`query_language.parse`), so that it means the same wherever it stands.
"""

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from dpress.attributes.domain import Schema
from dpress.core.maps.atoms import MOST_BOXES, Box, Condition, Predicate
from dpress.core.maps.runs import Runs, common, complement
from dpress.query.query_language import cells_of
from dpress.query.query_words import IN_QUOTES, OPERATOR, QUOTED, beginning, unquoted, without_values

DEEPEST = 50  # parentheses within one another
MOST_CONDITIONS = 1 << 14  # of a query, and of all that are planned together: every two alternatives may meet
STRAY = re.compile(
    rf"""\bor\s+({QUOTED}|[^'"<>=!(),\s]+)\s*(?:[!<>]=?|==?|\bin\b)"""
)  # a condition left within a value
Cells = dict[int, Runs]  # by axis, which cells a box has; axes that do not matter are left out
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
    if (conditions := conditions_in(text)) > MOST_CONDITIONS:
        raise ValueError(
            f"a query of {conditions:,} conditions is too long, at most {MOST_CONDITIONS:,}; use `in (a, b)`"
        )
    cells = _boxes(schema, _Reader(schema=schema, text=text).whole(), negated=False)
    boxes = tuple(dict.fromkeys(map(_box, cells)))
    if not boxes:
        raise ValueError(f"{text!r} holds of no row: its conditions exclude each other")
    return ((),) if () in boxes else boxes


def conditions_in(text: str) -> int:
    """Return about how many conditions a query has: the operators outside quotes.

    >>> conditions_in("age = 3 and (sex = 'f = m' or not age in 4..5)")
    3
    """
    return len(re.findall(OPERATOR, IN_QUOTES.sub("", text)))


def _boxes(schema: Schema, node: Node, *, negated: bool) -> list[Cells]:
    """Return the boxes of a node, or of its negation, none of them empty."""
    kind, own = node
    if kind == "not":
        return _boxes(schema, own, negated=not negated)
    if kind == "is":
        return _of_condition(schema, own, negated=negated)
    parts = [_boxes(schema, one, negated=negated) for one in own]
    if (kind == "or") != negated:
        return _few(itertools.chain.from_iterable(parts))
    return reduce(lambda one, other: _few(_common(*pair) for pair in itertools.product(one, other)), parts)


def _of_condition(schema: Schema, text: str, *, negated: bool) -> list[Cells]:
    """Return the boxes of conditions joined by `and`, or of their negation."""
    whole = {axis: ((0, size - 1),) for axis, size in enumerate(schema.shape)}
    cells = {axis: runs for axis, runs in _parsed(schema, text).items() if runs != whole[axis]}
    if negated:
        others = [(axis, complement(runs, schema.shape[axis])) for axis, runs in cells.items()]
        return [{} if runs == whole[axis] else {axis: runs} for axis, runs in others]
    return [cells] if all(cells.values()) else []


def _parsed(schema: Schema, text: str) -> Cells:
    """Return the cells of one condition; where it cannot be read, name an unknown attribute after an `or`."""
    try:
        return cells_of(schema, text)
    except ValueError:
        if stray := STRAY.search(without_values(text)):
            schema.attribute(unquoted(stray[1]))
        raise


def _common(one: Cells, other: Cells) -> Cells:
    return one | {axis: common(runs, one[axis]) if axis in one else runs for axis, runs in other.items()}


def _few(boxes: Iterable[Cells]) -> list[Cells]:
    """Return the boxes that are not empty, each once.

    Raises:
        ValueError: there are too many.
    """
    distinct: dict[Box, Cells] = {}
    for cells in boxes:
        if all(cells.values()):
            distinct[_box(cells)] = cells
        if len(distinct) > MOST_BOXES:
            raise ValueError(f"a query of more than {MOST_BOXES} alternatives is too long; use `in (a, b)`, or several")
    return list(distinct.values())


def _box(cells: Cells) -> Box:
    return tuple(Condition(axis, cells[axis]) for axis in sorted(cells))


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
        """Return what may be negated, any number of times: a condition, or what stands in parentheses."""
        negated = False
        while not self._next(self._begin) and self._skip(r"\s*not\b"):
            negated = not negated
        return ("not", self._plain()) if negated else self._plain()

    def _plain(self) -> Node:
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
        for match in re.compile(rf"""{QUOTED}|[()]|{ends}""").finditer(self.text, self.at):
            depth += {"(": 1, ")": -1}.get(match[0], 0)
            if depth < 0 < self.open or (depth == 0 and match[0][0].isspace()):
                stop = match.start()
                break
            depth = max(depth, 0)  # a parenthesis of a value
        found, self.at = self.text[self.at : stop].strip(), stop
        return found

    @property
    def _begin(self) -> str:
        return rf"\s*{beginning(self.schema.names)}"

    def _next(self, pattern: str) -> bool:
        return re.compile(pattern).match(self.text, self.at) is not None

    def _skip(self, pattern: str) -> bool:
        """Go beyond a pattern that stands here; say whether it does."""
        match = re.compile(pattern).match(self.text, self.at)
        self.at = self.at if match is None else match.end()
        return match is not None
