"""Packages of the optional extra `[report]`, imported on first use."""

import importlib
from typing import Any

from dpress.core.errors import NotSupported


def load(name: str) -> Any:
    """Return a module of the extra `[report]`.

    Raises:
        NotSupported: the extra is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise NotSupported("the report needs: pip install 'dpress[report]'") from None
