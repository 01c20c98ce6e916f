"""A test of independence with noise: its level, its power, what ignores the noise, and Cramer's V."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.inference.conftest import FALSE_ALARM, too_seldom

from dpress.inference.interval import critical
from dpress.inference.noisy_independence import NoisyIndependence

LEVEL = 0.05
TABLES = 2000
SMALL = (np.array([0.4, 0.6]), np.array([0.3, 0.7]))
LARGE = (np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.1, 0.1, 0.2, 0.25, 0.35]))
Numbers = np.ndarray[Any, Any]


def noisy(shares: Numbers, n: int, epsilon: float, rng: Any) -> tuple[Numbers, Numbers, float]:
    """Return counts of n rows, the same with discrete Laplace noise, and its variance."""
    rows = rng.multinomial(n, shares.ravel()).reshape(shares.shape).astype(float)
    q = math.exp(-epsilon)
    noise = rng.geometric(1 - q, shares.shape) - rng.geometric(1 - q, shares.shape)
    return rows, rows + noise, 2 * q / (1 - q) ** 2


def independence(table: Numbers, variance: float, draws: int = 499) -> NoisyIndependence:
    noise, z = variance * np.eye(table.size), critical(0.95, "laplace")
    return NoisyIndependence(counts=table, noise=noise, tail="laplace", z=z, draws=draws)


def pearson(table: Numbers) -> float:
    """Return the p-value of the chi-square test that ignores the noise."""
    expected = np.maximum(np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum(), 0.5)
    degrees = (table.shape[0] - 1) * (table.shape[1] - 1)
    return float(stats.chi2.sf(((table - expected) ** 2 / expected).sum(), degrees))


def rejected(margins: tuple[Numbers, Numbers], n: int, epsilon: float, tables: int) -> tuple[int, int]:
    """Return how many independent tables the test rejects at its level, and how many the one that ignores the noise."""
    rng, counted = np.random.default_rng(n + tables), np.zeros(2, dtype=int)  # noqa: TID251  # made-up rows
    for _ in range(tables):
        _, table, variance = noisy(np.outer(*margins), n, epsilon, rng)
        counted += [independence(table, variance).p_value <= LEVEL, pearson(table) <= LEVEL]
    return int(counted[0]), int(counted[1])


def off_level(times: int, tables: int) -> bool:
    """Return whether so many rejections show that the level is another."""
    ends = stats.binom.cdf(times, tables, LEVEL), stats.binom.sf(times - 1, tables, LEVEL)
    return bool(2 * min(ends) < FALSE_ALARM)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("margins", "n", "epsilon"),
    [(SMALL, 300, 0.5), *((LARGE, n, epsilon) for n in (300, 3000, 100_000) for epsilon in (0.5, 2.0))],
)
def test_the_level_holds(margins: tuple[Numbers, Numbers], n: int, epsilon: float) -> None:
    times, _ = rejected(margins, n, epsilon, TABLES)
    assert not off_level(times, TABLES)


def test_the_level_holds_where_the_test_that_ignores_the_noise_rejects_far_too_often() -> None:
    times, ignored = rejected(LARGE, 300, 0.5, 400)
    assert not off_level(times, 400)
    assert off_level(ignored, 400)
    assert ignored > 0.4 * 400


def test_dependence_is_seen() -> None:
    rng = np.random.default_rng(3)  # noqa: TID251  # made-up rows
    shares = np.outer(*LARGE) * (1 + 0.6 * np.outer([1, 1, -1, 0], [1, -1, 1, -1, 0]))
    _, table, variance = noisy(shares / shares.sum(), 3000, 1.0, rng)
    test = independence(table, variance, 999)
    assert test.p_value == 1 / 1000
    assert independence(table, variance, 999).p_value == test.p_value  # the same for everybody


def test_without_noise_it_is_pearson_s() -> None:
    rng = np.random.default_rng(4)  # noqa: TID251  # made-up rows
    table, _, _ = noisy(np.outer(*LARGE), 2000, 1.0, rng)
    test = independence(table, 0.0, 9999)
    expected = stats.chi2_contingency(table, correction=False)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue, abs=0.02)
    cramer = stats.contingency.association(table.astype(int), method="cramer")
    assert test.association.value == pytest.approx(cramer)
    assert test.association.noise == pytest.approx(0.0)


def test_nothing_is_known_of_the_level_where_no_error_is() -> None:
    test = independence(np.array([[5.0, 9.0], [8.0, 2.0]]), math.nan)
    assert math.isnan(test.p_value)
    assert math.isnan(test.association.noise)
    assert test.association.value == pytest.approx(stats.contingency.association([[5, 9], [8, 2]], method="cramer"))


@pytest.mark.parametrize("strength", [0.0, 0.5])
def test_intervals_of_cramer_s_v_hold(strength: float) -> None:
    rng = np.random.default_rng(5)  # noqa: TID251  # made-up rows
    shares = np.outer(*LARGE) * (1 + strength * np.outer([1, 1, -1, 0], [1, -1, 1, -1, 0]))
    shares /= shares.sum()
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    whole = math.sqrt(((shares - expected) ** 2 / expected).sum() / 3)
    missed = np.zeros(2, dtype=int)
    for _ in range(400):
        rows, table, variance = noisy(shares, 5000, 0.5, rng)
        made = independence(table, variance).association
        own = stats.contingency.association(rows.astype(int), method="cramer")
        ends = (made.interval, own), (made.population, whole)
        missed += [not low <= value <= high for (low, high), value in ends]
    assert not any(too_seldom(int(times), 400) for times in missed)


def test_v_is_of_rows_whose_people_are_in_columns_that_are_kept() -> None:
    rng = np.random.default_rng(0)  # noqa: TID251  # made-up noise
    truth = np.tile([30.0, 30.0, 0.0], (40, 1))
    truth[7] = [0.0, 0.0, 20.0]
    table = truth + rng.normal(0, 1, truth.shape)
    test = independence(table, 1.0)
    rows, columns = test.significant
    assert [*columns] == [0, 1]
    assert [*rows] == [*range(7), *range(8, 40)]
    assert test.association == independence(table[np.ix_(rows, columns)], 1.0).association
    assert test.association.interval[0] == 0 < test.association.interval[1] < 0.1


def test_of_a_table_that_is_left_out_step_by_step_nothing_is_known() -> None:
    test = independence(np.array([[0.0, 20.0, 0.0], [30.0, 0.0, 0.0], [0.0, -50.0, 0.0]]), 1.0)
    assert [*map(list, test.significant)] == [[1], [0]]  # a row, whose column is below 0 by another
    assert math.isnan(test.association.value)


def test_a_table_that_noise_hides_has_no_v() -> None:
    made = independence(np.array([[3.0, -1.0], [2.0, 0.0]]), 50.0).association
    assert math.isnan(made.value)
    assert made.interval == (0.0, 1.0)
