"""A noisy table is taken where it is clear, and left where it is noise."""

import numpy as np
import pytest

from dpress.core import rng
from dpress.inference.maps.population import normal
from dpress.mechanisms.microdata.pair_shrinkage import shrink

EXPECTED = np.outer([0.5, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4])
TILT = 0.02 * np.outer([1, -1, 0], [1, -1, 1, -1])


def noise_of(seed: int, deviation: float) -> np.ndarray:
    return deviation * normal(EXPECTED.size, rng=rng.seeded(seed)).reshape(EXPECTED.shape)


def test_without_noise_the_table_is_what_was_measured() -> None:
    assert shrink(EXPECTED, EXPECTED + TILT, 1e-12) == pytest.approx(EXPECTED + TILT, abs=1e-6)


def test_under_noise_alone_it_is_about_what_was_expected() -> None:
    """Not always exactly: by chance some noise looks like more. Taken for exact, it would be followed."""
    noisy = [EXPECTED + noise_of(seed, 0.01) for seed in range(50)]
    drawn, followed = (
        np.mean([np.abs(shrink(EXPECTED, one, variance) - EXPECTED).sum() for one in noisy])
        for variance in (0.01**2, 1e-12)
    )
    assert drawn < 0.4 * followed


def test_margins_are_those_expected_and_no_share_is_below_zero() -> None:
    for seed in range(20):
        noisy = EXPECTED + TILT + noise_of(seed, 0.05)
        found = shrink(EXPECTED, noisy, 0.05**2)
        assert found.min() >= 0
        assert found.sum(axis=0) == pytest.approx(EXPECTED.sum(axis=0), abs=1e-6)
        assert found.sum(axis=1) == pytest.approx(EXPECTED.sum(axis=1), abs=1e-6)


def test_it_is_nearer_to_the_truth_than_what_was_measured_and_than_what_was_expected() -> None:
    truth, spread = EXPECTED + TILT, 0.01
    noisy = [truth + noise_of(seed, spread) for seed in range(50)]
    found = np.mean([np.abs(shrink(EXPECTED, one, spread**2) - truth).sum() for one in noisy])
    assert found < np.mean([np.abs(one - truth).sum() for one in noisy])
    assert found < np.abs(EXPECTED - truth).sum()


def test_a_table_of_one_row_says_nothing_beyond_its_margins() -> None:
    one = np.array([[0.3, 0.7]])
    assert shrink(one, np.array([[0.9, 0.1]]), 1e-6) is one
