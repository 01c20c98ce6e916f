"""Which reports have the id of an earlier one, in two passes and 8 bytes of memory for each report."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def repeated(total: int, halves: Iterable[Words], pieces: Callable[[], Iterator[tuple[Words, Flags]]]) -> Rows:
    """Return in order which reports have the id of an earlier one; a report that does not fit takes no one's place.

    The first half of an id tells nearly all apart; only where two agree the reports are read once more and compared.

    Args:
        total: how many reports there are, at least.
        halves: the first word of every id, piece by piece.
        pieces: gives once more the ids, shape (reports, 2), and which reports fit.
    """
    shared = _shared(total, halves)
    if not shared.size:
        return np.zeros(0, dtype=np.int64)
    places, found, start = [], [], 0
    for ids, sound in pieces():
        near = np.minimum(np.searchsorted(shared, ids[:, 0]), shared.size - 1)
        own = np.flatnonzero(sound & (shared[near] == ids[:, 0]))
        places.append(own + start)
        found.append(ids[own])
        start += len(ids)
    row, own_ids = np.concatenate(places), np.concatenate(found)
    order = np.lexsort((own_ids[:, 1], own_ids[:, 0]))  # stable: equal ids stay in their order
    same = (own_ids[order[1:]] == own_ids[order[:-1]]).all(axis=1)
    return np.sort(row[order[1:][same]])


def _shared(total: int, halves: Iterable[Words]) -> Words:
    """Return the first halves that several ids have."""
    found, count = np.empty(total, dtype=np.uint64), 0
    for own in halves:
        found[count : count + len(own)] = own
        count += len(own)
    found = found[:count]
    found.sort()
    return np.unique(found[1:][found[1:] == found[:-1]])
