"""Loops that NumPy cannot keep in the cache: compiled by numba where it is installed, else plain Python."""

import functools
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

SLOW = (
    "numba is not installed, so loops over rows and reports take some hundred times longer: "
    "pip install 'dpress[numerics]'"
)


@functools.cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop compiled by numba, or as it is where numba is missing, after a warning; the results are the same.

    A device never needs it, and numba takes a second to import: call this when the loop is about to run.

    Args:
        loop: over arrays and numbers alone; its unsigned integers wrap around.
    """
    if importlib.util.find_spec("numba") is None:
        warnings.warn(SLOW, stacklevel=1)
        return np.errstate(over="ignore")(loop)
    from numba import njit  # noqa: PLC0415  # as above

    made: Callable[..., Any] = njit(cache=True, nogil=True)(loop)
    return made
