"""Regressions on noisy cells: those of the rows without noise, intervals that hold with it, refusals."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize
from tests.inference.conftest import HOLDS, too_seldom

from dpress.inference.cell_models import NO_MAXIMUM, RARE, SINGULAR, CellModel
from dpress.inference.interval import critical

"""The least coverage of intervals of 95 % that is looked for; below it the test must say so."""
BETA = np.array([-1.0, 1.5, 0.6])
AGES = 20
Numbers = np.ndarray[Any, Any]


def cells() -> tuple[Numbers, Numbers]:
    """Return the columns and the outcome of every cell: 20 ages, two sexes, no or yes."""
    age, sex, outcome = (part.ravel() for part in np.meshgrid(np.linspace(0, 1, AGES), [0, 1], [0, 1], indexing="ij"))
    return np.stack([np.ones(age.size), age, sex]), outcome.astype(float)


def model_of(counts: Numbers, variance: float, link: Any = "logistic", columns: Any = None) -> CellModel:
    x, outcome = cells()
    return CellModel(
        counts=counts,
        covariance=lambda forms: variance * forms @ forms.T,
        columns=x if columns is None else columns,
        outcome=outcome,
        link=link,
        z=critical(0.95, "laplace"),
    )


def people(n: int, rng: Any, beta: Numbers = BETA) -> Numbers:
    """Return the counts of the cells of n people."""
    x, _ = cells()
    of_cell = rng.multinomial(n, np.full(x.shape[1] // 2, 2 / x.shape[1]))
    yes = rng.binomial(of_cell, 1 / (1 + np.exp(-beta @ x[:, ::2])))
    return np.stack([of_cell - yes, yes], axis=1).ravel().astype(float)


def likelihood_of(counts: Numbers) -> Numbers:
    """Return the largest likelihood's coefficients, by another program's search."""
    x, y = cells()
    loss = lambda b: float(counts @ (np.logaddexp(0, b @ x) - y * (b @ x)))  # noqa: E731  # one line
    return np.asarray(optimize.minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x)


def test_without_noise_it_is_the_largest_likelihood() -> None:
    counts = people(2000, np.random.default_rng(1))  # noqa: TID251  # made-up rows
    fitted = model_of(counts, 0.0).fitted
    assert fitted.value == pytest.approx(likelihood_of(counts), abs=1e-4)
    assert fitted.noise == pytest.approx(np.zeros(3))
    x, _ = cells()
    chance = 1 / (1 + np.exp(-fitted.value @ x))
    information = (x * (counts * chance * (1 - chance))) @ x.T
    assert fitted.sampling == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information))), rel=0.1)  # the model is true


def test_without_noise_it_is_least_squares() -> None:
    counts = people(2000, np.random.default_rng(1))  # noqa: TID251  # made-up rows
    x, y = cells()
    rows = np.repeat(np.arange(y.size), counts.astype(int))
    exact = np.linalg.lstsq(x[:, rows].T, y[rows], rcond=None)[0]
    assert model_of(counts, 0.0, "identity").fitted.value == pytest.approx(exact)


def misses(n: int, scale: float, runs: int) -> Numbers:
    """Return how many coefficients there are, and how many intervals miss: of the rows, of both, without the noise."""
    rng = np.random.default_rng(n)  # noqa: TID251  # made-up rows
    missed = np.zeros(4, dtype=int)
    for _ in range(runs):
        counts = people(n, rng)
        model = model_of(counts + rng.laplace(0, scale, counts.size), 2 * scale**2)
        if not model.refusal:
            fit, exact = model.fitted, model_of(counts, 0.0).fitted.value
            both = np.hypot(fit.noise, fit.sampling)
            outside = [
                np.abs(fit.value - exact) > model.z * fit.noise,
                np.abs(fit.value - BETA) > model.z * both,
                np.abs(fit.value - BETA) > model.z * fit.sampling,
            ]
            missed += [3, *(int(each.sum()) for each in outside)]
    return missed


@pytest.mark.parametrize(("n", "scale"), [(800, 1.0), (3000, 4.0), (100_000, 4.0), (1_000_000, 1.0)])
def test_intervals_hold_with_noise_and_with_sampling(n: int, scale: float) -> None:
    coefficients, of_rows, of_both, _ = misses(n, scale, 400)
    assert coefficients > 900
    assert not too_seldom(of_rows, coefficients, 3)
    assert not too_seldom(of_both, coefficients, 3)
    assert 1 - of_rows / coefficients >= HOLDS  # at these seeds
    assert 1 - of_both / coefficients >= HOLDS


def test_intervals_that_ignore_the_noise_are_seen_to_hold_too_seldom() -> None:
    coefficients, of_rows, _, ignored = misses(6000, 8.0, 400)
    assert not too_seldom(of_rows, coefficients, 3)
    assert too_seldom(ignored, coefficients, 3)


def test_what_noise_hides_is_refused_with_the_reason() -> None:
    rng = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    x, _ = cells()
    counts = people(3000, rng)
    twice = np.concatenate([x, x[1:2] * 2])
    assert model_of(counts, 2.0, columns=twice).refusal in (SINGULAR, NO_MAXIMUM)
    assert model_of(counts, 2.0, "identity", columns=twice).refusal == SINGULAR
    few = people(12, rng) + rng.laplace(0, 4, counts.size)
    assert model_of(few, 32.0).refusal
    nobody = people(3000, rng, np.array([-30.0, 0.0, 0.0])) + rng.laplace(0, 1, counts.size)
    assert model_of(nobody, 2.0).refusal == RARE
    assert np.isnan(model_of(nobody, 2.0).fitted.value).all()


def test_an_outcome_that_is_certain_has_no_maximum() -> None:
    x, y = cells()
    certain = np.where(x[2] == y, 100.0, 0.0)
    assert model_of(certain, 0.0).refusal == NO_MAXIMUM
