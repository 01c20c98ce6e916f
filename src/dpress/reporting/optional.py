"""Packages of the optional extra `[report]`, imported on first use."""

import importlib.util
from typing import Any

from dpress.core.basics import extras
from dpress.core.basics.errors import NotSupported

EXTRA = ("altair", "jinja2", "vl_convert")
NEEDED = "the report needs: pip install 'dpress[report]'"


def present() -> bool:
    """Return whether a report can be made; nothing is imported."""
    return all(map(importlib.util.find_spec, EXTRA))


def needed() -> None:
    """Refuse to begin what ends in a report, where one cannot be made.

    Raises:
        NotSupported: the extra is not installed.
    """
    if not present():
        raise NotSupported(NEEDED)


def load(name: str) -> Any:
    """Return a module of the extra `[report]`.

    Raises:
        NotSupported: the extra is not installed.
    """
    return extras.load(name, extra="report", need="the report needs")
