"""Packages of the optional extras, imported on first use."""

import importlib
import importlib.util
from typing import Any

from dpress.core.basics.errors import NotSupported


def load(module: str, *, extra: str, need: str) -> Any:
    """Return a module of an extra of dpress.

    Args:
        module: its full name.
        extra: that installs it.
        need: what needs it, with its verb, for the message: "workbooks need".

    Raises:
        NotSupported: the extra is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise NotSupported(f"{need}: pip install 'dpress[{extra}]'") from None


def has_scipy() -> bool:
    """Return whether SciPy is installed, without importing it."""
    return importlib.util.find_spec("scipy") is not None


def scipy(part: str) -> Any:
    """Return a part of SciPy, which is slow to import, and which counts and tables do without.

    Args:
        part: as "optimize".

    Raises:
        NotSupported: it is not installed.
    """
    return load(f"scipy.{part}", extra="numerics", need="this needs SciPy")
