"""Tables of clusters: non-negative, with the margins they are given, and better than what they were made of."""

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.inference.normal import normal
from dpress.mechanisms.microdata.cluster_tables import agreed, one_way_totals, refined

TRUTH = np.array([[400.0, 100.0, 0.0, 0.0], [0.0, 20.0, 0.0, 300.0], [5.0, 5.0, 60.0, 0.0]])
SIZES, TOTALS = TRUTH.sum(axis=1), TRUTH.sum(axis=0)


def test_what_agrees_already_is_left_alone() -> None:
    assert np.allclose(agreed(TRUTH, SIZES, TOTALS), TRUTH)
    assert np.allclose(one_way_totals(TOTALS, TRUTH, (1.0, 5.0), TOTALS.sum()), TOTALS)


def test_tables_have_the_sizes_and_are_nearer_to_the_truth_than_the_noise() -> None:
    generator, before, after = rng.seeded(1), 0.0, 0.0
    for _ in range(50):
        noisy = TRUTH + 30 * normal(12, rng=generator).reshape(3, 4)
        table = agreed(noisy, SIZES, TOTALS)
        assert table.min() >= 0
        assert np.allclose(table.sum(axis=1), SIZES)
        before, after = before + np.abs(noisy - TRUTH).sum(), after + np.abs(table - TRUTH).sum()
    assert after < 0.7 * before


def test_an_empty_cluster_and_an_empty_bin_stay_empty() -> None:
    table = agreed(np.array([[-3.0, 9.0], [5.0, 5.0]]), np.array([0.0, 10.0]), np.array([10.0, 0.0]))
    assert table.tolist() == [[0.0, 0.0], [10.0, 0.0]]


def test_the_better_histogram_weighs_more() -> None:
    whole, clusters = np.array([10.0, 30.0]), np.array([[10.0, 0.0], [20.0, 10.0]])
    assert one_way_totals(whole, clusters, (1e-9, 1.0), 40.0) == pytest.approx([10, 30])
    assert one_way_totals(whole, clusters, (1.0, 1e-9), 40.0) == pytest.approx([30, 10])
    assert one_way_totals(whole, clusters, (2.0, 1.0), 40.0) == pytest.approx([20, 20])


def test_bins_are_spread_as_everybody_is_or_evenly() -> None:
    bins = np.array([0, 0, 1, 1])
    assert refined(np.array([[8.0, 6.0]]), bins, np.array([3.0, 1.0, 0.0, 0.0])).tolist() == [[6.0, 2.0, 3.0, 3.0]]
