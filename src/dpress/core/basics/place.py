"""Places in documents as people read them: `$.attribute[age].bounds[#2]`, entries by name, or counted from 1."""

import re
from typing import Any

PLACE = re.compile(r"\$(?:\.\w+|\[\d+\])+")
STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
NAME = re.compile(r"[^\[\]#\n]+")  # what can stand in brackets


def readable(message: str, document: Any) -> str:
    """Return a message whose first place counts from 0 as people read it.

    Args:
        message: with a place such as `$.attribute[0].bounds[1]`.
        document: plain data, which the place is in as far as it goes.

    >>> readable("$.attribute[0].bounds[1]: wrong", {"attribute": [{"name": "age"}]})
    '$.attribute[age].bounds[#2]: wrong'
    """
    return PLACE.sub(lambda match: _steps(match[0], document), message, count=1)


def _steps(place: str, document: Any) -> str:
    path = "$"
    for name, index in STEP.findall(place):
        document = _entry(document, name or int(index))
        path += f".{name}" if name else f"[{_called(document, int(index))}]"
    return path


def _entry(document: Any, step: str | int) -> Any:
    """Return a field or an entry; None where there is none."""
    try:
        return document[step]
    except (KeyError, IndexError, TypeError):
        return None


def _called(entry: Any, index: int) -> str:
    """Return the name of an entry that has one which can stand in brackets, else its number from 1."""
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and NAME.fullmatch(name) else f"#{index + 1}"
