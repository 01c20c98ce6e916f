"""oue: the paper's probabilities and variance."""

import math
from fractions import Fraction

import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.oracle.oue import Oue


def oue(size: int, epsilon: float = 1) -> Oue:
    return Oue(size=size, loss=PureDP(epsilon=epsilon))


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_probabilities_and_variance_are_the_papers(epsilon: float) -> None:
    oracle, power = oue(1024, epsilon), math.exp(epsilon)
    assert oracle.p == Fraction(1, 2)
    assert math.isclose(oracle.q, 1 / (power + 1), rel_tol=1e-12)
    for frequency in (0, 0.3, 1):
        stated = 1000 * (4 * power / (power - 1) ** 2 + frequency)
        assert math.isclose(oracle.variance(1000, frequency), stated, rel_tol=1e-9)


def test_the_largest_loss_still_tosses_coins() -> None:
    assert oue(4, 1000).q == Fraction(1, 2**64)
