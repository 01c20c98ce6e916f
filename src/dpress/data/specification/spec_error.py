"""Turns a validation error of the spec into its place, what would be right, and what stands there."""

import re
from typing import Any, get_args

import msgspec

from dpress.attributes.attribute import KINDS
from dpress.attributes.dates.calendar_cells import Cells
from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics.near import meant
from dpress.core.basics.place import readable

WORDS = {
    "float": "a number",
    "int": "an integer",
    "str": "a string",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "date": "a date such as 2024-12-31",
    "null": "nothing",
}


def first_fault(message: str, plain: dict[str, Any], spec: type[msgspec.Struct]) -> str:
    """Return e.g. `$.privacy.epsilon: expected a number > 0, got -1`; an attribute is named, or counted from 1.

    The spec is public, so its values may be shown.
    """
    fault = re.sub(r"^(\$\.attribute\[\d+\]): attribute [^:]+(?=: )", r"\1", _fault(message, plain, spec))
    return readable(fault, plain)


def _fault(message: str, plain: dict[str, Any], spec: type[msgspec.Struct]) -> str:
    text, _, place = message.partition(" - at `")
    place = place.rstrip("`") or "$"
    if text.startswith("."):  # the check of a section names the field itself
        field, _, rest = text.partition(": ")
        return f"{place}{field}: {rest}"
    value = _look_up(plain, place)
    if unknown := re.match(r"Object contains unknown field `(.+)`", text):
        fields = _fields(place, value, spec)
        return f"{place}: unknown field `{unknown[1]}`; the fields are {', '.join(fields)}{meant(unknown[1], fields)}"
    if missing := re.match(r"Object missing required field `(.+)`", text):
        return f"{place}: the field `{missing[1]}` is missing"
    if text.startswith(("Invalid value", "Invalid enum value")):
        choices = _choices(place)
        hint = meant(str(value), re.findall(r"[a-z-]{5,}", choices[8:]))
        return f"{place}: {choices}, got {_show(value)}{hint}"
    text = text.replace("Invalid RFC3339 encoded date", "Expected `date`")
    if not text.startswith("Expected `"):  # our own message
        return f"{place}: {text}"
    wanted = re.sub(r"`([^`]+)`", lambda match: _words(match[1]), text.partition(", got ")[0])
    return f"{place}: {wanted[:1].lower()}{wanted[1:]}, got {_show(value)}"


def too_large(plain: Any, place: str = "$") -> str:
    """Return the place of the first integer that does not fit 64 bits; empty where all do.

    >>> too_large({"attribute": [{"bins": 10**30}]})
    '$.attribute[0].bins'
    """
    if isinstance(plain, dict):
        faults = [too_large(value, f"{place}.{name}") for name, value in plain.items()]
    elif isinstance(plain, (list, tuple)):
        faults = [too_large(value, f"{place}[{row}]") for row, value in enumerate(plain)]
    else:
        return place if isinstance(plain, int) and not -(1 << 63) <= plain < 1 << 63 else ""
    return next(filter(None, faults), "")


def _look_up(plain: Any, place: str) -> Any:
    for name, index in re.findall(r"\.([^.\[]+)|\[(\d+)\]", place):
        try:
            plain = plain[name] if name else plain[int(index)]
        except (KeyError, IndexError, TypeError):
            return None
    return plain


def _fields(place: str, value: Any, spec: type[msgspec.Struct]) -> list[str]:
    names = re.findall(r"\.([^.\[]+)", place)
    struct = spec
    if names[:1] == ["attribute"]:
        struct = KINDS.get(value.get("kind", ""), Categorical) if isinstance(value, dict) else Categorical
        return ["kind", *(field.encode_name for field in msgspec.structs.fields(struct))]
    if names:
        module = {field.name: field.type for field in msgspec.structs.fields(spec)}[names[0]]
        struct = next(kind for kind in getattr(module, "__args__", (module,)) if kind is not type(None))
    return [field.encode_name for field in msgspec.structs.fields(struct)]


def _choices(place: str) -> str:
    choices = {
        "kind": f"expected one of {', '.join(KINDS)}",
        "model": "expected central or local",
        "relation": "expected add-remove or replace-one",
        "outside": "expected clamp, drop or reject",
        "cells": f"expected one of {', '.join(get_args(Cells))}",
    }
    path = re.sub(r"\[\d+\]", "", place.removeprefix("$."))
    return choices.get(path) or choices.get(path.rsplit(".", 1)[-1], "expected another value")


def _words(types: str) -> str:
    return " or ".join(WORDS.get(name, name) for name in types.split(" | ") if name != "null") or "nothing"


def _show(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return repr(value) if isinstance(value, str) else str(value)
