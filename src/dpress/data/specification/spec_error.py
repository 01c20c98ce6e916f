"""Turns a validation error of the spec into its place, what would be right, and what stands there."""

import re
from typing import Any, get_args, get_origin

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
    "datetime": "a time with its zone, such as 2026-12-31T18:00:00Z",
    "null": "nothing",
}

LISTS = ("attribute", "constraint")  # of sections
PAIR = re.compile(r"\.bounds\[\d+\]$")
SHORT = 40  # letters of a list that is shown
SIGN = 'expected one sign, such as ";", or "\\t" for a tab'
WANTED = {
    "$.data.separator": SIGN,
    "$.data.header": 'expected true, or the names of the columns, such as ["age", "sex"]',
    "$.attribute.labels": 'expected a table, such as { f = "female" }, or the name of a file',
    "$.data.where": 'expected a condition in quotes, such as "year = 2024"',
    "$.release.method": "expected a method's name (a strategy of your own is measured with its `.mechanism(loss)`)",
}
"""What some fields may be, where the types alone do not tell people."""
ALIASES = {
    "separator": ("delimiter", "delim", "sep", "field_separator"),
    "null_values": ("na_values", "na", "null", "nulls", "missing", "missing_values"),
    "source": ("path", "file", "filename", "data", "sheet", "table", "url"),
    "where": ("filter", "condition", "query", "select", "rows", "subset"),
    "encoding": ("charset", "codec"),
    "quote": ("quotechar", "quote_char"),
    "header": ("names", "columns", "has_header"),
    "bounds": ("range", "min", "max", "low", "high", "lower", "upper", "limits", "domain"),
    "bins": ("buckets", "intervals", "cells", "n_bins"),
    "values": ("categories", "choices", "options", "levels", "domain"),
    "null": ("missing", "na", "default", "fill"),
    "outside": ("clip", "clamp", "clipping", "clamping"),
    "kind": ("type", "dtype"),
    "unit": ("id", "person", "user", "privacy_unit", "key"),
    "rows_per_unit": ("cap", "max_rows", "rows_per_person", "contributions"),
}
"""What other programs call fields."""
NOISE = "; the budget chooses the noise: Laplace of epsilon, Gaussian of rho or of epsilon and delta"
NO_FIELDS = {
    **dict.fromkeys(("$.privacy.mechanism", "$.privacy.noise", "$.privacy.distribution"), NOISE),
    **dict.fromkeys(("$.privacy.seed", "$.release.seed", "$.data.seed"), "; noise that a seed repeats protects nobody"),
}
"""What other programs have fields for, and this one has none."""
OTHER_KINDS = {
    **dict.fromkeys(("string", "text", "str", "bool", "boolean", "enum", "factor", "nominal"), "categorical"),
    **dict.fromkeys(("float", "double", "real", "decimal", "number", "continuous"), "numeric"),
    **dict.fromkeys(("time", "timestamp"), "datetime"),
}
"""What other programs call kinds of attributes."""
OTHER_WORDS = {
    "kind": OTHER_KINDS,
    "relation": {
        **dict.fromkeys(("bounded", "substitution", "substitute", "replace", "swap", "change-one"), "replace-one"),
        **dict.fromkeys(("unbounded", "add", "remove", "addition", "removal", "symmetric"), "add-remove"),
    },
    "model": {
        **dict.fromkeys(("curator", "trusted", "global", "server", "table"), "central"),
        **dict.fromkeys(("device", "devices", "ldp", "client", "shuffle", "shuffled"), "local"),
    },
}
"""What papers and other programs call what a field may be."""


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
        hint = (
            _alias(unknown[1], fields)
            or NO_FIELDS.get(f"{place}.{unknown[1]}", "")
            or meant(unknown[1], fields)
            or _elsewhere(unknown[1], place, spec)
        )
        return f"{place}: unknown field `{unknown[1]}`; the fields are {', '.join(fields)}{hint}"
    if missing := re.match(r"Object missing required field `(.+)`", text):
        return f"{place}: the field `{missing[1]}` is missing"
    return f"{place}: {_of_value(text, place, value, spec)}"


