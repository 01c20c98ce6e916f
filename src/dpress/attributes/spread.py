"""How made-up values are spread, to look at before anything is spent: about nobody, the same every time.

Nothing is read from anywhere: numbers and dates gather in the middle of their bounds, earlier values are more frequent.
"""

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator


def bell(rows: int, rng: Generator) -> npt.NDArray[np.float64]:
    """Return numbers in [0, 1) around the middle, shape (rows,)."""
    return (_uniform(rows, rng) + _uniform(rows, rng) + _uniform(rows, rng)) / 3


def falling(rows: int, size: int, rng: Generator) -> npt.NDArray[np.int64]:
    """Return places below `size`, the earlier the more often, shape (rows,)."""
    return (_uniform(rows, rng) ** 2 * size).astype(np.int64)


def _uniform(rows: int, rng: Generator) -> npt.NDArray[np.float64]:
    return (rng.words(rows) >> np.uint64(11)).astype(np.float64) / 2.0**53
