"""Checks of public arguments: exact rationals, one clear refusal."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.core.basics import check

NOT_NUMBERS = [True, False, None, "abc", "", "0x10", "1/0", b"1", [1], 1j]
NOT_FINITE = [math.nan, math.inf, -math.inf, "nan", "inf", "-Infinity", Decimal("NaN"), Decimal("Infinity")]


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (Fraction(2, 7), Fraction(2, 7)),
        (3, Fraction(3)),
        (1e-6, Fraction(1, 10**6)),
        (0.1 + 0.2, Fraction("0.30000000000000004")),
        (2**70, Fraction(2**70)),
    ],
)
def test_numbers_mean_their_shortest_decimal_form(value: check.Number, meaning: Fraction) -> None:
    assert check.exact("epsilon", value) == meaning


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_decimal_form_of_a_float_rounds_back_to_it(value: float) -> None:
    assert float(check.exact("epsilon", value)) == value


@pytest.mark.parametrize("value", [*NOT_NUMBERS, *NOT_FINITE])
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    for accept in [check.exact, check.loss_parameter, check.probability]:
        with pytest.raises(ValueError, match=r"^epsilon must be a (finite )?number, got "):
            accept("epsilon", value)


@pytest.mark.parametrize("value", [0, 0.0, -0.0, -1, -1e-9, "-1e-320", Fraction(-1, 7)])
def test_a_loss_that_is_not_positive_is_refused(value: check.Number) -> None:
    with pytest.raises(ValueError, match="epsilon must be > 0, got epsilon="):
        check.loss_parameter("epsilon", value)


@pytest.mark.parametrize("value", [1e-320, "1e-320", 9.99e-10, Fraction(1, 10**9 + 1), 1000.0000000001, 1e308])
def test_a_loss_beyond_its_range_is_refused(value: check.Number) -> None:
    with pytest.raises(ValueError, match="rho must lie between 1e-9 and 1000, got rho="):
        check.loss_parameter("rho", value)


def test_the_ends_of_the_range_are_accepted() -> None:
    assert check.loss_parameter("epsilon", 1e-9) == Fraction(1, 10**9)
    assert check.loss_parameter("epsilon", "1000") == 1000


@pytest.mark.parametrize("value", [0, 1, -0.5, 1.5, "1"])
def test_a_probability_is_strictly_between_zero_and_one(value: check.Number) -> None:
    with pytest.raises(ValueError, match="delta must lie strictly between 0 and 1, got delta="):
        check.probability("delta", value)
    assert check.probability("delta", 1e-320) == Fraction(1, 10**320)


@pytest.mark.parametrize("value", [0, -3, True, 1.0, "2", None])
def test_a_count_is_an_integer_of_at_least_its_least(value: int) -> None:
    with pytest.raises(ValueError, match="rows must be an integer >= 1, got rows="):
        check.count("rows", value)
    assert check.count("rows", 0, least=0) == 0
    assert check.count("rows", 10**30) == 10**30


@pytest.mark.parametrize("values", [[], [1, 0], [0.5, 0.6], [0.5, 0.4], [1.5, -0.5], [0.3] * 3, ["1/3", "1/3", 0.3334]])
def test_shares_that_are_not_positive_or_do_not_add_up_to_one_are_refused(values: list[check.Number]) -> None:
    with pytest.raises(ValueError, match="shares must be positive and add up to 1, got"):
        check.shares("shares", values)


def test_shares_are_added_exactly() -> None:
    assert check.shares("shares", [0.1] * 10) == (Fraction(1, 10),) * 10
    assert check.shares("shares", ["1/3"] * 3) == (Fraction(1, 3),) * 3


@given(st.fractions(min_value=0, max_value=10**20))
def test_float_up_is_the_smallest_float_above(value: Fraction) -> None:
    shown = check.float_up(value)
    assert Fraction(shown) >= value
    assert shown == 0 or Fraction(math.nextafter(shown, -math.inf)) < value


@pytest.mark.parametrize("value", [Fraction(1, 10), Fraction(1, 3), Fraction(1, 10**400), Fraction(2**60 + 1)])
def test_float_up_never_shows_too_little_where_rounding_would(value: Fraction) -> None:
    assert Fraction(check.float_up(value)) >= value
    assert check.float_up(Fraction(1, 10**400)) == 5e-324
    assert Fraction(float(Fraction(1, 3))) < Fraction(1, 3)  # the control: rounding to nearest shows too little


@given(st.fractions(min_value=0, max_value=10**20))
def test_float_down_is_the_largest_float_below(value: Fraction) -> None:
    shown = check.float_down(value)
    assert Fraction(shown) <= value < Fraction(math.nextafter(shown, math.inf))
    assert math.copysign(1, shown) == 1  # also of 0: nobody reads -0.0 of a budget


def test_float_down_never_shows_too_much_where_rounding_would() -> None:
    assert Fraction(check.float_down(Fraction(1, 10))) < Fraction(1, 10)
    assert Fraction(float(Fraction(1, 10))) > Fraction(1, 10)  # the control: rounding to nearest shows too much


@pytest.mark.parametrize("value", ["1" * 1001, "1/" + "3" * 2000, 10**401, -(10**4000), "1e999999999"])
def test_a_number_that_takes_long_to_read_is_refused_by_its_length(value):
    with pytest.raises(ValueError, match=r"^epsilon must be") as caught:
        check.exact("epsilon", value)
    assert len(str(caught.value)) < 100


def test_a_name_is_one_printable_line():
    assert check.line("who", "Ann Example") == "Ann Example"
    for text in ("a\nb", "\x1b[2J", "a" * 201, 7):
        with pytest.raises(ValueError, match="who must be printable text on one line"):
            check.line("who", text)
