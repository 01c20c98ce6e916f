"""The specification as the TOML that a person would write."""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import date, time
from typing import Any

SECTIONS = ("privacy", "release", "collection", "periods")


def as_toml(plain: Mapping[str, Any]) -> str:
    """Return a specification, given as plain objects; read back, it has the same hash."""
    parts = [_section("[data]", plain["data"])] if plain.get("data") else []
    parts += [_section("[[attribute]]", attribute) for attribute in plain["attribute"]]
    parts += [_section("[[constraint]]", constraint) for constraint in plain.get("constraint", ())]
    parts += [_section(f"[{name}]", plain[name]) for name in SECTIONS if plain.get(name)]
    return "\n\n".join(parts) + "\n"


def _section(head: str, fields: Mapping[str, Any]) -> str:
    return "\n".join([head, *(f"{name} = {_value(value)}" for name, value in _given(fields))])


def _given(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in fields.items() if value is not None and value != {})


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_string(str(key))} = {_value(entry)}" for key, entry in _given(value)) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return _string(value) if isinstance(value, str) else json.dumps(value)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
