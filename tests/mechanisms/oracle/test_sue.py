"""sue: the paper's probabilities and variance."""

import math
from fractions import Fraction

import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.oracle.sue import Sue


def sue(size: int, epsilon: float = 1) -> Sue:
    return Sue(size=size, loss=PureDP(epsilon=epsilon))


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_probabilities_and_variance_are_the_papers(epsilon: float) -> None:
    oracle, power = sue(1024, epsilon), math.exp(epsilon / 2)
    assert math.isclose(oracle.p, power / (power + 1), rel_tol=1e-12)
    assert oracle.q == 1 - oracle.p
    for frequency in (0, 0.3, 1):
        assert math.isclose(oracle.variance(1000, frequency), 1000 * power / (power - 1) ** 2, rel_tol=1e-9)


def test_the_largest_loss_still_tosses_coins() -> None:
    assert sue(4, 1000).q == Fraction(1, 2**64)
