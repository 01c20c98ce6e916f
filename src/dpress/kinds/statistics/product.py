"""The two products of this kind, statistics of a curator's table and of devices: which of them it is, is asked here."""

import importlib
from typing import Any


def part(name: str, *, local: bool) -> Any:
    """Return a module of the product that asks devices, or of the one that a curator's table is for."""
    return importlib.import_module(f"{__package__}.{'devices' if local else 'curator'}.{name}")
