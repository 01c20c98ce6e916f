"""OpenDP as an independent oracle: its draws and ours come from one distribution, and its loss equals ours.

OpenDP cannot be seeded, so each run may raise a false alarm with the stated chance of 1e-6; the controls are
far enough off (10 %) that missing one is rarer still.
"""

import functools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

dp = pytest.importorskip("opendp.prelude")
dp.enable_features("contrib")

Same = Callable[[np.ndarray, np.ndarray], bool]
DRAWS = 100_000


@functools.cache
def theirs(kind: str, scale: float) -> np.ndarray:
    """DRAWS of their sampler, the slowest part of this file."""
    return np.array(measurement(kind, scale)([0] * DRAWS))


def measurement(kind: str, scale: float) -> Callable[[list[int]], list[int]]:
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if kind == "laplace":
        return dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=scale)
    return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 4.0, 60.0])
def test_laplace_draws_come_from_the_same_distribution(same: Same, scale: float) -> None:
    for factor, accepted in ((1, True), (Fraction(11, 10), False)):
        ours = DiscreteLaplace(scale=Fraction(scale) * factor).sample(DRAWS, rng=rng.seeded(1))
        assert same(theirs("laplace", scale), ours) is accepted


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [1.0, 4.0, 60.0])
def test_gaussian_draws_come_from_the_same_distribution(same: Same, sigma: float) -> None:
    for factor, accepted in ((1, True), (Fraction(11, 10), False)):
        ours = DiscreteGaussian(sigma2=(Fraction(sigma) * factor) ** 2).sample(DRAWS, rng=rng.seeded(1))
        assert same(theirs("gaussian", sigma), ours) is accepted


@pytest.mark.slow
def test_their_moments_are_our_formulas(false_alarm: float) -> None:
    from scipy import stats

    limit = stats.norm.isf(false_alarm / 2)
    for kind, noise in (("laplace", DiscreteLaplace(scale=Fraction(4))), ("gaussian", DiscreteGaussian(sigma2=16))):
        draws = theirs(kind, 4.0).astype(float)
        fourth = float((noise.pmf(np.arange(-400, 401)) * np.arange(-400, 401.0) ** 4).sum())
        spread = math.sqrt((fourth - noise.variance**2) / DRAWS)
        assert abs((draws**2).mean() - noise.variance) < limit * spread
        assert abs((draws**2).mean() - 1.2 * noise.variance) > limit * spread


@pytest.mark.parametrize("scale", [1, 3, 50])
def test_losses_agree(scale: int) -> None:
    pure = measurement("laplace", float(scale)).map(2)
    assert math.isclose(pure, float(DiscreteLaplace(scale=Fraction(scale)).loss(Fraction(2)).epsilon), rel_tol=1e-12)
    rho = measurement("gaussian", float(scale)).map(2.0)
    assert math.isclose(rho, float(DiscreteGaussian(sigma2=Fraction(scale**2)).loss(Fraction(4)).rho), rel_tol=1e-12)


@pytest.mark.parametrize("scale", [1, 5, 1000])
@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.001])
def test_quantiles_agree_with_their_accuracy(scale: int, alpha: float) -> None:
    """Their accuracy a is the real number with P(|X| >= a) = alpha by the tail formula; ours the integer below it."""
    accuracy = dp.discrete_laplacian_scale_to_accuracy(float(scale), alpha)
    noise = DiscreteLaplace(scale=Fraction(scale))
    assert noise.quantile(str(1 - Fraction(str(alpha)))) == math.ceil(accuracy - 1e-9) - 1
