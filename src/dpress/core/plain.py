"""Objects of public numbers as plain JSON values and back, exactly: what a document says of a mechanism.

dataclass -> `plain` -> dict of its fields -> `read` -> an equal object, or a refusal that names the place.

A fraction is the text "num/den" in lowest terms, bytes are hex digits, a tuple is a list, a dataclass a dict of all its
fields by name. Floats have no place here: two machines may compute them differently.
"""

import functools
import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

ATOMS: dict[type, tuple[str, Callable[[str], Any]]] = {
    Fraction: ('a fraction "num/den" in lowest terms', Fraction),
    bytes: ("bytes as lower-case hex digits", bytes.fromhex),
}
"""By type: what is expected, and how its text is read."""
SIMPLE = {bool: "true or false", int: "an integer", str: "a text"}


def plain(value: Any) -> Any:
    """Return a dataclass, or what its fields hold, as dicts, lists, texts, integers and truth values.

    Raises:
        TypeError: something has no exact plain form; the caller's mistake, not the data's.

    >>> from dpress.core.claim import PureDP
    >>> plain(PureDP(epsilon=0.5))
    {'epsilon': '1/2'}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, bytes):
        return value.hex()
    if value is None or type(value) in SIMPLE:
        return value
    raise TypeError(f"{type(value).__name__} has no exact plain form")


def read(kind: type[T], value: object, place: str = "$") -> T:
    """Return the object of a type whose plain form this is; nothing is filled in and nothing passed over.

    Raises:
        ValueError: a field is missing, unknown or of another type, or the object refuses its numbers; one line that
            begins with the place, as `$.loss.epsilon`.
        TypeError: the type has no exact plain form; the caller's mistake.

    >>> from dpress.core.claim import PureDP
    >>> read(PureDP, {"epsilon": "1/2"})
    PureDP(epsilon=Fraction(1, 2))
    """
    found: T = _read(kind, value, place)
    return found


def _read(kind: Any, value: object, place: str) -> Any:
    if is_dataclass(kind):
        return _object(kind, value, place)
    if kind in ATOMS:
        return _atom(kind, value, place)
    if kind in SIMPLE:
        if type(value) is not kind:
            _refuse(place, SIMPLE[kind], value)
        return value
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(_one_of([one.value for one in kind], value, place))
    return _generic(kind, value, place)


def _generic(kind: Any, value: object, place: str) -> Any:
    """Return what a tuple, a choice of values, or a type or nothing holds."""
    own, inner = get_origin(kind), get_args(kind)
    if own is tuple:
        return _tuple(inner, value, place)
    if own is Literal:
        return _one_of(list(inner), value, place)
    if own in (Union, types.UnionType) and len(inner) == 2 and types.NoneType in inner:
        (other,) = (one for one in inner if one is not types.NoneType)
        return None if value is None else _read(other, value, place)
    raise TypeError(f"{kind} has no exact plain form")


def _one_of(known: list[Any], value: object, place: str) -> Any:
    if not any(type(one) is type(value) and one == value for one in known):
        _refuse(place, f"one of {known}", value)
    return value


def _tuple(inner: tuple[Any, ...], value: object, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        _refuse(place, "a list", value)
    each = (inner[0],) * len(value) if inner[1:] == (...,) else inner
    if len(each) != len(value):
        raise ValueError(f"{place}: expected {len(each)} entries, got {len(value)}")
    return tuple(_read(one, own, f"{place}[{row}]") for row, (one, own) in enumerate(zip(each, value, strict=True)))


def _object(kind: Any, value: object, place: str) -> Any:
    """Return the object; it must come out with the very numbers of the document, none completed or rounded."""
    if not isinstance(value, dict):
        _refuse(place, "an object", value)
    hints = _hints(kind)
    if missing := [name for name in hints if name not in value]:
        raise ValueError(f"{place}.{missing[0]}: missing")
    if unknown := [name for name in value if name not in hints]:
        raise ValueError(f"{place}.{unknown[0]}: unknown field")
    given = {name: _read(hint, value[name], f"{place}.{name}") for name, hint in hints.items()}
    try:
        made = kind(**given)
    except ValueError as refusal:
        raise ValueError(f"{place}: {refusal}") from None
    if changed := [name for name in hints if getattr(made, name) != given[name]]:
        raise ValueError(f"{place}.{changed[0]}: must be stated, and exactly")
    return made


@functools.lru_cache(maxsize=256)
def _hints(kind: Any) -> dict[str, Any]:
    """Return the type of every field, in order."""
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


def _atom(kind: type, value: object, place: str) -> Any:
    """Return a fraction or bytes; only the one text that `plain` writes is read."""
    expected, parse = ATOMS[kind]
    if not isinstance(value, str):
        _refuse(place, expected, value)
    try:
        found = parse(value)
    except (ValueError, ZeroDivisionError):
        found = None
    if found is None or plain(found) != value:
        _refuse(place, expected, value)
    return found


def _refuse(place: str, expected: str, value: object) -> NoReturn:
    got = "another text" if isinstance(value, str) else type(value).__name__
    raise ValueError(f"{place}: expected {expected}, got {got}")
