"""Which cells of an attribute a table of several attributes tells apart: groups cut by noisy one-way counts.

noisy counts -> the group of every cell. Post-processing: it sees no record.
"""

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array

Places = npt.NDArray[np.int64]


def in_order(counts: Array, groups: int) -> Places:
    """Return the group of every cell of a number, neighbours together, each with about 1 / groups of all.

    A cell that holds more than that is a group of its own; there are at most 2 groups + 1.

    Args:
        counts: >= 0, shape (cells,).
        groups: how many, about.

    >>> in_order(np.array([1.0, 1.0, 9.0, 1.0, 0.0]), 4).tolist()
    [0, 0, 1, 2, 2]
    """
    full = counts.sum() / groups
    places, group, held = np.zeros(counts.size, dtype=np.int64), 0, 0.0
    for cell, count in enumerate(counts):
        if held > 0 and held + count / 2 > full:
            group, held = group + 1, 0.0
        places[cell] = group
        held += count
    return places


def by_count(counts: Array, least: float, most: int) -> Places:
    """Return the group of every category: one for each that counts `least` or more, one for all others.

    Args:
        counts: >= 0, shape (cells,).
        least: how much a category must count.
        most: how many may have a group of their own; the largest have.

    >>> by_count(np.array([50.0, 2.0, 70.0, 1.0]), 10, 64).tolist()
    [0, 2, 1, 2]
    """
    alone = np.zeros(counts.size, dtype=np.bool_)
    alone[np.argsort(-counts, kind="stable")[:most]] = True
    alone &= counts >= least
    return np.where(alone, np.cumsum(alone) - 1, alone.sum()).astype(np.int64)
