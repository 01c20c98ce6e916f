"""Where a field stands in the text of a specification: what a refusal says beside its place.

text -> statements, each with the fields that it sets -> the one that sets the field of a message.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

PLACE = re.compile(r"\$((?:\.\w+|\[[^\]]*\])*): (?:unknown field `([^`]+)`|unknown parameter '([^']+)')?")
STEP = re.compile(r"\.(\w+)|\[([^\]]*)\]")
CLOSING = ("]", "}", '"""', "'''")  # a statement of several lines ends in a line that has one of them
MOST = 500  # lines with such a sign that one statement is looked for in

Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a specification, or one of its sections, with the line and the column where it begins."""

    steps: Steps
    value: Any
    line: int
    column: int


def located(message: str, text: str) -> str:
    """Return a refusal that begins with a place, such as `$.privacy.epsilon: ...`, with its line and column.

    As it is where the text does not have the field.
    """
    if (place := PLACE.match(message)) is None:
        return message
    wanted = [name or index for name, index in STEP.findall(place[1])] + [name for name in place.groups()[1:] if name]
    fields = list(_fields(text))
    if wanted[:1] == ["attribute"] and len(wanted) > 1:
        wanted[1] = _number(wanted[1], fields)
    near = [field for field in fields if list(field.steps) == wanted[: len(field.steps)]]
    near = near or [field for field in fields if list(field.steps)[: len(wanted)] == wanted][:1]
    if not near:
        return message
    best = max(near, key=lambda field: len(field.steps))
    return f"{message} (at line {best.line}, column {best.column})"


def _number(name: str, fields: list[Field]) -> str:
    """Return the place of an attribute, which a message names, or counts from 1."""
    if name.startswith("#"):
        return str(int(name[1:]) - 1)
    named = (field.steps[1] for field in fields if field.steps[::2] == ("attribute", "name") and field.value == name)
    return next(named, "")


def _fields(text: str) -> Iterator[Field]:
    """Yield the sections and fields in order; those of a statement that cannot be read are left out."""
    section: Steps = ()
    times: Counter[Steps] = Counter()
    for statement, line, column in _statements(text):
        plain = tomllib.loads(statement)
        if not statement.lstrip().startswith("["):
            yield from (Field((*section, *steps), value, line, column) for steps, value in _leaves(plain))
            continue
        section = ()
        for steps, value in _leaves(plain):
            several = isinstance(value, list)
            section = (*steps, str(times[steps])) if several else steps
            times[steps] += several
        yield Field(section, None, line, column)


def _leaves(plain: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
    """Yield what nested tables hold, with the tables themselves."""
    for name, value in plain.items():
        yield (name,), value
        if isinstance(value, dict):
            yield from (((name, *steps), value) for steps, value in _leaves(value))


def _statements(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield every header and every assignment with its line and column, counted from 1."""
    held, start, tried = list[str](), 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        if not held:
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            start, tried = number, 0
        held.append(line)
        if len(held) > 1 and not any(sign in line for sign in CLOSING):
            continue
        tried += 1
        if _whole(statement := "\n".join(held)):
            yield statement, start, len(held[0]) - len(held[0].lstrip()) + 1
            held = []
        elif tried == MOST:
            return


def _whole(statement: str) -> bool:
    try:
        tomllib.loads(statement)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True
