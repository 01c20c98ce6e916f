"""Reads conditions: `age in 30..40 and not (sex = f or ward is missing)` -> a tree; `docs/reference/queries.md` has it.

`script/grammar.js` reads the same on a page; both are tested with `tests/query/grammar_vectors.json`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from dpress.core.basics.near import meant
from dpress.query.query_tree import TOTAL, Condition, Word
from dpress.query.query_words import (
    IN_QUOTES,
    MIRRORED,
    OPERATOR,
    QUOTED,
    START,
    any_name,
    beginning,
    hint_for,
    parts,
    unquoted,
)

DEEPEST = 50  # parentheses within one another
MOST_CONDITIONS = 1 << 14  # of a query, and of all that are planned together: every two alternatives may meet
Names = tuple[str, ...]


def conditions(names: Names, text: str) -> Condition:
    """Return the tree of conditions.

    `not` binds closer than `and`, `and` closer than `or`; parentheses group. A value that holds a parenthesis that is
    not closed, or `and` or `or` before what begins a condition, must be quoted.

    Args:
        names: of the attributes.
        text: the conditions; `total` holds of every row.

    Raises:
        ValueError: they cannot be read; the message says what would be right.
    """
    if not isinstance(text, str):
        raise ValueError(f"a query is a string such as `age in 30..40`, got {type(text).__name__}")
    if (count := conditions_in(text)) > MOST_CONDITIONS:
        raise ValueError(f"a query of {count:,} conditions is too long, at most {MOST_CONDITIONS:,}; use `in (a, b)`")
    return _Reader(names=names, text=text).whole()


def conditions_in(text: str) -> int:
    """Return about how many conditions a query has: the operators outside quotes.

    >>> conditions_in("age = 3 and (sex = 'f = m' or not age in 4..5)")
    3
    """
    return len(re.findall(OPERATOR, IN_QUOTES.sub("", text)))


def no_attribute(names: Names, name: str) -> str:
    """Return that there is no attribute of that name, and what was probably meant."""
    hint = hint_for(name) or meant(name, names)
    return f"there is no attribute {name!r}; the attributes are {', '.join(names)}{hint}"


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Reads one text from left to right.

    Args:
        names: of the attributes, which begin conditions.
        text: the conditions.
        at: how far it was read.
        open: how many parentheses are open.
    """

    names: Names
    text: str
    at: int = 0
    open: int = 0

    def whole(self) -> Condition:
        """Return the tree of the whole text.

        Raises:
            ValueError: a parenthesis is missing or left over.
        """
        tree = self._joined("or")
        if self.at < len(self.text):
            left = self.text[self.at :].strip()
            why = "a parenthesis is left over" if left.startswith(")") else "`and` or `or` is missing before it"
            raise ValueError(f"cannot read {left!r}; {why}")
        return tree

    def _joined(self, word: Word) -> Condition:
        """Return operands joined by a word: by `or` those that are joined by `and`."""
        operand: Callable[[], Condition] = self._operand if word == "and" else lambda: self._joined("and")
        operands = [operand()]
        while self._skip(rf"\s*\b{word}\b"):
            operands.append(operand())
        return Condition(word=word, parts=tuple(operands)) if len(operands) > 1 else operands[0]

    def _operand(self) -> Condition:
        """Return what may be negated, any number of times: a condition, or what stands in parentheses."""
        negated = False
        while not self._next(self._begin) and self._skip(r"\s*not\b"):
            negated = not negated
        return Condition(word="not", parts=(self._plain(),)) if negated else self._plain()

    def _plain(self) -> Condition:
        if not self._skip(r"\s*\("):
            return condition(self.names, self._up_to_the_next())
        self.open += 1
        if self.open > DEEPEST:
            raise ValueError(f"more than {DEEPEST} parentheses within one another")
        tree = self._joined("or")
        if not self._skip(r"\s*\)\s*"):
            raise ValueError(f"{self.text!r}: a parenthesis is not closed")
        self.open -= 1
        return tree

    def _up_to_the_next(self) -> str:
        """Return the text up to what ends a condition: a word before the next one, or a parenthesis that was open."""
        start, (stop, closed) = self.at, self._stop(brackets=True)
        self.at = stop if closed else self._stop(brackets=False)[0]
        return self.text[start : self.at].strip()

    def _stop(self, *, brackets: bool) -> tuple[int, bool]:
        """Return where a condition ends, and whether every parenthesis of its value is closed."""
        ends = rf"\s+(?:and|or)\b(?=(?:[\s(]|not\b)*(?:{self._begin}|total\b))"
        depth = 0
        for match in re.compile(rf"""{QUOTED}|[()]|{ends}""").finditer(self.text, self.at):
            depth += {"(": int(brackets), ")": -1}.get(match[0], 0)
            if depth < 0 < self.open or (depth == 0 and match[0][0].isspace()):
                return match.start(), True
            depth = max(depth, 0)  # a parenthesis of a value
        return len(self.text), depth == 0

    @property
    def _begin(self) -> str:
        return rf"\s*{beginning(self.names)}"

    def _next(self, pattern: str) -> bool:
        return re.compile(pattern).match(self.text, self.at) is not None

    def _skip(self, pattern: str) -> bool:
        """Go beyond a pattern that stands here; say whether it does."""
        match = re.compile(pattern).match(self.text, self.at)
        self.at = self.at if match is None else match.end()
        return match is not None


