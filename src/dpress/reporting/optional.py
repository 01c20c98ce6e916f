"""Packages of the optional extra `[report]`, imported on first use."""

import importlib
import importlib.util
from typing import Any

from dpress.core.errors import NotSupported

MISSING = "the report needs: pip install 'dpress[report]'"
EXTRA = ("altair", "jinja2", "vl_convert")


def needed() -> None:
    """Refuse to begin what ends in a report, where one cannot be made; nothing is imported.

    Raises:
        NotSupported: the extra is not installed.
    """
    if not all(map(importlib.util.find_spec, EXTRA)):
        raise NotSupported(MISSING)


def load(name: str) -> Any:
    """Return a module of the extra `[report]`.

    Raises:
        NotSupported: the extra is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise NotSupported(MISSING) from None
