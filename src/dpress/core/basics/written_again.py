"""Where a document says something else than what it was read as: nothing was filled in, and nothing passed over."""

from typing import Any


def difference(given: Any, again: Any, place: str = "$") -> str:
    """Return the first place where plain data differs from what is written again, and how; empty where it does not.

    >>> difference({"a": [1, 2]}, {"a": [1, 2], "b": None})
    '$.b: missing'
    >>> difference({"a": [1, 2]}, {"a": [1, 3]})
    '$.a[1]: not as it is written'
    """
    if isinstance(given, dict) and isinstance(again, dict):
        for names, word in ((again.keys() - given.keys(), "missing"), (given.keys() - again.keys(), "unknown field")):
            if names:
                return f"{place}.{min(names)}: {word}"
        return _first([difference(given[name], again[name], f"{place}.{name}") for name in given])
    if isinstance(given, (list, tuple)) and isinstance(again, (list, tuple)) and len(given) == len(again):
        pairs = enumerate(zip(given, again, strict=True))
        return _first([difference(before, after, f"{place}[{row}]") for row, (before, after) in pairs])
    return "" if type(given) is type(again) and given == again else f"{place}: not as it is written"


def _first(differences: list[str]) -> str:
    return next(filter(None, differences), "")
