"""Discrete Gaussian noise under every test and every (epsilon, delta): no better told apart than is claimed."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics.losses.convert import zcdp_for
from dpress.core.basics.losses.gaussian_dp import GaussianDP, normal_variance
from dpress.core.basics.losses.gaussian_profile import gaussian_delta, gaussian_epsilon, mu2_for
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.noise.distribution import calibrated
from dpress.noise.gaussian import DiscreteGaussian

SIGMA2 = [Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(7, 2), Fraction(18), Fraction(1000)]
FEW = [(1,), (2,), (1, 1), (3,), (2, 1, 1), (1, 1, 1, 1)]
"""Changes of few numbers, alike in their sums of squares or not."""


def tails(sigma2: float, reach: int) -> np.ndarray:
    """P(X >= c) for c = 1 .. reach, by adding up from far out, so that each has full relative precision."""
    weights = np.exp(-(np.arange(reach + 40 * math.ceil(sigma2**0.5), dtype=float) ** 2) / (2 * sigma2))
    beyond = np.cumsum(weights[::-1])[::-1]
    return beyond[1 : reach + 1] / (2 * beyond[1] + 1)


def least_mu(sigma2: float) -> float:
    """The least mu at which a shift of 1 is mu-GDP: the largest step between normal quantiles of neighbouring tails."""
    quantiles = stats.norm.isf(tails(sigma2, math.ceil(12 * sigma2**0.5 + 4 * min(sigma2, 20))))
    return max(2 * quantiles[0], *np.diff(quantiles))


@pytest.mark.parametrize("sigma2", SIGMA2)
def test_no_test_tells_a_shift_better_than_claimed(sigma2: Fraction) -> None:
    claimed = 1 / math.sqrt(normal_variance(sigma2))
    least = least_mu(float(sigma2))
    assert least <= claimed * (1 + 1e-12)
    if sigma2 >= 1:
        assert claimed <= least * (1 + 0.004 / float(sigma2) ** 2)


@pytest.mark.parametrize("sigma2", SIGMA2)
def test_a_claim_without_the_twelfth_is_caught(sigma2: Fraction) -> None:
    assert least_mu(float(sigma2)) > 1 / math.sqrt(sigma2 - Fraction(1, 13))


def excess(sigma2: float, change: tuple[int, ...], ratio: float) -> float:
    """The sum of max(0, P(x) - ratio P(x - v)) over all outputs of independent noises: by v . x, which tells all."""
    reach = math.ceil(13 * sigma2**0.5)
    law = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * sigma2))
    law /= law.sum()
    projected = np.ones(1)
    for shift in change:
        spread = np.zeros((law.size - 1) * shift + 1)
        spread[::shift] = law
        projected = np.convolve(projected, spread)
    place = np.arange(projected.size) - projected.size // 2
    square = sum(shift**2 for shift in change)
    loss = (square - 2 * place) / (2 * sigma2)  # of x against x - v, at v . x
    return float((projected * np.clip(-np.expm1(np.log(ratio) - loss), 0, None)).sum())


@pytest.mark.parametrize(("sigma2", "change"), [*itertools.product([0.5, 2.0, 18.0, 150.0], FEW)])
def test_delta_of_any_change_of_several_numbers_is_at_most_the_claimed_one_and_near(
    sigma2: float, change: tuple[int, ...]
) -> None:
    mu2 = sum(shift**2 for shift in change) / normal_variance(Fraction(sigma2))
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(2)):
        claimed = float(gaussian_delta(mu2, epsilon))
        exact = excess(sigma2, change, math.exp(epsilon))
        assert exact <= claimed * (1 + 1e-9) + 1e-13
        if sigma2 >= 18 and claimed > 1e-9:
            assert exact >= 0.8 * claimed


def test_the_delta_of_a_smaller_variance_than_claimed_is_caught() -> None:
    mu2 = 1 / normal_variance(Fraction(20))
    assert excess(18.0, (1,), math.e) > float(gaussian_delta(mu2, Fraction(1)))


@pytest.mark.parametrize("mu2", [Fraction(1, 10**6), Fraction(3, 100), Fraction(1), Fraction(6), Fraction(40)])
def test_noise_costs_exactly_what_it_was_calibrated_to_or_less(mu2: Fraction) -> None:
    loss = GaussianDP(mu2=mu2)
    for sensitivity in (Fraction(1), Fraction(7), Fraction(10**4)):
        cost = loss.cost(loss.spread(sensitivity), sensitivity)
        assert cost == mu2 if sensitivity / mu2 >= Fraction(1, 6) else cost < mu2
        noise = calibrated(loss, sensitivity)
        assert isinstance(noise, DiscreteGaussian)
        assert noise.spread == loss.spread(sensitivity)


def test_an_irrational_variance_is_rounded_down() -> None:
    for sigma2 in (Fraction(2), Fraction(17), Fraction(10**9, 7)):
        exact = float(sigma2) * (1 + math.sqrt(1 - 1 / (3 * float(sigma2)))) / 2
        assert float(normal_variance(sigma2)) == pytest.approx(exact, rel=1e-14)
        middle = 2 * normal_variance(sigma2) / sigma2 - 1
        assert 0 < 1 - 1 / (3 * sigma2) - middle**2 < Fraction(1, 10**23)
    with pytest.raises(ValueError, match="at least 1/3"):
        normal_variance(Fraction(3, 10))


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "8", "60"])
@pytest.mark.parametrize("delta", ["0.01", "1e-6", "1e-20"])
def test_the_profile_is_that_of_normal_numbers_and_its_inverses_are_safe(epsilon: str, delta: str) -> None:
    given, slack = Fraction(epsilon), Fraction(delta)
    mu2 = mu2_for(given, slack)
    assert gaussian_delta(mu2, given) <= slack < gaussian_delta(mu2 * Fraction(1000001, 1000000), given)
    assert given * Fraction(999999, 1000000) < gaussian_epsilon(mu2, slack) <= given
    assert mu2 > 2 * zcdp_for(given, slack)
    mu, place = math.sqrt(mu2), float(given)
    log_first, log_second = stats.norm.logsf(place / mu - mu / 2), place + stats.norm.logsf(place / mu + mu / 2)
    formula = math.exp(log_first) * -math.expm1(log_second - log_first)
    assert float(gaussian_delta(mu2, given)) == pytest.approx(formula, rel=1e-9)


def test_a_delta_below_the_tails_is_refused_at_once() -> None:
    assert GaussianDP(mu2=1).at(Fraction(1, 10**45))[0] > 14
    with pytest.raises(ValueError, match=r"delta must be at least 1e-45 beside mu2, got delta=1e-46"):
        GaussianDP(mu2=1).at(Fraction(1, 10**46))
    with pytest.raises(ValueError, match=r"no mu2 >= 1e-9 fits"):
        mu2_for(Fraction(1), Fraction(1, 10**46))


def told_apart(p: float, q: float) -> float:
    return float(stats.norm.ppf(p) - stats.norm.ppf(q))


@pytest.mark.parametrize("width", [0.01, 0.3, 1.0, 3.0, 8.0])
def test_a_choice_costs_at_least_the_worst_pair_of_two_outcomes(width: float) -> None:
    logits = np.linspace(-12, 12, 4001)
    p, q = 1 / (1 + np.exp(-logits - width / 2)), 1 / (1 + np.exp(-logits + width / 2))
    worst = max(map(told_apart, p, q))
    claimed = math.sqrt(GaussianDP(mu2=1).choice_cost(Fraction(width)))
    assert worst <= claimed
    assert claimed <= worst * (1 + width**2 / 40)
    assert GaussianDP(mu2=1).choice_cost(GaussianDP(mu2="1/9").choice_range(3, 1 << 40)) <= Fraction(1, 27)


def test_a_pure_loss_is_a_choice_of_twice_its_range_and_rho_is_none() -> None:
    assert PureDP(epsilon=2).as_mu2 == GaussianDP(mu2=1).choice_cost(Fraction(4))
    assert ZCDP(rho=1).as_mu2 is None
    assert GaussianDP(mu2=3).as_rho == Fraction(3, 2)
    assert GaussianDP(mu2=3).group(2) == GaussianDP(mu2=12)
    assert GaussianDP(mu2=3).together([GaussianDP(mu2=1)]) == GaussianDP(mu2=4)
