"""Dense algebra that the estimators are held against."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.core.maps.linear import LinearMap

FALSE_ALARM = 1e-6
HOLDS = 0.94
"""The least coverage of intervals of 95 %; below it a test must say so."""


def too_seldom(missed: int, intervals: int, together: int = 1) -> bool:
    """Return whether so many misses show that intervals hold less often than `HOLDS`.

    If they hold so often it does with a chance below `FALSE_ALARM`; so many as stand together depend on each other.
    """
    return bool(stats.binom.sf(missed / together - 1, intervals // together, 1 - HOLDS) < FALSE_ALARM)


def _dense(implicit: LinearMap) -> np.ndarray:
    """The matrix of a map, column by column (tests/core pins every map against brute force)."""
    return np.stack([implicit.apply(cell) for cell in np.eye(implicit.cells, dtype=np.int64)], axis=1)


def _solution(matrix: np.ndarray, variance: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weighted least-squares reconstruction R (minimum norm where cells stay open) and its covariance."""
    spread = np.broadcast_to(np.asarray(variance, dtype=float), (len(matrix),))
    back = np.linalg.pinv(matrix / np.sqrt(spread)[:, None]) / np.sqrt(spread)
    return back, back * spread @ back.T


def _uniforms(size: int, seed: int) -> np.ndarray:
    return rng.seeded(seed).words(size) / 2.0**64


@pytest.fixture(scope="session")
def dense() -> Callable[[LinearMap], np.ndarray]:
    return _dense


@pytest.fixture(scope="session")
def solution() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    return _solution


@pytest.fixture(scope="session")
def uniforms() -> Callable[[int, int], np.ndarray]:
    return _uniforms


@pytest.fixture(scope="session")
def false_alarm() -> float:
    return FALSE_ALARM
