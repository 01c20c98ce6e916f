"""Correlations from noisy cells: those of other programs without noise, intervals that hold with it, refusals."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.inference.conftest import too_seldom

from dpress.inference.cell_correlations import CellCorrelation
from dpress.inference.interval import critical

RUNS = 400
ROWS, COLUMNS = 6, 8
SCORES = (np.arange(6) * 10.0, np.arange(8) ** 2.0)
Numbers = np.ndarray[Any, Any]


def made(table: Numbers, variance: float, *, ranks: bool) -> CellCorrelation:
    def covariance(forms: Numbers) -> Numbers:
        rows = forms.reshape(len(forms), -1)
        return np.asarray(variance * rows @ rows.T)

    scores = None if ranks else SCORES
    return CellCorrelation(counts=table, covariance=covariance, scores=scores, z=critical(0.95, "laplace"))


def shares(together: float) -> Numbers:
    """Return the shares of a table whose attributes go together so much."""
    rows, columns = np.linspace(-1, 1, ROWS), np.linspace(-1, 1, COLUMNS)
    table = np.exp(-((rows[:, None] - together * columns) ** 2) - rows[:, None] / 2)
    return np.asarray(table / table.sum())


def truth(table: Numbers, *, ranks: bool) -> float:
    first, second = np.meshgrid(*(SCORES if not ranks else (np.arange(ROWS), np.arange(COLUMNS))), indexing="ij")
    times = table.ravel().astype(int)
    pair = np.repeat(first.ravel(), times), np.repeat(second.ravel(), times)
    return float(stats.spearmanr(*pair)[0] if ranks else np.corrcoef(*pair)[0, 1])


@pytest.mark.parametrize("ranks", [True, False])
def test_without_noise_it_is_that_of_the_rows(*, ranks: bool) -> None:
    table = np.random.default_rng(1).multinomial(3000, shares(1.0).ravel()).reshape(ROWS, COLUMNS)  # noqa: TID251
    value, noise, _ = made(table.astype(float), 0.0, ranks=ranks).correlation
    assert value == pytest.approx(truth(table, ranks=ranks))
    assert noise == pytest.approx(0.0)
    if not ranks:
        means = table.sum(axis=1) @ SCORES[0] / 3000, table.sum(axis=0) @ SCORES[1] / 3000
        exact = SCORES[0] @ table @ SCORES[1] / 3000 - means[0] * means[1]
        assert made(table.astype(float), 0.0, ranks=False).covariance_of_scores[0] == pytest.approx(exact)


@pytest.mark.parametrize("ranks", [True, False])
def test_errors_are_those_of_the_gradient(*, ranks: bool) -> None:
    table, step, slopes = shares(1.0) * 5000, 1e-3, np.zeros((ROWS, COLUMNS))
    for place in np.ndindex(ROWS, COLUMNS):
        moved = np.zeros_like(table)
        moved[place] = step
        up, down = (made(table + sign * moved, 1e-12, ranks=ranks).correlation[0] for sign in (1, -1))
        slopes[place] = (up - down) / (2 * step)
    _, noise, sampling = made(table, 1e-12, ranks=ranks).correlation
    assert noise == pytest.approx(math.sqrt(1e-12 * (slopes**2).sum()), rel=1e-3)
    assert sampling == pytest.approx(math.sqrt((table * slopes**2).sum()), rel=1e-3)


def misses(n: int, scale: float, together: float, *, ranks: bool) -> Numbers:
    """Return how many intervals miss: the value of the rows, of the population, and that without the noise."""
    rng, times = np.random.default_rng(n), np.zeros(3, dtype=int)  # noqa: TID251  # made-up rows
    whole = made(shares(together) * 1e9, 0.0, ranks=ranks).correlation[0]
    for _ in range(RUNS):
        table = rng.multinomial(n, shares(together).ravel()).reshape(ROWS, COLUMNS)
        own = made(table + rng.laplace(0, scale, table.shape), 2 * scale**2, ranks=ranks)
        value, noise, sampling = own.correlation
        off = abs(value - truth(table, ranks=ranks)), abs(value - whole), abs(value - whole)
        times += ~(np.array(off) <= own.z * np.array([noise, math.hypot(noise, sampling), sampling]))
    return times


@pytest.mark.parametrize("ranks", [True, False])
@pytest.mark.parametrize(("n", "scale", "together"), [(700, 1.0, 1.0), (5000, 4.0, 0.0), (100_000, 4.0, 2.0)])
def test_intervals_hold_with_noise_and_with_sampling(n: int, scale: float, together: float, *, ranks: bool) -> None:
    of_rows, of_both, _ = misses(n, scale, together, ranks=ranks)
    assert not too_seldom(of_rows, RUNS)
    assert not too_seldom(of_both, RUNS)


def test_intervals_that_ignore_the_noise_are_seen_to_hold_too_seldom() -> None:
    of_rows, of_both, ignored = misses(3000, 6.0, 1.0, ranks=True)
    assert not too_seldom(max(of_rows, of_both), RUNS)
    assert too_seldom(ignored, RUNS)


def test_what_noise_hides_has_no_numbers() -> None:
    rng = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    few = made(shares(1.0) * 20 + rng.laplace(0, 5, (ROWS, COLUMNS)), 50.0, ranks=True)
    assert all(map(math.isnan, few.correlation))
    constant = np.zeros((ROWS, COLUMNS))
    constant[2] = 500.0
    assert all(map(math.isnan, made(constant + rng.laplace(0, 2, constant.shape), 8.0, ranks=False).correlation))
