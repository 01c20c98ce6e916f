"""Uniform subsets: every set equally often, by both ways of drawing. False alarms with chance 1e-6."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.noise import subset

FALSE_ALARM = 1e-6


def drawn(size: int, weight: int, *, included: bool, amount: int, seed: int = 1) -> np.ndarray:
    own = np.arange(amount) % size
    return subset.subsets(own, np.full(amount, included), weight, size, rng=rng.seeded(seed))


def plain(rows: np.ndarray, size: int) -> np.ndarray:
    return np.unpackbits(rows, axis=1, bitorder="little")[:, :size]


def fits(rows: np.ndarray, size: int, weight: int) -> bool:
    """Chi-square over all sets of the others of position 0."""
    sets = [sum(1 << v for v in chosen) for chosen in itertools.combinations(range(1, size), weight)]
    counts = np.bincount(rows, minlength=1 << size)[sets]
    assert counts.sum() == rows.size
    if len(sets) == 1:
        return True
    return bool(stats.chisquare(counts).pvalue > FALSE_ALARM)


@pytest.mark.parametrize("few", [0, 1 << 30], ids=["halving", "sorting"])
@pytest.mark.parametrize(("size", "weight"), [(2, 1), (5, 2), (7, 3), (8, 1), (8, 5), (8, 7)])
def test_all_sets_of_the_weight_are_equally_frequent(
    size: int, weight: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subset, "FEW", few)
    own, never = np.zeros(60_000, dtype=np.int64), np.zeros(60_000, dtype=np.bool_)
    rows = subset.subsets(own, never, weight, size, rng=rng.seeded(weight))[:, 0].astype(int)
    assert fits(rows, size, weight)
    if math.comb(size - 1, weight) > 1:
        rows[:3000] = rows[rows != rows[0]][0] if weight % 2 else rows[0]
        assert not fits(rows, size, weight)


def test_weight_own_position_and_padding() -> None:
    for case in itertools.product(
        [False, True], [1, 3, 500, 3000], [(2, 1), (9, 8), (64, 20), (65, 1), (130, 129), (1024, 275)]
    ):
        included, amount, (size, weight) = case
        rows = drawn(size, weight, included=included, amount=amount)
        assert rows.shape == (amount, -(-size // 8)), case
        assert (np.bitwise_count(rows).sum(axis=1) == weight).all(), case
        found = plain(rows, size)
        assert (found.sum(axis=1) == weight).all(), case
        assert (found[np.arange(amount), np.arange(amount) % size] == included).all(), case


def test_positions_of_a_wide_set_are_alike() -> None:
    own = np.zeros(30_000, dtype=np.int64)
    rows = subset.subsets(own, own.astype(np.bool_), 80, 300, rng=rng.seeded(3))
    found = plain(rows, 300)[:, 1:].sum(axis=0)
    share = 80 / 299
    spread = math.sqrt(30_000 * share * (1 - share)) * stats.norm.isf(FALSE_ALARM / 600)
    assert np.abs(found - 30_000 * share).max() < spread


def test_one_position_holds_itself() -> None:
    assert drawn(1, 1, included=True, amount=3).tolist() == [[1], [1], [1]]
