"""The cell of every row in the table over some axes, flattened."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def table_cells(
    codes: npt.NDArray[np.integer[Any]], shape: Sequence[int], axes: Sequence[int]
) -> npt.NDArray[np.int64]:
    """Return the cell of every row, the last of the axes running fastest, shape (rows,); 0 where there is no axis.

    Args:
        codes: shape (attributes, rows).
        shape: the number of cells along every attribute.
        axes: of the table.

    >>> table_cells(np.array([[1, 0], [2, 1]], dtype=np.int32), (2, 3), (0, 1)).tolist()
    [5, 1]
    """
    if not axes:
        return np.zeros(codes.shape[1], dtype=np.int64)
    cells: npt.NDArray[np.int64] = codes[axes[0]].astype(np.int64)
    for axis in axes[1:]:
        cells *= shape[axis]
        cells += codes[axis]
    return cells
