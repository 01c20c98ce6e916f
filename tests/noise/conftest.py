"""Statistics and fake generators of the noise tests. Every test of fit raises a false alarm with chance 1e-6."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng

FALSE_ALARM = 1e-6
LEAST_EXPECTED = 20


class Scripted:
    """A generator that hands out the given words, then fails: every word a branch reads is accounted for."""

    def __init__(self, words: Iterable[int]) -> None:
        self.left = list(words)

    def words(self, size: int) -> np.ndarray:
        assert size <= len(self.left), "more words were read than the branch needs"
        out, self.left = self.left[:size], self.left[size:]
        return np.array(out, dtype=np.uint64)

    def fill(self, out: np.ndarray) -> None:
        out[...] = self.words(out.size).reshape(out.shape)


class Counting:
    """A seeded generator that counts its words."""

    def __init__(self, seed: int) -> None:
        self.inner = rng.seeded(seed)
        self.count = 0

    def words(self, size: int) -> np.ndarray:
        self.count += size
        return self.inner.words(size)

    def fill(self, out: np.ndarray) -> None:
        self.count += out.size
        self.inner.fill(out)


def _chi_square_fits(observed: np.ndarray, expected: np.ndarray) -> bool:
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return bool(stats.chi2.sf(statistic, len(expected) - 1) > FALSE_ALARM)


def _fits(draws: np.ndarray, pmf: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Chi-square of integer draws against a symmetric mass; values expected too rarely form two tails."""
    reach = int(np.abs(draws).max()) + 1
    mass = pmf(np.arange(-reach, reach + 1))
    often = np.flatnonzero(mass * len(draws) >= LEAST_EXPECTED)
    low, high = often[0], often[-1]
    counts = np.bincount(draws + reach, minlength=len(mass))
    tail = (1 - mass[low : high + 1].sum()) / 2
    expected = np.concatenate([[tail], mass[low : high + 1], [tail]]) * len(draws)
    observed = np.concatenate([[counts[:low].sum()], counts[low : high + 1], [counts[high + 1 :].sum()]])
    return _chi_square_fits(observed[expected > 0], expected[expected > 0])


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    """Two-sample chi-square of integer draws, equally many; rare values are pooled into two tails."""
    values, counts = np.unique(np.concatenate([first, second]), return_counts=True)
    often = values[counts >= LEAST_EXPECTED]
    edges = np.concatenate([[-np.inf], often[:-1] + 0.5, [np.inf]])
    table = np.array([np.histogram(sample, edges)[0] for sample in (first, second)])
    return bool(stats.chi2_contingency(table).pvalue > FALSE_ALARM)


@pytest.fixture(scope="session")
def false_alarm() -> float:
    return FALSE_ALARM


@pytest.fixture(scope="session")
def chi_square_fits() -> Callable[[np.ndarray, np.ndarray], bool]:
    return _chi_square_fits


@pytest.fixture(scope="session")
def fits() -> Callable[[np.ndarray, Callable[[np.ndarray], np.ndarray]], bool]:
    return _fits


@pytest.fixture(scope="session")
def same() -> Callable[[np.ndarray, np.ndarray], bool]:
    return _same


@pytest.fixture(scope="session")
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture(scope="session")
def counting() -> type[Counting]:
    return Counting
