"""Objects of public numbers as plain JSON values and back, exactly: what a document says of a mechanism.

dataclass -> `plain` -> dict of its fields -> `read` -> an equal object, or a refusal that names the place.

A fraction is the text "num/den" in lowest terms, bytes are hex digits, a tuple is a list, a dataclass a dict of all its
fields by name; the object of a method also has, under `method`, the name of its file. Fields that another part of a
document gives (`context`) are left out. A float is a stated public parameter, never a computed number. A field that a
class lists in `added_later` stands in a document only where it differs from its default: older documents stay the same.
"""

import functools
import re
import sys
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import (
    Any,
    Literal,
    NoReturn,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.read import LOSSES, from_parameters
from dpress.core.basics.method_names import OF_PACKAGE, class_name

T = TypeVar("T")
METHODS, METHOD = "dpress.mechanisms.", "method"
Find = Callable[[str], type]

LONGEST_NUMBER = 1000  # digits above or below the line of a fraction: a short text must not make long work
LARGEST_INTEGER = (1 << 63) - 1
_FRACTION = re.compile(rf"-?[0-9]{{1,{LONGEST_NUMBER}}}/[0-9]{{1,{LONGEST_NUMBER}}}")


def _fraction(text: str) -> Fraction | None:
    return Fraction(text) if _FRACTION.fullmatch(text) else None


ATOMS: dict[type, tuple[str, Callable[[str], Any]]] = {
    Fraction: ('a fraction "num/den" in lowest terms', _fraction),
    bytes: ("bytes as lower-case hex digits", bytes.fromhex),
}
"""By type: what is expected, and how its text is read."""
SIMPLE = {bool: "true or false", int: "an integer", str: "a text", float: "a number"}


@runtime_checkable
class SelfPlain(Protocol):
    """An object of a method that says itself what stands in a document."""

    def as_plain(self) -> dict[str, Any]:
        """Return its fields as plain data."""
        ...

    @classmethod
    def from_plain(cls, value: Mapping[str, Any], place: str, *, find: Find, context: Mapping[str, Any]) -> Any:
        """Return the object that the plain data describes."""
        ...


def plain(value: Any, *, context: Collection[str] = ()) -> Any:  # noqa: PLR0911  # one return for each sort of value
    """Return a dataclass, or what its fields hold, as dicts, lists, texts, numbers and truth values.

    Args:
        value: the object.
        context: names of fields, at any depth, that are left out.

    Raises:
        TypeError: something has no exact plain form; the caller's mistake, not the data's.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> plain(PureDP(epsilon=0.5))
    {'epsilon': '1/2'}
    """
    if isinstance(value, SelfPlain):
        return {METHOD: method_of(type(value)), **value.as_plain()}
    if is_dataclass(value) and not isinstance(value, type):
        named = {METHOD: name} if (name := method_of(type(value))) else {}
        later = added_later(type(value)).items()
        unwritten = (*context, *(name for name, default in later if getattr(value, name) == default))
        written = [field.name for field in fields(value) if field.name not in unwritten]
        return {**named, **{name: plain(getattr(value, name), context=context) for name in written}}
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, (tuple, list)):
        return [plain(entry, context=context) for entry in value]
    if isinstance(value, dict):
        return {str(name): plain(entry, context=context) for name, entry in value.items()}
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, bytes):
        return value.hex()
    if value is None or type(value) in SIMPLE:
        return value
    raise TypeError(f"{type(value).__name__} has no exact plain form")


def method_of(kind: type) -> str:
    """Return the name of the file that a class is named after, in CamelCase; empty for any other class.

    In another package than ours that is the file of a card, and the name begins with the package's.

    >>> from dpress.mechanisms.oracle.krr import Krr
    >>> method_of(Krr), method_of(Fraction)
    ('krr', '')
    """
    package, file = kind.__module__.partition(".")[0], kind.__module__.rpartition(".")[2]
    if kind.__name__ != class_name(file):
        return ""
    if kind.__module__.startswith(METHODS):
        return file
    return f"{package}{OF_PACKAGE}{file}" if hasattr(sys.modules.get(kind.__module__), "CARD") else ""


