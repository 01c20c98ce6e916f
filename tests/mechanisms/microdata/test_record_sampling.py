"""Rows from public tables: as many of each code as its share says, and in no order."""

import numpy as np

from dpress.core.basics import rng
from dpress.mechanisms.microdata.record_sampling import drawn, mixture, representative, shuffled

FALSE_ALARM = 1e-9


def test_codes_are_drawn_to_their_shares_rounded_up_or_down() -> None:
    weights = np.array([0.0, 3.0, 1.0, 0.0, 2.5, 0.0])
    for seed, size in enumerate((1, 7, 100, 1301)):
        counts = np.bincount(drawn(weights, size, rng=rng.seeded(seed)), minlength=6)
        assert counts.sum() == size
        assert np.all(np.abs(counts - size * weights / weights.sum()) < 1 + 1e-9)
        assert counts[weights == 0].sum() == 0


def test_nothing_to_draw_by_is_even_and_no_rows_are_none() -> None:
    assert np.bincount(drawn(np.zeros(4), 8, rng=rng.seeded(1))).tolist() == [2, 2, 2, 2]
    assert drawn(np.ones(3), 0, rng=rng.seeded(1)).size == 0


def test_every_permutation_is_about_as_likely() -> None:
    """A chi-squared statistic of 5 degrees of freedom is above 53 with a chance of 3e-10 < FALSE_ALARM."""
    generator, draws = rng.seeded(2), 6000
    seen = np.bincount([int(shuffled(3, rng=generator) @ [9, 3, 1]) for _ in range(draws)])
    counts = seen[seen > 0]
    assert counts.size == 6
    assert ((counts - draws / 6) ** 2 / (draws / 6)).sum() < 53
    assert ((counts * [1.3, 0.7, 1, 1, 1, 1] - draws / 6) ** 2 / (draws / 6)).sum() > 53  # the control


def test_a_mixture_keeps_what_goes_together_between_clusters_and_nothing_within_one() -> None:
    tables = [np.array([[5.0, 0.0], [0.0, 9.0]]), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])]
    codes = mixture(tables, np.array([300, 600]), rng=rng.seeded(3))
    assert codes.dtype == np.int32
    table = np.bincount(codes[0] * 3 + codes[1], minlength=6).reshape(2, 3)
    assert table.tolist() == [[300, 0, 0], [0, 300, 300]]
    assert 0 < (codes[0][:300] == 0).sum() < 300  # not cluster after cluster; wrong with a chance below 1e-70


def test_representatives_are_as_many_as_said() -> None:
    codes = representative(np.array([[4, 5], [6, 7]], dtype=np.int32), np.array([2, 3]), rng=rng.seeded(1))
    assert sorted(codes.T.tolist()) == [[4, 6], [4, 6], [5, 7], [5, 7], [5, 7]]
