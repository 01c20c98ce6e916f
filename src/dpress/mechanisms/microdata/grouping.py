"""Which cells of an attribute a table of several attributes tells apart: groups cut by noisy one-way counts.

noisy counts -> the group of every cell. Post-processing: it sees no record.
"""

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.mechanisms.linear.groups import first_levels

Places = npt.NDArray[np.int64]

HEAVY = 8
"""Times the count of an even group, beyond which a bin is halved."""


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


def in_bins(counts: Array, groups: int, bins: int) -> Places:
    """Return the group of every cell of a number: bins of one width, together where they hold little, halved if much.

    Where noise allows two groups a bin, no bin is put with another, and a sum over bins is one of groups; else
    neighbouring bins are put together as `in_order` does. A bin with more than HEAVY / groups of all is halved, and its
    halves again.

    Args:
        counts: >= 0, shape (cells,).
        groups: how many, about.
        bins: of one width, as near as cells can be; at most as many as cells.

    >>> in_bins(np.array([90.0, 1.0, 1.0, 1.0, 0.0, 1.0, 4.0, 4.0]), 16, 4).tolist()
    [0, 1, 2, 2, 3, 3, 4, 4]
    """
    edges = first_levels(counts.size, bins)
    ends = np.concatenate([[0.0], np.cumsum(counts)])
    of_bins = np.diff(ends[edges])
    joined = np.arange(bins) if 2 * bins <= groups else in_order(of_bins, groups)
    starts = np.flatnonzero(np.diff(joined, prepend=-1))
    cuts = set[int]()
    for start, stop in zip(starts, [*starts[1:], bins], strict=True):
        cuts.add(int(edges[start]))
        if stop - start == 1:
            cuts |= _halved(ends, int(edges[start]), int(edges[stop]), HEAVY * counts.sum() / groups)
    return np.searchsorted(sorted(cuts), np.arange(counts.size), side="right").astype(np.int64) - 1


def _halved(ends: Array, start: int, stop: int, most: float) -> set[int]:
    """Return where cells from start to stop are cut in the middle, again and again, until none has more than most."""
    if stop - start < 2 or ends[stop] - ends[start] <= most:
        return set()
    middle = (start + stop) // 2
    return {middle} | _halved(ends, start, middle, most) | _halved(ends, middle, stop, most)


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