def added_later(kind: type) -> dict[str, Any]:
    """Return the fields that a class got after documents of it were written, with what they mean where they are not."""
    names: tuple[str, ...] = getattr(kind, "added_later", ())
    return {field.name: field.default for field in fields(kind) if field.name in names}


def read(
    kind: type[T],
    value: object,
    place: str = "$",
    *,
    find: Find | None = None,
    context: Mapping[str, Any] | None = None,
) -> T:
    """Return the object of a type whose plain form this is; nothing is filled in and nothing passed over.

    Args:
        kind: the type, or `object` where the data names a method.
        value: plain data.
        place: of the data in a document.
        find: returns the class of a method by name.
        context: the values of the fields that the data leaves out.

    Raises:
        ValueError: a field is missing, unknown or of another type, or the object refuses its numbers; one line that
            begins with the place, as `$.loss.epsilon`.
        TypeError: the type has no exact plain form; the caller's mistake.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> read(PureDP, {"epsilon": "1/2"})
    PureDP(epsilon=Fraction(1, 2))
    """
    described: T = _Reader(find=find, context=context or {}).read(kind, value, place)
    return described


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads with one way to find methods and one set of fields from the context."""

    find: Find | None
    context: Mapping[str, Any]

    def read(self, kind: Any, value: object, place: str) -> Any:  # noqa: PLR0911  # one return for each sort of type
        """Return what one value describes."""
        if isinstance(value, dict) and METHOD in value and self.find is not None:
            kind, value = self._named(kind, value, place)
        elif isinstance(kind, type) and is_dataclass(kind) and method_of(kind) and self.find is not None:
            raise ValueError(f"{place}.{METHOD}: missing")
        if isinstance(kind, type) and self.find is not None and issubclass(kind, SelfPlain):
            return self._from_plain(kind, value, place)
        if kind is Loss or kind in LOSSES:
            return self._loss(value, place)
        if is_dataclass(kind):
            return self._object(kind, value, place)
        if kind in ATOMS:
            return _atom(kind, value, place)
        if kind in SIMPLE:
            return _simple(kind, value, place)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return kind(_choice([member.value for member in kind], value, place))
        return self._generic(kind, value, place)

    def _named(self, kind: Any, value: dict[str, Any], place: str) -> tuple[type, dict[str, Any]]:
        """Return the class that the data names, and the rest of the data."""
        if self.find is None:
            raise TypeError("no way to find a method")
        rest = {name: entry for name, entry in value.items() if name != METHOD}
        try:
            method = self.find(str(value[METHOD]))
        except ValueError as refusal:
            raise ValueError(f"{place}.{METHOD}: {refusal}") from None
        except AttributeError:
            raise ValueError(f"{place}.{METHOD}: there is no method {value[METHOD]!r} in this version") from None
        if isinstance(kind, type) and is_dataclass(kind) and not issubclass(method, kind):
            raise ValueError(f"{place}.{METHOD}: expected a {kind.__name__}, got {value[METHOD]!r}")
        return method, rest

    def _from_plain(self, kind: Any, value: object, place: str) -> Any:
        if not isinstance(value, dict) or self.find is None:
            _refuse(place, "an object", value)
        return kind.from_plain(value, place, find=self.find, context=self.context)

    def _loss(self, value: object, place: str) -> Any:
        if not isinstance(value, dict):
            _refuse(place, "an object", value)
        amounts = {name: self.read(Fraction, amount, f"{place}.{name}") for name, amount in value.items()}
        try:
            return from_parameters(amounts)
        except ValueError as refusal:
            raise ValueError(f"{place}: {refusal}") from None

    def _generic(self, kind: Any, value: object, place: str) -> Any:
        """Return what a tuple, a choice of values, or one of several types holds."""
        origin, inner = get_origin(kind), get_args(kind)
        if origin is tuple:
            return self._tuple(inner, value, place)
        if origin is Literal:
            return _choice(list(inner), value, place)
        if origin in (Union, types.UnionType):
            if value is None and types.NoneType in inner:
                return None
            kinds = [each for each in inner if each is not types.NoneType]
            if len(kinds) == 1:
                return self.read(kinds[0], value, place)
        if self.find is not None and (kind is object or getattr(kind, "_is_protocol", False)):
            if isinstance(value, dict):
                raise ValueError(f"{place}.{METHOD}: missing")
            _refuse(place, "an object of a method", value)
        raise TypeError(f"{place}: {kind} has no exact plain form")

    def _tuple(self, inner: tuple[Any, ...], value: object, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            _refuse(place, "a list", value)
        each = (inner[0],) * len(value) if inner[1:] == (...,) else inner
        if len(each) != len(value):
            raise ValueError(f"{place}: expected {len(each)} entries, got {len(value)}")
        pairs = enumerate(zip(each, value, strict=True))
        return tuple(self.read(entry_kind, entry, f"{place}[{row}]") for row, (entry_kind, entry) in pairs)

    def _object(self, kind: Any, value: object, place: str) -> Any:
        """Return the object; it must come out with the very numbers of the document, none completed or rounded."""
        if not isinstance(value, dict):
            _refuse(place, "an object", value)
        hints = _hints(kind)
        from_context = {name: self.context[name] for name in hints if name in self.context}
        later = added_later(kind)
        if missing := [name for name in hints if name not in value and name not in from_context and name not in later]:
            raise ValueError(f"{place}.{missing[0]}: missing")
        if unknown := [name for name in value if name not in hints or name in from_context]:
            raise ValueError(f"{place}.{unknown[0]}: unknown field")
        given = {name: self.read(hints[name], entry, f"{place}.{name}") for name, entry in value.items()}
        try:
            made = kind(**from_context, **given)
        except ValueError as refusal:
            raise ValueError(f"{place}: {refusal}") from None
        if changed := [name for name in given if getattr(made, name) != given[name]]:
            raise ValueError(f"{place}.{changed[0]}: must be stated, and exactly")
        if needless := [name for name in given if name in later and given[name] == later[name]]:
            raise ValueError(f"{place}.{needless[0]}: must be left out where it is {later[needless[0]]!r}")
        return made


def _simple(kind: type, value: object, place: str) -> Any:
    """Return a truth value, a text or a number."""
    fitting = type(value) is kind or (kind is float and type(value) is int)
    if not fitting:
        _refuse(place, SIMPLE[kind], value)
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise ValueError(f"{place}: expected {SIMPLE[kind]} below 2^63")
    return float(value) if kind is float else value  # type: ignore[arg-type]  # a number, as checked


def _choice(choices: list[Any], value: object, place: str) -> Any:
    if not any(type(choice) is type(value) and choice == value for choice in choices):
        _refuse(place, f"one of {choices}", value)
    return value


@functools.lru_cache(maxsize=256)
def _hints(kind: Any) -> dict[str, Any]:
    """Return the type of every field, in order."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _atom(kind: type, value: object, place: str) -> Any:
    """Return a fraction or bytes; only the one text that `plain` writes is read."""
    expected, parse = ATOMS[kind]
    if not isinstance(value, str):
        _refuse(place, expected, value)
    try:
        parsed = parse(value)
    except (ValueError, ZeroDivisionError):
        parsed = None
    if parsed is None or plain(parsed) != value:
        _refuse(place, expected, value)
    return parsed


def _refuse(place: str, expected: str, value: object) -> NoReturn:
    got = "another text" if isinstance(value, str) else type(value).__name__
    raise ValueError(f"{place}: expected {expected}, got {got}")
