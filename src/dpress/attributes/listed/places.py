"""Which value of a list a value is: texts are themselves, or the integer, truth or time that they read as."""

import functools
from collections.abc import Hashable, Mapping
from decimal import Decimal
from typing import Any

from dpress.attributes.policy import MISSING, OUTSIDE
from dpress.attributes.value import BLANKS, Kind, Value, number, readings

WORDS = {"true": True, "1": True, "false": False, "0": False}


def cell_of(values: tuple[Any, ...], kind: type, value: Value) -> int:
    """Return the place of a value in a list, OUTSIDE where it is not listed, MISSING where it is not of its type.

    Args:
        values: the list.
        kind: of its values, all of one: str, int or bool.
        value: what is looked for.
    """
    if kind is not str and value.kind in (Kind.MOMENT, Kind.INSTANT, Kind.CLOCK):
        return MISSING
    if isinstance(value.content, str) and kind is int:
        exact = number(value.content)
        if exact is None:
            return MISSING
        value = Value(Kind.NUMBER, exact)
    elif isinstance(value.content, str) and kind is bool:
        word = WORDS.get(value.content.strip(BLANKS).lower())
        if word is None:
            return OUTSIDE
        value = Value(Kind.TRUTH, word)
    return listed(values, kind).get(value, OUTSIDE)


@functools.lru_cache(maxsize=64)
def listed(values: tuple[Any, ...], kind: Hashable) -> Mapping[Value, int]:
    """Return the cell of every value that a list names; of two texts for one number or time, the shorter has it.

    Args:
        values: the list.
        kind: of its values, all of one: str, int or bool.
    """
    places: dict[Value, int] = {}
    for place in sorted(range(len(values)), key=lambda place: len(str(values[place]))):
        name = values[place]
        for value in readings(name) if kind is str else _numbers(int(name)):
            places.setdefault(value, place)
    return places


def _numbers(value: int) -> list[Value]:
    """Return the values that a listed integer or truth stands for: 1 is true, 0 is false."""
    truth = [Value(Kind.TRUTH, value == 1)] if value in (0, 1) else []
    return [Value(Kind.NUMBER, Decimal(value)), *truth]
