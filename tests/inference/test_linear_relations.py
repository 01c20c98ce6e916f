"""Regressions and correlations from noisy moments: least squares without noise, intervals that hold with it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.inference.conftest import too_seldom

from dpress.core.basics.claim import Relation
from dpress.inference.interval import critical
from dpress.inference.linear_relations import Column, Moments, Regression, correlation, covariance, stretch
from dpress.mechanisms.linear.cross_moments import CrossMoments, Degree, feature_places

"""The least coverage of intervals of 95 % that is looked for; below it the test must say so."""
Numbers = np.ndarray[Any, Any]


def moments_of(t: Numbers, degree: Degree, noise: float, rng: Any) -> Moments:
    """Return the moments of rows with Laplace noise of epsilon 1, or Gaussian of rho 1/2, times a factor."""
    p = len(t)
    scales: dict[Degree, tuple[int, ...]] = {0: (1 << 20,) * 4, 1: (1 << 25, (1 << 25) // (3 * p)), 2: (1 << 28,)}
    strategy = CrossMoments(
        shape=(4,) * p, by=(), axes=tuple(range(p)), steps=(3,) * p, degree=degree, scales=scales[degree]
    )
    order = 1 if degree else 2
    size = strategy.sensitivity(order, Relation.ADD_REMOVE)
    variance = (2.0 * size**2 if degree else float(size)) * noise**2
    drawn = (
        rng.laplace(0, math.sqrt(variance / 2), strategy.width)
        if degree
        else rng.normal(0, math.sqrt(variance), strategy.width)
    )
    places = feature_places(p, strategy.pairs)
    z = np.concatenate([np.ones((1, t.shape[1])), t])
    exact = np.zeros(len(strategy.reading))
    exact[places] = z @ z.T
    return Moments(
        features=(exact + strategy.reading @ drawn)[np.newaxis],
        covariance=strategy.covariance(variance),
        merged=np.ones(1),
        places=places,
        z=critical(0.95, "laplace" if degree else "gaussian"),
    )


def plain(n: int, p: int, rng: Any, *, together: float = 0.0, heavy: bool = False) -> tuple[Numbers, Numbers]:
    """Return rows of p - 1 regressors and an outcome, last, and the coefficients of their population."""
    x = rng.normal(0, 0.3, (p - 1, n))
    x[1:] = together * x[:1] + math.sqrt(1 - together**2) * x[1:]
    x = np.clip(x + 0.1, -1, 1)
    residual = rng.standard_t(2.5, n) * 0.05 if heavy else rng.normal(0, 0.2, n)
    return np.vstack([x, -0.2 + 0.3 * x.sum(axis=0) + residual]), np.array([-0.2, *[0.3] * (p - 1)])


def regression_of(moments: Moments) -> Regression:
    p = len(moments.places) - 1
    return Regression(moments=moments, outcome=p, columns=tuple(Column(cells=np.ones(1), number=i) for i in range(p)))


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_without_noise_it_is_least_squares(degree: Degree) -> None:
    rng = np.random.default_rng(1)  # noqa: TID251  # made-up rows
    t, _ = plain(800, 3, rng)
    moments = moments_of(t, degree, 0.0, rng)
    x = np.vstack([np.ones(800), t[:-1]])
    b, residuals, *_ = np.linalg.lstsq(x.T, t[-1], rcond=None)
    found = regression_of(moments).coefficients(np.eye(3), np.zeros(3))
    assert found.value == pytest.approx(b, abs=1e-9)
    assert found.noise == pytest.approx(np.zeros(3), abs=1e-9)
    assert found.sampling == pytest.approx(np.sqrt(residuals[0] / 797 * np.diag(np.linalg.inv(x @ x.T))), rel=1e-6)
    assert correlation(moments, 0, 2)[0] == pytest.approx(np.corrcoef(t[0], t[2])[0, 1], abs=1e-9)
    assert covariance(moments, 0, 2)[0] == pytest.approx(np.cov(t, bias=True)[0, 2], abs=1e-9)


def misses(n: int, degree: Degree, runs: int, rows: Callable[..., tuple[Numbers, Numbers]], p: int = 3) -> Any:
    """Return how many intervals there are, and how many miss: of the rows, of the population, without the noise."""
    rng = np.random.default_rng(n + degree)  # noqa: TID251  # made-up rows
    found = np.zeros(4, dtype=int)
    for _ in range(runs):
        t, beta = rows(n, p, rng)
        moments = moments_of(t, degree, 1.0, rng)
        estimated = regression_of(moments).coefficients(np.eye(p), np.zeros(p))
        if np.isnan(estimated.value).any():
            continue
        exact = np.linalg.lstsq(np.vstack([np.ones(n), t[:-1]]).T, t[-1], rcond=None)[0]
        both = np.hypot(estimated.noise, estimated.sampling)
        outside = [
            np.abs(estimated.value - exact) > moments.z * estimated.noise,
            np.abs(estimated.value - beta) > moments.z * both,
            np.abs(estimated.value - beta) > moments.z * estimated.sampling,
        ]
        found += [p, *(int(each.sum()) for each in outside)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "degree", "rows"),
    [
        (700, 1, plain),
        (3000, 1, plain),
        (3000, 1, lambda *args: plain(*args, heavy=True)),
        (30000, 1, lambda *args: plain(*args, together=0.95)),
        (500, 0, plain),
        (8000, 0, lambda *args: plain(*args, together=0.95)),
        (600, 2, plain),
        (200, 0, plain),  # few are stated at all
        (1_000_000, 1, plain),
    ],
)
def test_intervals_hold_with_noise_and_with_sampling(n: int, degree: Degree, rows: Any) -> None:
    p = 2 if degree == 2 else 3
    runs = 800 if n < 300 else 300 if n < 10_000 else 120 if n < 1_000_000 else 40
    told, of_rows, of_both, _ = misses(n, degree, runs, rows, p)
    assert told > 100
    assert not too_seldom(of_rows, told, p)
    assert not too_seldom(of_both, told, p)


@pytest.mark.slow
def test_intervals_that_ignore_the_noise_are_seen_to_hold_too_seldom() -> None:
    told, _, _, ignored = misses(3000, 1, 300, plain)
    assert too_seldom(ignored, told, 3)


def test_numbers_that_depend_on_each_other_are_refused() -> None:
    rng = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    t, _ = plain(2000, 3, rng, together=1.0)
    for degree in (0, 1):
        fit = regression_of(moments_of(t, degree, 1.0, rng))
        assert fit.fitted is None
        assert np.isnan(fit.coefficients(np.eye(3), np.zeros(3)).value).all()


def test_few_rows_are_refused() -> None:
    rng = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    moments = moments_of(plain(12, 3, rng)[0], 1, 1.0, rng)
    assert regression_of(moments).fitted is None
    assert math.isnan(correlation(moments, 0, 2)[0])
    assert math.isnan(covariance(moments, 0, 2)[0])


def test_errors_are_longer_the_nearer_a_divisor_is_to_zero() -> None:
    assert stretch(1e9) == pytest.approx(1.0)
    assert stretch(6.0) > stretch(7.0) > 1
