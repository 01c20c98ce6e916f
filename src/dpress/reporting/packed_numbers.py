"""Numbers in the data of a page: as they are where they are whole, else as base64 of float64, little-endian."""

import base64

import numpy as np

from dpress.core.maps.linear import Array


def packed(numbers: Array) -> str | list[int]:
    """Return numbers as JSON has them, without any loss.

    >>> packed(np.array([1.0, -2.0])), packed(np.array([0.5]))
    ([1, -2], 'AAAAAAAA4D8=')
    """
    flat = np.asarray(numbers, dtype=np.float64).ravel()
    if np.all(np.isfinite(flat)) and not np.any(flat % 1):
        return flat.astype(np.int64).tolist()
    return base64.b64encode(flat.astype("<f8").tobytes()).decode()
