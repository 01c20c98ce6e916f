"""Tails of discrete Gaussian noise and of sums of it, against sums of its weights and convolutions."""

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.errors import NotSupported
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.gaussian_tails import tail, tail_of_sum

X = np.arange(-400, 401)


def law(sigma2: float) -> np.ndarray:
    return DiscreteGaussian(sigma2=Fraction(sigma2)).pmf(X)


@pytest.mark.parametrize("start", [-9, -1, 0, 1, 2, 7, 30])
@pytest.mark.parametrize("sigma2", [Fraction(1, 2), Fraction(9), Fraction(123, 4)])
def test_a_tail_is_the_sum_of_its_weights(sigma2: Fraction, start: int) -> None:
    found, expected = tail(sigma2, start), law(float(sigma2))[start <= X].sum()
    assert found.low < found.high
    assert float(found.high) == pytest.approx(expected, rel=1e-9)
    assert float(found.high - found.low) <= 1e-40
    assert tail(sigma2, start + 1).high < found.low or expected < 1e-90


@pytest.mark.parametrize("sigma2", [Fraction(1, 3), Fraction(900, 7)])
def test_bounds_hold_in_all_of_their_digits(sigma2: Fraction) -> None:
    context = Context(prec=90)
    weights = [
        Fraction(context.exp(context.divide(Decimal(-(x**2) * sigma2.denominator), Decimal(2 * sigma2.numerator))))
        for x in range(250)
    ]
    for start in (1, 5, 60):
        exact = sum(weights[start:]) / (2 * sum(weights[1:]) + 1)
        assert tail(sigma2, start).low < exact < tail(sigma2, start).high


@pytest.mark.parametrize("parts", [2, 3, 6])
@pytest.mark.parametrize("sigma2", [4.0, 10.5])
def test_a_sum_of_noises_has_the_tail_of_their_convolution(sigma2: float, parts: int) -> None:
    own = law(sigma2)
    whole = own
    for _ in range(parts - 1):
        whole = np.convolve(whole, own)
    values = np.arange(whole.size) - parts * 400
    for start in (-9, 0, 1, 6, 9):
        found, expected = tail_of_sum(Fraction(sigma2), parts, start), whole[values >= start].sum()
        assert float(found.low) <= expected * (1 + 1e-9)
        assert expected * (1 - 1e-9) <= float(found.high)
        assert float(found.high) == pytest.approx(expected, rel=1e-6)
        wrong = tail_of_sum(Fraction(sigma2) * Fraction(101, 100), parts, start)
        assert start in (0, 1) or float(wrong.high) != pytest.approx(expected, rel=1e-6)  # the control


def test_what_cannot_be_bounded_is_refused() -> None:
    with pytest.raises(NotSupported, match=r"a sum of noise is bounded from a variance of 4 on, got 3\.5"):
        tail_of_sum(Fraction(7, 2), 2, 1)
    with pytest.raises(NotSupported, match="a standard deviation of 100,000 is too large for exact tails"):
        tail(Fraction(10**10), 1)
