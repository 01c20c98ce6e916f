"""Groups of cells: neighbours of a number, rare categories."""

import numpy as np

from dpress.core.basics import rng
from dpress.mechanisms.microdata.grouping import HEAVY, by_count, in_bins, in_order


def test_neighbours_are_put_together_until_a_group_is_full() -> None:
    counts = np.array([5.0, 5.0, 40.0, 1.0, 0.0, 2.0, 30.0, 17.0])
    places = in_order(counts, 8)
    assert (np.diff(places) >= 0).all()
    assert set(np.diff(places)) <= {0, 1}
    sums = np.bincount(places, weights=counts)
    assert sums[~np.isin(sums, counts)].max() <= 1.5 * counts.sum() / 8
    assert np.flatnonzero(places == places[2]).tolist() == [2]


def test_there_are_never_many_more_groups_than_asked_for() -> None:
    tables = 2.0**64 / (1.0 + rng.seeded(1).words(50 * 300).reshape(50, 300))  # Pareto: a few hold nearly all
    assert max(in_order(counts, 10).max() + 1 for counts in tables) <= 21
    assert in_order(np.zeros(7), 4).tolist() == [0] * 7


def test_categories_below_a_count_share_the_last_group() -> None:
    counts = np.array([9.0, 100.0, 0.0, 50.0, 51.0])
    assert by_count(counts, 10, 64).tolist() == [3, 0, 3, 1, 2]
    assert by_count(counts, 10, 2).tolist() == [2, 0, 2, 2, 1]
    assert by_count(counts, 0, 64).tolist() == [0, 1, 2, 3, 4]
    assert by_count(counts, 1000, 64).tolist() == [0] * 5


def test_groups_of_a_number_are_whole_bins_of_one_width_or_parts_of_one() -> None:
    counts = (rng.seeded(2).words(200) % np.uint64(50)).astype(float)
    counts[:4] = 4000.0
    places = in_bins(counts, 12, 16)
    bins = np.arange(200) * 16 // 200
    for group in range(places.max() + 1):
        inside = np.unique(bins[places == group])
        whole = np.isin(bins, inside).sum() == (places == group).sum()
        assert whole or inside.size == 1
        if not whole:
            assert counts[bins == inside[0]].sum() > HEAVY * counts.sum() / 12
    assert np.unique(places[:4]).size > 1
    assert np.array_equal(np.unique(places), np.arange(places.max() + 1))


def test_bins_as_many_as_cells_are_groups_as_before() -> None:
    counts = np.array([5.0, 5.0, 40.0, 1.0, 0.0, 2.0, 30.0, 17.0])
    assert in_bins(counts, 8, 8).tolist() == in_order(counts, 8).tolist()
    assert in_bins(np.zeros(7), 4, 7).tolist() == [0] * 7
