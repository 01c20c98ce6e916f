"""zCDP and (epsilon, delta): never too small, close to the true minimum, and no gain in going round."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.core.basics import check
from dpress.core.basics.losses.convert import (
    best_order,
    entry,
    epsilon_for,
    exp_up,
    log_up,
    round_down,
    round_up,
    zcdp_for,
)

rhos = st.fractions(min_value=Fraction(1, 10**6), max_value=1000)
deltas = st.builds(lambda digits, exponent: Fraction(digits, 10**exponent), st.integers(1, 9), st.integers(1, 30))
epsilons = st.fractions(min_value=Fraction(1, 100), max_value=1000)


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Exact delta of a Gaussian mechanism with this rho (Balle and Wang 2018, Theorem 8): a rho-zCDP mechanism."""
    mu = math.sqrt(2 * rho)

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


def at_order(rho: float, delta: float, alpha: float) -> float:
    return rho * alpha + math.log(1 / (alpha * delta)) / (alpha - 1) + math.log1p(-1 / alpha)


def assert_sound(convert: Callable[[Fraction, Fraction], Fraction]) -> None:
    """A Gaussian mechanism must keep the promise, and at the least order of a fine grid the bound is met."""
    for rho in (0.01, 0.1, 0.5, 2.0):
        for delta in (1e-3, 1e-6, 1e-9):
            epsilon = float(convert(Fraction(str(rho)), Fraction(str(delta))))
            assert gaussian_delta(rho, epsilon) <= delta
            least = min(at_order(rho, delta, 1 + 1.001**step) for step in range(-3000, 9000))
            assert least * (1 - 1e-6) <= epsilon <= least + 1e-12


def test_the_conversion_is_sound_and_tight() -> None:
    assert_sound(epsilon_for)


def test_a_planted_conversion_5_percent_too_low_is_caught() -> None:
    with pytest.raises(AssertionError):
        assert_sound(lambda rho, delta: epsilon_for(rho, delta) * Fraction(95, 100))


def test_the_figure_everybody_quotes() -> None:
    assert epsilon_for(0.5, 1e-6) == Fraction("5.221534444530169044220962")


@pytest.mark.slow
@given(rhos, deltas)
def test_there_and_back_never_gains(rho: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_for(rho, delta)
    if not Fraction(1, 100) <= epsilon <= check.LARGEST_LOSS:
        return
    back = zcdp_for(epsilon, delta)
    assert back <= rho + Fraction(1, 10**20)
    assert back >= rho * (1 - Fraction(1, 10**6)) or entry(best_order(epsilon, delta), delta) == 0


@pytest.mark.slow
@given(epsilons, st.builds(lambda exponent: Fraction(1, 10**exponent), st.integers(2, 12)))
def test_a_budget_turned_into_rho_is_kept(epsilon: Fraction, delta: Fraction) -> None:
    rho = zcdp_for(epsilon, delta)
    assert 0 < epsilon_for(rho, delta) <= epsilon
    order = best_order(epsilon, delta)
    assert entry(order, delta) + order * rho <= epsilon


@pytest.mark.slow
@given(rhos, rhos, deltas)
def test_more_rho_costs_more_and_more_delta_costs_less(rho: Fraction, more: Fraction, delta: Fraction) -> None:
    low, high = sorted((rho, more))
    assert epsilon_for(low, delta) <= epsilon_for(high, delta)
    assert epsilon_for(rho, delta / 10) >= epsilon_for(rho, delta)


@given(rhos, deltas, st.fractions(min_value=Fraction(11, 10), max_value=10**4))
def test_no_other_order_does_better(rho: Fraction, delta: Fraction, order: Fraction) -> None:
    assert epsilon_for(rho, delta) <= entry(order, delta) + rho * order + Fraction(2, 10**24)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_logarithm_and_exponential_bound_from_above(value: Fraction) -> None:
    assert exp_up(log_up(value)) > value
    assert float(log_up(value)) == pytest.approx(math.log(value), rel=1e-12, abs=1e-12)


@given(st.fractions(max_denominator=10**30))
def test_rounding_goes_one_way(value: Fraction) -> None:
    assert round_down(value) <= value <= round_up(value)
    assert round_up(value) - round_down(value) <= Fraction(1, 10**24)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 1e-6), (-1, 1e-6), (1, 0), (1, 1), (1001, 1e-6), ("x", 1e-6)])
def test_bad_arguments_are_refused(epsilon: float, delta: float) -> None:
    with pytest.raises(ValueError, match=r"must (be|lie)"):
        zcdp_for(epsilon, delta)
    with pytest.raises(ValueError, match=r"must (be|lie)"):
        epsilon_for(epsilon, delta)


def test_a_budget_too_small_for_any_rho_says_so() -> None:
    with pytest.raises(ValueError, match="no rho >= 1e-9 fits epsilon=1e-06"):
        zcdp_for(1e-6, 1e-6)


@pytest.mark.parametrize("delta", ["0.999999999", "0.5", "1e-300"])
@pytest.mark.parametrize("rho", ["1e-9", "1", "1000"])
def test_the_corners_of_the_range_convert(rho: str, delta: str) -> None:
    assert epsilon_for(rho, delta) >= 0
