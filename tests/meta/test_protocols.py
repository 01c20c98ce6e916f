"""Protocols are bases with defaults, and no default takes the place of a field, or of the room that a class saved."""

import dataclasses
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

SOURCE = Path(__file__).parents[2] / "src"
NEEDS_MORE = ("dpress.__main__",)  # what runs when it is imported


def classes() -> Iterator[type]:
    """Every class that a module of ours defines."""
    for path in sorted((SOURCE / "dpress").rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        if name not in NEEDS_MORE:
            module = importlib.import_module(name)
            yield from (kind for _, kind in inspect.getmembers(module, inspect.isclass) if kind.__module__ == name)


def on_protocols() -> Iterator[type]:
    """Every dataclass with a protocol of ours among its bases."""
    for kind in classes():
        ours = [base for base in kind.__mro__[1:] if base.__module__.startswith("dpress")]
        if dataclasses.is_dataclass(kind) and any(vars(base).get("_is_protocol") for base in ours):
            yield kind


def properties(kind: Any) -> list[str]:
    """The fields whose default is the property of a base."""
    return [field.name for field in dataclasses.fields(kind) if isinstance(field.default, property)]


def spills(kind: type) -> bool:
    """Whether a class with slots has a dictionary beside them."""
    return "__slots__" in vars(kind) and kind.__dictoffset__ != 0


FOUND = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in on_protocols()}


@pytest.mark.parametrize("name", FOUND)
def test_a_protocol_gives_no_field_a_default_and_no_slots_a_dictionary(name: str) -> None:
    assert not properties(FOUND[name])
    assert not spills(FOUND[name])


def test_many_stand_on_protocols() -> None:
    assert len(FOUND) > 60


class Careless(Protocol):
    @property
    def size(self) -> int: ...


def test_a_careless_protocol_is_found() -> None:
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Planted(Careless):
        size: int

    assert properties(Planted) == ["size"]
    assert spills(Planted)