def condition(names: Names, text: str) -> Condition:
    """Return one test of an attribute, or `total`.

    Raises:
        ValueError: it is none; the message says what was probably meant.
    """
    name = any_name(names)
    if text.lower() == "total":
        return TOTAL
    if match := re.fullmatch(rf"({name})\s+is\s+missing", text):
        return Condition(word="missing", attribute=_plain_name(names, match[1]))
    if match := re.fullmatch(rf"({name})\s+between\s+(.+)", text, re.DOTALL):
        return _between(_plain_name(names, match[1]), match[2].strip())
    if match := re.fullmatch(rf"({name})\s*({OPERATOR})\s*(.+)", text, re.DOTALL):
        return _test(_plain_name(names, match[1]), match[2], match[3].strip())
    match = re.fullmatch(rf"({QUOTED})\s*({OPERATOR})\s*({name})", text, re.DOTALL)
    if match is None or match[2] not in MIRRORED:
        raise ValueError(_unread(names, text))
    return _test(_plain_name(names, match[3]), MIRRORED[match[2]], match[1])


def _plain_name(names: Names, written: str) -> str:
    return written if written in names else unquoted(written)


def _test(name: str, operator: str, text: str) -> Condition:
    if operator != "in":
        return Condition(word=operator, attribute=name, values=(unquoted(text),), written=text)  # type: ignore[arg-type]
    if text.startswith("(") and text.endswith(")"):
        return Condition(word="in", attribute=name, values=_listed(text[1:-1]), written=text)
    ends = re.fullmatch(rf"({QUOTED}|.*?)\s*\.\.\s*(.*)", text, re.DOTALL)
    if ends is None:
        raise ValueError(f"cannot read {text!r} after `in`; write a..b or (a, b, c)")
    return Condition(word="between", attribute=name, values=(unquoted(ends[1]), unquoted(ends[2])), written=text)


def _between(name: str, text: str) -> Condition:
    ends = parts(text, r"\s+and\s+")
    if len(ends) != 2 or not all(ends):
        raise ValueError(f"cannot read {text!r} after `between`; write `{name} between a and b`")
    return Condition(word="between", attribute=name, values=(unquoted(ends[0]), unquoted(ends[1])), written=text)


def _listed(text: str) -> tuple[str, ...]:
    values = [match.strip() for match in re.findall(r"""\s*'[^']*'\s*|\s*"[^"]*"\s*|[^,]+""", text)]
    if not any(values):
        raise ValueError("the list after `in` is empty; write in (a, b)")
    return tuple(unquoted(value) for value in values if value)


def _unread(names: Names, text: str) -> str:
    """Return why a part of a query is no condition, and what it was probably meant as."""
    left = re.match(rf"(.+?)\s*({START})\s*(.*)", text, re.DOTALL)
    name = unquoted((text if left is None else left[1]).strip())
    if left is None and name in names:
        return f"cannot read {text!r}; write e.g. `{name} = VALUE`, and the whole query in quotes in a shell"
    if re.match(r"where\b", text, re.IGNORECASE):
        return f"cannot read {text!r}; leave out `{text[:5]}`: a query is a condition alone"
    wanted = f"write e.g. `NAME in 30..40 and NAME = VALUE`, with the attributes {', '.join(names)}"
    return f"cannot read {text!r}; {wanted}{hint_for(text) or _no_operator(names, text) or meant(name, names)}"


def _no_operator(names: Names, text: str) -> str:
    """Return that nothing compares an attribute with what stands behind it; empty where it is no attribute."""
    begins = re.match(rf"({any_name(names)})[\s:]", text)
    return f"; an operator is missing behind {_plain_name(names, begins[1])}" if begins else ""
