"""Which reports have the id of an earlier one, in few passes and bounded memory.

first words of all ids -> those that several have -> reports with these -> whole ids compared.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Named = tuple[Rows, Words]

MOST = 100_000_000  # first words in memory at a time: 8 bytes each, and one more to compare them
COMPARED = 1 << 23  # first words whose reports are compared at a time


def repeated(
    total: int,
    halves: Callable[[], Iterable[Words]],
    near: Callable[[Words], Iterable[Named]],
    *,
    most: int = MOST,
) -> Rows:
    """Return in order which reports have the id of an earlier one; a report that does not fit takes no one's place.

    The first half of an id tells nearly all apart; only where two agree the reports are read once more and compared.
    More than `most` ids are looked at in several passes, over a range of the first half each.

    Memory: 9 bytes a report, of `most` at a time, where ids are random, as devices draw them; 8 bytes for every one
    that is repeated, and about 100 for each of those of COMPARED first words.

    Args:
        total: how many reports there are, at least.
        halves: gives the first word of every id, part by part, at every call.
        near: gives for sorted first words, part by part, which of the reports that fit begin with one of them, and
            their ids, shape (reports, 2).
        most: how many first words may be in memory.
    """
    ranges = max(1, -(-total // most))
    places = [np.zeros(0, dtype=np.int64)]
    for number in range(ranges):
        low, high = (step * (1 << 64) // ranges for step in (number, number + 1))
        shared = _shared(min(total, most + most // 64), _within(halves(), low, high))
        parts = (shared[start : start + COMPARED] for start in range(0, shared.size, COMPARED))
        places.extend(_later(near(part)) for part in parts)
    return np.sort(np.concatenate(places))


def among(words: Words, shared: Words) -> Flags:
    """Return which words are among some sorted ones."""
    return np.asarray(shared[np.minimum(np.searchsorted(shared, words), shared.size - 1)] == words)


def _within(halves: Iterable[Words], low: int, high: int) -> Iterator[Words]:
    """Yield the words that are at least `low` and less than `high`."""
    for words in halves:
        yield words if high - low == 1 << 64 else words[(words >= np.uint64(low)) & (words <= np.uint64(high - 1))]


def _shared(room: int, halves: Iterable[Words]) -> Words:
    """Return in order the first words that several ids have."""
    collected, count = np.empty(room, dtype=np.uint64), 0
    for words in halves:
        while count + len(words) > len(collected):
            collected = np.concatenate([collected, np.empty(max(len(words), len(collected)), dtype=np.uint64)])
        collected[count : count + len(words)] = words
        count += len(words)
    collected = collected[:count]
    collected.sort()
    return np.unique(collected[1:][collected[1:] == collected[:-1]])


def _later(near: Iterable[Named]) -> Rows:
    """Return which reports have the id of an earlier one of these."""
    parts = list(near)
    row, ids = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
    order = np.lexsort((ids[:, 1], ids[:, 0]))  # stable: equal ids stay in their order
    same = (ids[order[1:]] == ids[order[:-1]]).all(axis=1)
    return np.asarray(row[order[1:][same]])
