"""Repeated ids against a dictionary, in one pass and in many; memory does not grow with the number of ids."""

import tracemalloc

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.data.reports import repeated_ids
from dpress.data.reports.repeated_ids import among, repeated


class Ids:
    """Ids of two words, in parts; which are sound; and how often all were read."""

    def __init__(self, words: np.ndarray, part: int = 100) -> None:
        self.words, self.part, self.passes = words, part, 0
        self.sound = np.arange(len(words)) % 7 != 3

    def halves(self):
        self.passes += 1
        return (own[:, 0] for own in self.parts())

    def parts(self):
        return (self.words[start : start + self.part] for start in range(0, len(self.words), self.part))

    def near(self, shared):
        for place, own in enumerate(self.parts()):
            start = place * self.part
            rows = np.flatnonzero(self.sound[start : start + self.part] & among(own[:, 0], shared))
            yield rows + start, own[rows]

    def repeated(self) -> list[int]:
        """By a dictionary."""
        seen, found = set(), []
        for row in np.flatnonzero(self.sound).tolist():
            own = tuple(self.words[row].tolist())
            found += [row] if own in seen else []
            seen.add(own)
        return found


def drawn(number: int, values: int) -> np.ndarray:
    """Ids of which many are equal, and more agree in one word only."""
    own = rng.seeded(3).words(2 * number).reshape(-1, 2) % np.uint64(values)
    return own * np.uint64((1 << 64) // values - 1)


@pytest.mark.parametrize("most", [1 << 20, 1000, 300, 7])
@pytest.mark.parametrize("values", [1, 20, 60, 10_000])
def test_in_any_number_of_passes(values, most, monkeypatch):
    monkeypatch.setattr(repeated_ids, "COMPARED", 9)
    ids = Ids(drawn(2500, values))
    found = repeated(2500, ids.halves, ids.near, most=most)
    assert found.tolist() == ids.repeated()
    assert ids.passes == -(-2500 // most)
    assert len(found) > (500 if values < 100 else -1)


def test_the_ends_of_the_ranges_belong_to_one():
    """Ids at both ends of every range, twice each."""
    ends = [number * (1 << 64) // 3 + step for number in (0, 1, 2, 3) for step in (-1, 0)]
    words = np.array([[end, 5] for end in ends if 0 <= end < 1 << 64] * 2, dtype=np.uint64)
    ids = Ids(words)
    assert repeated(len(words), ids.halves, ids.near, most=-(-len(words) // 3)).tolist() == ids.repeated()


def test_no_id():
    ids = Ids(np.zeros((0, 2), dtype=np.uint64))
    assert repeated(0, ids.halves, ids.near).tolist() == []


@pytest.mark.slow
def test_memory_is_bounded():
    """8 million ids are 64 MB; looked at by the million, they take a little more than 9 MB at a time."""
    taken = {}
    for most in (1 << 20, 1 << 23):
        source = rng.seeded(4)

        def halves(source=source):
            return (source.words(1 << 16) for _ in range(128))

        tracemalloc.start()
        repeated(1 << 23, halves, lambda _: [(np.zeros(0, np.int64), np.zeros((0, 2), np.uint64))], most=most)
        taken[most] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    assert taken[1 << 20] < 16
    assert taken[1 << 23] > 64  # the control
