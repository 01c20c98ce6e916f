"""Objects as plain data and back: dictionaries, lists, texts and integers, from which JSON is written.

An object of a method becomes its fields and, under `method`, the name of the file that its class lives in. Fractions
are texts such as "1/3", bytes are hexadecimal. Nothing is left out and nothing is filled in: a document that lacks a
field, or has one more, is refused. Fields that another part of a document tells (`told`) are not written.
"""

import dataclasses
import enum
import types
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from typing import Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints, runtime_checkable

import msgspec

from dpress.core.check import exact
from dpress.core.claim import LOSSES, from_parameters

METHODS = "dpress.mechanisms."
METHOD = "method"
Find = Callable[[str], type]


@runtime_checkable
class SelfPlain(Protocol):
    """A method's object that says itself what stands in a document."""

    def as_plain(self) -> dict[str, Any]:
        """Return its fields as plain data."""
        ...

    @classmethod
    def from_plain(cls, value: Mapping[str, Any], *, find: Find, told: Mapping[str, Any]) -> Any:
        """Return the object that the plain data describes."""
        ...


def plain(value: Any, *, told: Collection[str] = ()) -> Any:
    """Return a value as plain data.

    Args:
        value: a frozen dataclass, a struct, a number, a text, bytes, or a tuple or mapping of such.
        told: names of fields that are left out.

    Raises:
        TypeError: part of it has no plain form.

    >>> plain((Fraction(1, 3), b"ab", None))
    ['1/3', '6162', None]
    """
    if isinstance(value, (bool, int, str, float, type(None))) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (tuple, list)):
        return [plain(one, told=told) for one in value]
    if isinstance(value, Mapping):
        return {str(name): plain(one, told=told) for name, one in value.items()}
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if isinstance(value, SelfPlain):
        return {METHOD: method_of(type(value)), **value.as_plain()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain(getattr(value, field.name), told=told) for field in _fields(type(value), told)}
        return {**({METHOD: name} if (name := method_of(type(value))) else {}), **fields}
    raise TypeError(f"{type(value).__name__} has no plain form")


def method_of(kind: type) -> str:
    """Return the name of the file that a method's class lives in; empty for a class that is no method's.

    >>> from dpress.mechanisms.oracle.krr import Krr
    >>> method_of(Krr), method_of(Fraction)
    ('krr', '')
    """
    return kind.__module__.rpartition(".")[2] if kind.__module__.startswith(METHODS) else ""


def read(kind: Any, value: Any, *, find: Find, told: Mapping[str, Any] | None = None) -> Any:
    """Return the object that plain data describes.

    Args:
        kind: its type, or a protocol where the data names the method.
        value: plain data.
        find: returns the class of a method by name.
        told: the values of the fields that the data leaves out.

    Raises:
        ValueError: a field is missing, unknown or of another type, or the object refuses its numbers.
    """
    if isinstance(value, Mapping) and METHOD in value:
        kind = find(str(value[METHOD]))
        value = {name: one for name, one in value.items() if name != METHOD}
    elif _is_method(kind):
        raise ValueError(f"expected the method's name under {METHOD!r}")
    if isinstance(kind, type) and issubclass(kind, SelfPlain):
        return kind.from_plain(_mapping(value), find=find, told=told or {})
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _object(kind, value, find, told or {})
    return _value(kind, value, find, told or {})


def _is_method(kind: Any) -> bool:
    return isinstance(kind, type) and dataclasses.is_dataclass(kind) and bool(method_of(kind))


def _object(kind: type, value: Any, find: Find, told: Mapping[str, Any]) -> Any:
    if set(kind.__annotations__) and kind in LOSSES:
        return from_parameters(_mapping(value))
    names = [field.name for field in _fields(kind, ())]
    known = {name: told[name] for name in names if name in told}
    wanted = [name for name in names if name not in known]
    if set(_mapping(value)) != set(wanted):
        wrong = sorted(set(wanted) ^ set(value))[0]
        raise ValueError(f"{kind.__name__}: {'unknown' if wrong in value else 'missing'} field {wrong!r}")
    hints = get_type_hints(kind)
    return kind(**known, **{name: read(hints[name], value[name], find=find, told=told) for name in wanted})


def _value(kind: Any, value: Any, find: Find, told: Mapping[str, Any]) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _one_of(get_args(kind), value, find, told)
    if origin is Literal:
        if value not in get_args(kind):
            raise ValueError(f"expected one of {', '.join(map(str, get_args(kind)))}, got {value!r}")
        return value
    if origin is tuple:
        return _tuple(get_args(kind), value, find, told)
    if kind is Fraction:
        if not isinstance(value, str):
            raise ValueError(f"expected a fraction as text, got {value!r}")
        return exact("a fraction", value)
    if kind is bytes:
        return bytes.fromhex(value) if isinstance(value, str) else _refuse("hexadecimal text", value)
    if kind is float:
        return float(value) if type(value) in (int, float) else _refuse("a number", value)
    if kind in (int, str, bool):
        return value if type(value) is kind else _refuse(kind.__name__, value)
    return msgspec.convert(value, kind)


def _one_of(kinds: tuple[Any, ...], value: Any, find: Find, told: Mapping[str, Any]) -> Any:
    """Return a value of the only type of a union that it fits: nothing, or the first that takes it."""
    if value is None:
        return None if type(None) in kinds else _refuse("a value", value)
    faults = []
    for kind in kinds:
        if kind is type(None):
            continue
        try:
            return read(kind, value, find=find, told=told)
        except (ValueError, TypeError, AttributeError) as error:
            faults.append(str(error))
    raise ValueError(faults[0])


def _tuple(kinds: tuple[Any, ...], value: Any, find: Find, told: Mapping[str, Any]) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"expected a list, got {type(value).__name__}")
    each = [kinds[0]] * len(value) if len(kinds) == 2 and kinds[1] is Ellipsis else kinds
    if len(each) != len(value):
        raise ValueError(f"expected a list of {len(each)}, got {len(value)}")
    return tuple(read(kind, one, find=find, told=told) for kind, one in zip(each, value, strict=True))


def _fields(kind: type, told: Collection[str]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if field.name not in told]


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"expected a table, got {type(value).__name__}")
    return value


def _refuse(wanted: str, value: Any) -> Any:
    raise ValueError(f"expected {wanted}, got {value!r}")
