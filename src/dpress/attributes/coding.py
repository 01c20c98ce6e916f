"""The code of one value, from the value and the specification alone: the definition that every reader of rows equals.

value -> what it is (`attributes.value`) -> a cell, or OUTSIDE, or MISSING -> what the specification says of those two.
It needs NumPy and nothing else, so that a device can do it.
"""

import functools
import math
from collections.abc import Hashable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.attributes.attribute import Tabular
from dpress.attributes.bounded_attribute import WALKED, Integer, Numeric
from dpress.attributes.dated_attribute import Dated
from dpress.attributes.domain import Schema
from dpress.attributes.listed_attribute import Listed
from dpress.attributes.local_time import hour_of
from dpress.attributes.policy import DROP, REJECT
from dpress.attributes.set_members import SetMembers, words
from dpress.attributes.string_candidates import StringCandidates, bytes_of, padded
from dpress.attributes.value import BLANKS, Kind, Value, number, read, readings, text_of
from dpress.core.basics.errors import SchemaMismatch

DROPPED = -1
OUTSIDE = -2
MISSING = -3
FAR = 1 << 62  # beyond all bounds
WORDS = {"true": True, "1": True, "false": False, "0": False}


def codes(schema: Schema, values: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the cell of every attribute's value, of a set its words: what a device reports about.

    Args:
        schema: of tabular attributes.
        values: by attribute; more of them do no harm.

    Raises:
        SchemaMismatch: a value is not there, or one that the specification rejects or drops (it is not shown).
    """
    return tuple(found for attribute in schema.tabular for found in _present(attribute, values))


def code(attribute: Tabular, value: Any) -> int:
    """Return the cell of a value; DROPPED where the specification leaves its row out.

    Args:
        attribute: with cells of its own.
        value: a Python object or a NumPy scalar. None, NaN and what is no text, number, truth or time are missing.

    Raises:
        SchemaMismatch: the specification rejects the value (it is not shown).
    """
    found = cell(attribute, value)
    return found if found >= 0 else settle(attribute, found)


def cell(attribute: Tabular, value: Any) -> int:
    """Return the cell of a value, OUTSIDE where it has none, MISSING where it is missing or not of its type."""
    found = read(value)
    return MISSING if found is None else cell_of(attribute, found)


def cell_of(attribute: Tabular, value: Value) -> int:
    """Return the cell of what a value is, OUTSIDE or MISSING."""
    if isinstance(attribute, StringCandidates):
        return _candidate(attribute, value)
    if isinstance(attribute, Listed):
        return _listed(attribute, value)
    if isinstance(attribute, Dated):
        hour = hour_of(value, attribute.clocks)
        return MISSING if hour is None else int(cells_of_hours(attribute, np.array([hour]))[0])
    exact, numbers = number_of(value), attribute.numbers
    if exact is None or numbers is None:
        return MISSING
    if not numbers.whole:
        return int(cells(numbers, np.array([float(exact)]))[0])
    whole = math.floor(exact) if -FAR < exact < FAR else FAR if exact > 0 else -FAR
    return int(cells(numbers, np.array([whole]))[0])


def settle(attribute: Tabular, found: int) -> int:
    """Return the cell that the specification gives to OUTSIDE or MISSING values, or DROPPED.

    Raises:
        SchemaMismatch: it rejects them.
    """
    policy = attribute.policies.null if found == MISSING else attribute.policies.outside
    if policy == REJECT:
        fault = (
            f"a value is missing or not of its type; say what to do in `{attribute.missing}`"
            if found == MISSING
            else f"a value is not in its cells; say what to do in `{attribute.beside}`"
        )
        raise SchemaMismatch(f"attribute {attribute.name}: {fault}, or clean the data")
    return DROPPED if policy == DROP else attribute.size - len(attribute.extra) + attribute.extra.index(policy)


def cells_of_hours(attribute: Dated, hours: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Return the cell of every hour since 1970, OUTSIDE outside the bounds unless dates are clamped."""
    if attribute.period is None:
        return attribute.cells_of(hours).astype(np.int32)
    first, end = attribute.period
    found = attribute.cells_of(np.clip(hours, first, end - 1)).astype(np.int32)
    if attribute.outside != "clamp":
        found[(hours < first) | (hours >= end)] = OUTSIDE
    return found


def cells(attribute: Integer | Numeric, numbers: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return the cell of every number, OUTSIDE outside the bounds unless values are clamped.

    Args:
        attribute: integers, or numbers in bins.
        numbers: for an integer attribute whole ones, as 64-bit integers or floats; otherwise 64-bit floats.
    """
    low, high = attribute.ends
    if isinstance(attribute, Integer):
        high -= 1
    near = np.clip(numbers, low, high)
    if isinstance(attribute, Integer) and attribute.bins is not None and attribute.span <= WALKED:
        found = _cells_of_integers(attribute)[np.asarray(near - low, dtype=np.int64)]
    elif isinstance(attribute, Integer) and attribute.bins is None:
        found = np.asarray(near - low, dtype=np.int32)
    else:
        found = np.asarray(np.minimum(attribute.edge_below(near), attribute.ordered - 1), dtype=np.int32)
    if attribute.outside != "clamp":
        found[(numbers < low) | (numbers > high)] = OUTSIDE
    return found


@functools.lru_cache(maxsize=64)
def _cells_of_integers(attribute: Integer) -> npt.NDArray[np.int32]:
    """Return the cell of every integer between the bounds."""
    low, high = attribute.bounds
    return np.minimum(attribute.edge_below(np.arange(low, high + 1)), attribute.ordered - 1).astype(np.int32)


def number_of(value: Value) -> Decimal | None:
    """Return the exact number of a value: true is 1, a text what it reads as; None where it has none."""
    if isinstance(value.content, Decimal):
        return value.content
    if isinstance(value.content, str):
        return number(value.content)
    return Decimal(value.content) if value.kind is Kind.TRUTH else None


def _candidate(attribute: StringCandidates, value: Value) -> int:
    text, longest = text_of(value), attribute.longest
    return MISSING if text is None else int(attribute.cells(padded([bytes_of(text, longest)], longest))[0])


def _present(attribute: Tabular, values: Mapping[str, Any]) -> tuple[int, ...]:
    if attribute.name not in values:
        raise SchemaMismatch(f"attribute {attribute.name}: the data has no column {attribute.name!r}")
    value = values[attribute.name]
    found = _set_of(attribute, value) if isinstance(attribute, SetMembers) else (code(attribute, value),)
    if DROPPED in found:
        raise SchemaMismatch(f"attribute {attribute.name}: a value is one that the specification drops")
    return found


def _set_of(attribute: SetMembers, value: Any) -> tuple[int, ...]:
    """Return the words of a set: a list of values, or a text of them with the separator between."""
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        held = [one for one in value if one is not None]
    elif isinstance(value, (str, bytes)):
        held = attribute.parts(str(read(value).content))  # type: ignore[union-attr]  # a text is a value
    elif read(value) is None:
        held = []
        if attribute.null is not None:
            found = settle(attribute.one, MISSING)
            return (DROPPED,) if found == DROPPED else words([found], attribute.size)
    else:
        held = [value]
    own = [cell(attribute.one, one) for one in held]
    places = [settle(attribute.one, OUTSIDE) if one < 0 else one for one in own]
    return (DROPPED,) if DROPPED in places else words(places, attribute.size)


def _listed(attribute: Listed, value: Value) -> int:
    """Return the cell of a value in a list; a text is itself, or the integer or truth that it reads as."""
    kind: type = type(attribute.values[0])
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
    return listed(attribute.listed, kind).get(value, OUTSIDE)


@functools.lru_cache(maxsize=64)
def listed(values: tuple[Any, ...], kind: Hashable) -> Mapping[Value, int]:
    """Return the cell of every value that a list names; of two texts for one number or time, the shorter has it.

    Args:
        values: the list.
        kind: of its values, all of one: str, int or bool.
    """
    found: dict[Value, int] = {}
    for place in sorted(range(len(values)), key=lambda place: len(str(values[place]))):
        one = values[place]
        for value in readings(one) if kind is str else _numbers(int(one)):
            found.setdefault(value, place)
    return found


def _numbers(value: int) -> list[Value]:
    """Return the values that a listed integer or truth stands for: 1 is true, 0 is false."""
    truth = [Value(Kind.TRUTH, value == 1)] if value in (0, 1) else []
    return [Value(Kind.NUMBER, Decimal(value)), *truth]