def _of_value(text: str, place: str, value: Any, spec: type[msgspec.Struct]) -> str:
    """Return what was expected in place of a value."""
    if text.startswith(("Invalid value", "Invalid enum value")):
        if place == "$.release.attributes" and isinstance(value, str):
            return f'expected a list such as ["{value}"], or "all", got {_show(value)}'
        choices = _choices(place)
        alias = OTHER_WORDS.get(place.rsplit(".", 1)[-1], {}).get(str(value).lower(), "")
        hint = f"; did you mean {alias!r}?" if alias else meant(str(value), re.findall(r"[a-z][a-z-]{2,}", choices[8:]))
        return f"{choices}, got {_show(value)}{hint}"
    if sections := _brackets(place, value, spec):
        return sections
    text = re.sub("Invalid RFC3339 encoded (date(?:time)?)", r"Expected `\1`", text)
    if not text.startswith("Expected `"):  # our own message
        return text
    wanted = re.sub(r"`([^`]+)`", lambda match: _words(match[1]), text.partition(", got ")[0])
    wanted = WANTED.get(re.sub(r"\[\d+\]", "", place), wanted[:1].lower() + wanted[1:])
    if wanted == "expected a list" and PAIR.search(place):
        wanted = "expected the bounds of two columns, such as [[-180, 180], [-90, 90]]"
    elif wanted in ("expected a list", "expected a list of length 2") and place.endswith(".bounds"):
        wanted = "expected two bounds, such as [0, 99]; of a location two pairs, such as [[-180, 180], [-90, 90]]"
    example = f' such as ["{value}"]' if wanted.endswith(" a list") and isinstance(value, str) else ""
    return f"{wanted}{example}, got {_show(value)}"


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
        section = next(kind for kind in getattr(module, "__args__", (module,)) if kind is not type(None))
        struct = get_args(section)[0] if get_origin(section) is tuple else section
    return [field.encode_name for field in msgspec.structs.fields(struct)]


def _alias(name: str, fields: list[str]) -> str:
    """Return the field that other programs call so; empty where none is."""
    plain = name.lower().replace("-", "_")
    alike = next((field for field, names in ALIASES.items() if plain in names and field in fields), "")
    return f"; did you mean {alike!r}?" if alike else ""


def _elsewhere(name: str, place: str, spec: type[msgspec.Struct]) -> str:
    """Return which section has a field that another one, or none, was given; empty where none has."""
    sections = [section.name for section in msgspec.structs.fields(spec) if section.name != "attribute"]
    if place == "$.release":
        return f"; a parameter of the kind stands in braces: parameters = {{ {name} = ... }}"
    has = next((section for section in sections if name in _fields(f"$.{section}", None, spec)), "")
    brackets = f"[[{has}]]" if has in LISTS else f"[{has}]"
    return f"; `{name}` is a field of {brackets}" if has and not place.startswith(f"$.{has}") else ""


def _brackets(place: str, value: Any, spec: type[msgspec.Struct]) -> str:
    """Return how a section is written that has the wrong number of brackets; empty of anything else."""
    name = place.removeprefix("$.")
    if name in LISTS and isinstance(value, dict):
        return f"expected a list: every {name} begins with [[{name}]], in two brackets, got [{name}]"
    sections = {section.name for section in msgspec.structs.fields(spec)} - {*LISTS}
    if name in sections and isinstance(value, list):
        return f"expected one section [{name}], in single brackets, got [[{name}]]"
    return ""


def _choices(place: str) -> str:
    choices = {
        "kind": f"expected one of {', '.join(KINDS)}",
        "model": "expected central or local",
        "relation": "expected add-remove or replace-one",
        "outside": "expected clamp, drop or reject",
        "cells": f"expected one of {', '.join(get_args(Cells))}",
        "values": 'expected a list such as ["f", "m"], or "discover"',
        "counter": "expected separate, tree, smooth or auto",
        "missing_unit": 'expected "reject" or "drop"',
        "data.decimal": 'expected "." or ","',
        "data.thousands": """expected ".", ",", " ", "'" or a narrow space""",
    }
    path = re.sub(r"\[\d+\]", "", place.removeprefix("$."))
    return choices.get(path) or choices.get(path.rsplit(".", 1)[-1], "expected another value")


def _words(types: str) -> str:
    return " or ".join(WORDS.get(name, name) for name in types.split(" | ") if name != "null") or "nothing"


def _show(value: Any) -> str:
    if isinstance(value, list) and len(text := str(value)) <= SHORT:
        return text
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, str) else str(value)
    return type(value).__name__ if "\n" in text else text  # as of an array
