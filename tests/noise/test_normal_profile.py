"""The bound for any change: above what all outputs give, for equal shifts and unequal ones, and not far above."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.normal_tail import normal_tail
from dpress.noise.gaussian_tails import tail
from dpress.noise.normal_profile import shift_delta, tail_above


@pytest.mark.parametrize(
    "place", [-15.9, -3.25, -0.5, 0.0, 0.125, 1.0, 2.5, 7.0, 9.342531637682596, 12.144016441728164, 15.9]
)
def test_a_tail_is_the_normal_distributions(place: float) -> None:
    assert float(normal_tail(Decimal(place))) == pytest.approx(stats.norm.sf(place), rel=1e-12)
    assert normal_tail(Decimal(place)) + normal_tail(Decimal(-place)) == pytest.approx(1, abs=1e-45)
    assert normal_tail(Decimal(20)) == 0


@pytest.mark.parametrize("start", [-90, -30, 0, 1, 40, 130])
def test_a_tail_of_the_noise_is_bounded(start: int) -> None:
    exact = tail(Fraction(900), start)
    assert exact.high <= tail_above(Fraction(900), start) <= exact.high + Fraction(4, 300)


def by_all_outputs(sigma2: float, change: tuple[int, ...], ratio: float) -> float:
    """The sum of max(0, P(x) - ratio P(x - v)) over all outputs of a few noises."""
    reach = int(9 * sigma2**0.5)
    own = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * sigma2))
    own /= own.sum()
    p = q = np.ones(1)
    for shift in change:
        moved = np.zeros_like(own)
        moved[shift:] = own[: own.size - shift]
        p, q = np.multiply.outer(p, own).ravel(), np.multiply.outer(q, moved).ravel()
    return float(np.clip(p - ratio * q, 0, None).sum())


@pytest.mark.parametrize("change", [(4,), (3, 3), (5, 1), (4, 2, 1)], ids=str)
@pytest.mark.parametrize("ratio", [0.7, 1.0, 2.718])
def test_the_bound_is_above_all_outputs_and_near_them(change: tuple[int, ...], ratio: float) -> None:
    variance, square = Fraction(60), sum(own**2 for own in change)
    found = by_all_outputs(60.0, change, ratio)
    bound = float(shift_delta(variance, Fraction(square), len(change), Fraction(ratio)))
    assert found <= bound <= 1.3 * found
    less = float(shift_delta(variance, Fraction(square * 3, 4), len(change), Fraction(ratio)))
    assert less < found  # the control: a shorter change does not bound it


def test_what_has_no_bound() -> None:
    with pytest.raises(NotSupported, match="needs a variance above 4"):
        shift_delta(Fraction(4), Fraction(1), 1, Fraction(2))
    assert shift_delta(Fraction(9), Fraction(1), 1, Fraction(0)) == 1
    assert shift_delta(Fraction(9), Fraction(0), 1, Fraction(1, 4)) == Fraction(3, 4)
