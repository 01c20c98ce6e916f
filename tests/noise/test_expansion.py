"""Certified digits against rational Taylor series, and the coin decided by them."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.noise.expansion import decide, exponential_floor, logistic_floor

ALL_ONES = 2**64 - 1


def taylor(x: Fraction, terms: int) -> Fraction:
    """A lower bound of exp(x), x >= 0, below it by less than the next term times exp(x)."""
    total, term = Fraction(1), Fraction(1)
    for k in range(1, terms):
        term *= x / k
        total += term
    return total


@given(st.fractions(min_value=0, max_value=20, max_denominator=10**6), st.sampled_from([0, 10, 64, 128]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_floors_equal_those_of_the_rational_series(x: Fraction, bits: int) -> None:
    power = taylor(x, 160)
    assert exponential_floor(x, bits) == int(2**bits / power)
    if x:
        assert logistic_floor(x, bits) == int(2**bits / (1 + power))


def test_precision_grows_until_both_ends_of_the_interval_agree() -> None:
    tiny = Fraction(1, 2**400)
    assert exponential_floor(tiny, 64) == ALL_ONES
    assert exponential_floor(tiny, 500) == 2**500 - 2**100
    assert logistic_floor(tiny, 64) == 2**63 - 1


def test_huge_exponents_cost_nothing_and_are_zero() -> None:
    assert exponential_floor(Fraction(2**80, 3), 64) == 0
    assert logistic_floor(Fraction(10**30), 128) == 0
    assert exponential_floor(Fraction(60), 64) == 0
    assert exponential_floor(Fraction(44), 64) == 1


@pytest.mark.parametrize(("last", "heads"), [(-1, True), (1, False)])
@pytest.mark.parametrize("ties", [0, 1, 2])
def test_a_tie_asks_for_the_next_word_and_no_more(scripted: type, ties: int, last: int, *, heads: bool) -> None:
    x = Fraction(7, 3)
    digits = [(exponential_floor(x, 64 * k) % 2**64) for k in range(1, ties + 2)]
    digits[-1] += last
    rng = scripted(digits[1:])
    assert decide(digits[0], lambda bits: exponential_floor(x, bits), rng=rng) is heads
    assert rng.left == []


def test_a_sure_coin_is_true_for_every_word(scripted: type) -> None:
    for word in (0, ALL_ONES):
        assert decide(word, lambda bits: 2**bits, rng=scripted([]))
