"""What a specification may set in [release.parameters]: structs that bear every parameter's type, bounds and meaning.

A method's `Card` and a kind's `Kind` name one each. Checks, refusals, `dpress list METHOD` and the tables of the
reference are read off them.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from dpress.core.basics import check

PLACE = "$.release.parameters"
WORDS = {int: "an integer", float: "a number", Fraction: "a number", str: "a text", bool: "true or false"}
LONGEST = 80  # characters of a value that a refusal shows


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a method or of a kind of release; this one has none.

    A field's `Meta` has the bounds and one sentence, `description`; where types alone do not say what would be right,
    a `title` does. A field that is None by default may be left out, one without a default may not. A number whose
    decimals are meant as written (`0.1`, `"1/3"`) is a Fraction.
    """


class Probability(Fraction):
    """A number strictly between 0 and 1, as exact as it is written."""


WORDS[Probability] = "a number between 0 and 1"
Own = TypeVar("Own", bound=Parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter, as the reference shows it.

    Args:
        name: its key in [release.parameters].
        annotation: its type with its bounds.
        sentence: what it is for.
        needed: whether it may not be left out.
    """

    name: str
    annotation: Any
    sentence: str
    needed: bool

    @property
    def type(self) -> str:
        """What its values are, e.g. "an integer >= 2"."""
        return words(self.annotation)


@functools.cache
def listed(struct: type[Parameters]) -> tuple[Parameter, ...]:
    """Return the parameters of a struct, in its order."""
    hints = get_type_hints(struct, include_extras=True)
    return tuple(
        Parameter(
            name=field.name,
            annotation=hints[field.name],
            sentence=_first(_metas(hints[field.name]), "description"),
            needed=field.required,
        )
        for field in msgspec.structs.fields(struct)
    )


def names(struct: type[Parameters]) -> tuple[str, ...]:
    """Return the names of the parameters of a struct.

    >>> names(Parameters)
    ()
    """
    return struct.__struct_fields__


def arguments(struct: type[Parameters], given: Mapping[str, Any], whose: str) -> dict[str, Any]:
    """Return what is given of a struct's parameters, as it is written, without what is None.

    Args:
        struct: the struct.
        given: values by name; others than the struct's are passed over.
        whose: the name of the method, for a refusal.

    Raises:
        ValueError: a value is not what it must be, or one that is needed is missing; the line names its place.
    """
    read(struct, given, whose)
    return {name: given[name] for name in names(struct) if given.get(name) is not None}


def read(struct: type[Own], given: Mapping[str, Any], whose: str = "") -> Own:
    """Return the struct with what is given of its parameters; see `arguments`."""
    values = {}
    for parameter in listed(struct):
        if given.get(parameter.name) is not None:
            values[parameter.name] = _converted(parameter, given[parameter.name])
        elif parameter.needed:
            raise ValueError(f"{PLACE}.{parameter.name}: {whose or 'this kind of release'} needs it")
    return struct(**values)


def _converted(parameter: Parameter, value: Any) -> Any:
    try:
        return msgspec.convert(value, parameter.annotation, dec_hook=_exact)
    except (msgspec.ValidationError, RecursionError):
        right = _right(parameter.annotation, value)
        raise ValueError(f"{PLACE}.{parameter.name}: expected {right}, got {_shown(value)}") from None


def _exact(kind: type, value: Any) -> Fraction:
    checked = check.probability if kind is Probability else check.exact
    return kind(checked("it", value))  # type: ignore[no-any-return]  # there are two such kinds


def _right(annotation: Any, value: Any) -> str:
    """Return what would be right in the place of a value; where only an upper bound is passed, that bound."""
    most = _first(_metas(annotation), "le")
    if most != "" and type(value) in (int, float) and value > most:
        return f"at most {most}"
    return words(annotation)


def words(annotation: Any) -> str:
    """Return what the values of a type are, in words.

    >>> words(Annotated[int, msgspec.Meta(ge=1, le=10)] | None)
    'an integer from 1 to 10'
    >>> words(Literal["best", 2] | list[float])
    '"best", 2 or a list of numbers'
    """
    if title := _first(_metas(annotation), "title"):
        return str(title)
    if get_origin(annotation) is Annotated:
        inner, *metas = get_args(annotation)
        return words(inner) + _bounds(inner, metas)
    if get_origin(annotation) in (Union, UnionType):
        return _either([part for kind in get_args(annotation) if kind is not type(None) for part in _choices(kind)])
    if get_origin(annotation) is list:
        return f"a list of {_plural(words(get_args(annotation)[0]))}"
    return _either(_choices(annotation))


def _choices(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in get_args(annotation)]
    return [WORDS[annotation] if annotation in WORDS else words(annotation)]


def _either(parts: list[str]) -> str:
    return " or ".join([", ".join(parts[:-1]), parts[-1]] if parts[:-1] else parts)


def _plural(phrase: str) -> str:
    """Return "numbers >= 0" for "a number >= 0"."""
    noun, space, rest = phrase.partition(" ")[2].partition(" ")
    return f"{noun}s{space}{rest}"


def _bounds(inner: Any, metas: list[msgspec.Meta]) -> str:
    low, high = _first(metas, "ge"), _first(metas, "le")
    above = _first(metas, "gt")
    if high != "" and (low != "" or above != ""):
        between = "from {} to {}" if inner is int else "between {} and {}"
        return " " + between.format(low if low != "" else above, high)
    return "".join(f" {sign} {bound}" for sign, bound in ((">=", low), (">", above), ("<=", high)) if bound != "")


def _metas(annotation: Any) -> list[msgspec.Meta]:
    """Return what a type bears, also one that may be left out."""
    if get_origin(annotation) is Annotated:
        return [*annotation.__metadata__, *_metas(get_args(annotation)[0])]
    given = [kind for kind in get_args(annotation) if kind is not type(None)]
    return _metas(given[0]) if get_origin(annotation) in (Union, UnionType) and len(given) == 1 else []


def _first(metas: list[msgspec.Meta], name: str) -> Any:
    return next((value for meta in metas if (value := getattr(meta, name)) is not None), "")


def _shown(value: Any) -> str:
    """Return a value as a refusal shows it: specifications are public."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
