"""Shares from all tables that hold an attribute: the precision of least squares, and no bias."""

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.inference.normal import normal
from dpress.inference.records.margins import pooled

RUNS = 2000
FALSE_ALARM = 1e-6  # five standard errors


def test_the_variance_is_that_of_all_that_was_measured() -> None:
    exact, source = np.full((3, 2), 1 / 6), rng.seeded(4)
    spread = 1e-4
    found = []
    for _ in range(RUNS):
        own = exact.sum(axis=1) + 0.01 * normal(3, rng=source)
        table = exact + 0.01 * normal(6, rng=source).reshape(3, 2)
        pair = {(0, 1): (table, spread)}
        found.append(pooled([own, np.full(2, 0.5)], [np.full(3, spread), np.full(2, spread)], pair)[0])
    of_one = 1 / (1 / spread + 1 / (2 * spread))
    expected = of_one * 2 / 3  # shares add up to 1
    error = expected * (2 / (3 * RUNS)) ** 0.5 * 5 * 1.3  # cells of a run are correlated
    assert np.mean((np.array(found) - 1 / 3) ** 2) == pytest.approx(expected, abs=error)
    assert expected + error < 0.8 * spread  # the shares alone would be found


def test_a_table_with_much_noise_changes_nothing() -> None:
    own = [np.array([0.2, 0.8]), np.array([0.5, 0.3, 0.2])]
    spreads = [np.full(one.size, 1e-6) for one in own]
    found = pooled(own, spreads, {(0, 1): (np.full((2, 3), 5.0), 1e9)})
    assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(found, own, strict=True))


def test_no_share_is_zero() -> None:
    found = pooled([np.array([-0.3, 1.3])], [np.full(2, 1.0)], {})[0]
    assert found.min() > 0
    assert found.sum() == pytest.approx(1)
