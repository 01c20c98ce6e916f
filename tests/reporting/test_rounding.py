# Greek letters and signs as the page shows them
"""Numbers for people: rounded the safe way."""

import doctest
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.reporting import rounding


def test_the_examples_hold() -> None:
    assert doctest.testmod(rounding).failed == 0


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=1000))
def test_a_loss_is_never_shown_too_small(value: Fraction) -> None:
    shown = Fraction(rounding.ceiling(value).replace(",", ""))
    assert value <= shown <= value * Fraction(1002, 1000)


def test_losses_in_the_field_s_notation() -> None:
    assert rounding.loss(PureDP(epsilon="0.1")) == "ε = 0.1"
    assert rounding.loss(PureDP(epsilon=Fraction(1, 3))) == "ε = 0.3334"
    assert rounding.loss(ApproxDP(epsilon=1, delta=1e-9)) == "ε = 1, δ = 1 × 10⁻⁹"
    assert rounding.loss(None) == "none"


@given(st.floats(-1e6, 1e6), st.floats(0, 1e5), st.sampled_from([0.01, 0.1, 1.0, 10.0, 100.0]))
def test_intervals_are_rounded_outward(middle: float, half: float, unit: float) -> None:
    ends = rounding.interval(middle - half, middle + half, unit).replace(rounding.MINUS, "-").replace(",", "")
    low, high = map(Fraction, ends.split(" to "))
    assert low <= Fraction(middle - half)
    assert high >= Fraction(middle + half)


@given(st.floats(0.0, 1.0))
def test_shares_are_rounded_away_from_comfort(share: float) -> None:
    assert float(rounding.percent_up(share)[:-2]) / 100 >= share - 1e-9
    assert float(rounding.percent_down(share)[:-2]) / 100 <= share + 1e-9


@pytest.mark.parametrize(("error", "unit"), [(0.2, 0.01), (1.4, 0.1), (8, 1.0), (25, 1.0), (80, 10.0), (0, 1.0)])
def test_digits_stop_where_the_error_starts(error: float, unit: float) -> None:
    assert rounding.unit_for(error) == pytest.approx(unit)
