"""Discrete Gaussian: fit, formulas against brute force, the loss of Theorem 4, and planted faults."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.noise import gaussian
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import LEAST, DiscreteLaplace

Fits = Callable[[np.ndarray, Callable[[np.ndarray], np.ndarray]], bool]
DRAWS = 400_000
VARIANCES = [Fraction(1, 4), Fraction(1), Fraction(7, 2), Fraction(100), Fraction(10**6)]


@pytest.mark.parametrize("sigma2", VARIANCES)
def test_draws_fit_the_mass_function(fits: Fits, sigma2: Fraction) -> None:
    noise = DiscreteGaussian(sigma2=sigma2)
    assert fits(noise.sample(DRAWS, rng=rng.seeded(1)), noise.pmf)


@pytest.mark.parametrize("sigma2", VARIANCES)
def test_a_sigma_five_percent_off_is_rejected(fits: Fits, sigma2: Fraction) -> None:
    draws = DiscreteGaussian(sigma2=sigma2 * Fraction(21, 20) ** 2).sample(DRAWS, rng=rng.seeded(1))
    assert not fits(draws, DiscreteGaussian(sigma2=sigma2).pmf)


def test_a_coin_that_keeps_every_proposal_is_rejected(fits: Fits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian, "exponential_coins", lambda gamma, _, rng: np.ones(gamma.size, dtype=bool))  # noqa: ARG005
    noise = DiscreteGaussian(sigma2=Fraction(9))
    draws = noise.sample(DRAWS, rng=rng.seeded(1))
    assert not fits(draws, noise.pmf)
    assert fits(draws, DiscreteLaplace(scale=Fraction(4)).pmf)


@pytest.mark.parametrize("sigma2", [Fraction(1, 3), Fraction(1), Fraction(5), Fraction(90)])
def test_proposal_times_acceptance_is_the_mass_function(sigma2: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """The channel itself: the exact exponents that the coin is given, no sampling."""
    x = np.arange(-60, 61)
    accept = np.empty(x.size)

    def record(gamma: np.ndarray, exact: Callable[[int], Fraction], *, rng: object) -> np.ndarray:  # noqa: ARG001
        exponents = [exact(lane) for lane in range(x.size)]
        near = np.array([exponent < 46 for exponent in exponents])
        errors = [abs(Fraction(float(approx)) - exponent) for approx, exponent in zip(gamma, exponents, strict=True)]
        assert all(error < Fraction(1, 2**44) for error, counts in zip(errors, near, strict=True) if counts)
        accept[:] = [math.exp(-exponent) for exponent in exponents]
        return np.ones(x.size, dtype=bool)

    monkeypatch.setattr(gaussian, "exponential_coins", record)
    noise = DiscreteGaussian(sigma2=sigma2)
    noise._keep(x, rng=rng.seeded(1))
    scale = Fraction(math.isqrt(math.floor(sigma2)) + 1)
    mass = DiscreteLaplace(scale=scale).pmf(x) * accept
    assert np.allclose(mass / mass.sum(), noise.pmf(x), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("sigma2", [Fraction(2**60, 3), Fraction(2**94)])
def test_float_exponents_of_huge_noise_stay_within_the_coins_margin(sigma2: Fraction) -> None:
    noise = DiscreteGaussian(sigma2=sigma2)
    proposals = (np.linspace(0, 9.5, 400) * math.sqrt(sigma2)).astype(np.int64)
    centre = sigma2 / (math.isqrt(math.floor(sigma2)) + 1)
    floats = np.square(np.abs(proposals) - float(centre)) / (2 * float(sigma2))
    exact = [(int(y) - centre) ** 2 / (2 * sigma2) for y in proposals]
    assert max(abs(Fraction(float(a)) - b) for a, b in zip(floats, exact, strict=True)) < Fraction(1, 2**44)
    draws = noise.sample(1000, rng=rng.seeded(1)).astype(float)
    assert 0.8 < (draws**2).mean() / float(sigma2) < 1.2


@pytest.mark.parametrize("sigma2", [Fraction(1, 100), Fraction(1, 4), Fraction(39, 10), Fraction(4), Fraction(1000)])
def test_formulas_equal_brute_force(sigma2: Fraction) -> None:
    noise = DiscreteGaussian(sigma2=sigma2)
    x = np.arange(-2000, 2001)
    mass = np.exp(-(x.astype(float) ** 2) / (2 * float(sigma2)))
    mass /= math.fsum(mass)
    assert np.allclose(noise.pmf(x), mass, rtol=1e-12)
    assert math.isclose(noise.variance, max(LEAST, math.fsum(mass * x.astype(float) ** 2)), rel_tol=1e-12)
    tails = [2 * math.fsum(mass[2000 + t + 1 :]) for t in range(300)]
    for probability in (0.05, 0.5, 0.95, 0.999999):
        expected = next(t for t, tail in enumerate(tails) if tail <= 1 - probability)
        assert noise.quantile(probability) == expected


def test_variance_is_below_sigma2_and_joins_it_smoothly() -> None:
    below = DiscreteGaussian(sigma2=Fraction(4) - Fraction(1, 10**9)).variance
    assert math.isclose(below, 4, rel_tol=1e-9)
    assert DiscreteGaussian(sigma2=Fraction(1, 2)).variance < 0.5
    tiny = DiscreteGaussian(sigma2=Fraction(1, 20)).variance
    assert math.isclose(tiny, 2 * math.exp(-10) / (1 + 2 * math.exp(-10)), rel_tol=1e-10)
    assert DiscreteGaussian(sigma2=Fraction(1, 200)).variance == LEAST


def test_quantile_of_big_noise_continues_the_summed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = DiscreteGaussian(sigma2=Fraction(10**6))
    levels = [0.01, 0.5, 0.9, 0.95, 0.99, 0.999999]
    summed = [noise.quantile(level) for level in levels]
    monkeypatch.setattr(gaussian, "NORMAL_FROM", 1)
    assert [noise.quantile(level) for level in levels] == summed
    monkeypatch.undo()
    assert math.isclose(DiscreteGaussian(sigma2=Fraction(2**90)).quantile(0.95), 1.959963984540054 * 2**45)


@pytest.mark.parametrize("sigma2", [Fraction(1, 2), Fraction(3), Fraction(50)])
@pytest.mark.parametrize("shift", [1, 2])
def test_renyi_divergence_of_neighbours_is_at_most_rho_alpha(sigma2: Fraction, shift: int) -> None:
    """Theorem 4: exp((alpha - 1) D) summed exactly, for several alpha; 5 % less noise breaks it."""
    noise = DiscreteGaussian.calibrate(rho=shift**2 / (2 * sigma2), l2_sensitivity_squared=shift**2)
    assert noise == DiscreteGaussian(sigma2=sigma2)
    rho = float(noise.loss(Fraction(shift**2)).rho)
    x = np.arange(-400, 401)

    def divergence(planted: DiscreteGaussian, alpha: float) -> float:
        logs = -(alpha * x**2.0 + (1 - alpha) * (x - shift) ** 2.0) / (2 * float(planted.sigma2))
        return math.log(np.exp(logs).sum() / planted._total()) / (alpha - 1)

    for alpha in (1.5, 2, 4):
        assert divergence(noise, alpha) <= rho * alpha * (1 + 1e-12)
    assert divergence(DiscreteGaussian(sigma2=sigma2 * Fraction(95, 100)), 2) > rho * 2


def test_loss_is_an_exact_rational() -> None:
    assert DiscreteGaussian(sigma2="0.3").loss(Fraction(1)) == ZCDP(rho=Fraction(5, 3))


def test_a_replayed_generator_gives_the_same_noise() -> None:
    noise = DiscreteGaussian(sigma2=Fraction(30))
    assert (noise.sample(50_000, rng=rng.seeded(5)) == noise.sample(50_000, rng=rng.seeded(5))).all()
    assert noise.sample(0, rng=rng.seeded(5)).size == 0


@pytest.mark.parametrize("sigma2", [Fraction(1, 10**6), Fraction(1, 1000)])
def test_tiny_noise_is_zero(sigma2: Fraction) -> None:
    assert not DiscreteGaussian(sigma2=sigma2).sample(10_000, rng=rng.seeded(1)).any()


@pytest.mark.parametrize("sigma2", [0, -1, "1e-7", 2**95])
def test_sigma2_out_of_range_is_refused(sigma2: object) -> None:
    with pytest.raises(ValueError, match="sigma2 must"):
        DiscreteGaussian(sigma2=sigma2)
