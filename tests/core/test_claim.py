"""Claims: exact losses, refused parameters, and what losses add up to."""

import dataclasses
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.any_loss import as_floats, composed, describe, parameters
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.read import from_parameters
from dpress.core.basics.losses.zcdp import ZCDP

REFUSED = [0, 0.0, -1, -1e-300, math.nan, math.inf, -math.inf, 1e-320, 1001, True, False, None, "", "one", "nan", "1/0"]
losses = st.fractions(min_value=Fraction(1, 10**6), max_value=30)


@pytest.mark.parametrize("value", [0.1, "0.1", "1/10", Fraction(1, 10)])
def test_a_tenth_is_exactly_a_tenth(value: float | str | Fraction) -> None:
    assert PureDP(epsilon=value).epsilon == Fraction(1, 10)
    assert ZCDP(rho=value).rho == Fraction(1, 10)
    assert ApproxDP(epsilon=value, delta=1e-6) == ApproxDP(epsilon="0.1", delta="1/1000000")
    assert PureDP(epsilon=value) == PureDP(epsilon="0.1")
    assert hash(PureDP(epsilon=value)) == hash(PureDP(epsilon="0.1"))


@pytest.mark.parametrize("value", REFUSED)
def test_what_is_no_privacy_loss_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="epsilon must "):
        PureDP(epsilon=value)
    with pytest.raises(ValueError, match="rho must "):
        ZCDP(rho=value)
    with pytest.raises(ValueError, match="epsilon must "):
        ApproxDP(epsilon=value, delta=0.1)


@pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan, True, "x"])
def test_a_delta_that_is_no_probability_is_refused(delta: float) -> None:
    with pytest.raises(ValueError, match="delta must "):
        ApproxDP(epsilon=1, delta=delta)


def test_a_loss_cannot_be_changed_afterwards() -> None:
    loss = PureDP(epsilon=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.epsilon = Fraction(2)


@given(st.lists(losses, min_size=1, max_size=20))
def test_losses_of_one_kind_add_up_exactly(values: list[Fraction]) -> None:
    assert composed([PureDP(epsilon=value) for value in values]).epsilon == sum(values)
    assert composed([ZCDP(rho=value) for value in values]).rho == sum(values)
    both = composed([ApproxDP(epsilon=value, delta=value / 10**4) for value in values])
    assert (both.epsilon, both.delta) == (sum(values), sum(values) / 10**4)


def test_ten_tenths_are_one_and_floats_would_not_be() -> None:
    assert composed([PureDP(epsilon=0.1)] * 10) == PureDP(epsilon=1)
    total = 0.0
    for _ in range(10):
        total += 0.1
    assert total != 1  # the control


@pytest.mark.parametrize(
    "mixed", [[PureDP(epsilon=1), ZCDP(rho=1)], [PureDP(epsilon=1), ApproxDP(epsilon=1, delta=0.1)]]
)
def test_losses_of_different_kinds_do_not_add_up(mixed: list[Loss]) -> None:
    with pytest.raises(ValueError, match="only losses of one kind add up"):
        composed(mixed)
    with pytest.raises(ValueError, match="only losses of one kind add up"):
        composed([])


@pytest.mark.parametrize("loss", [PureDP(epsilon=0.1), ZCDP(rho="1/3"), ApproxDP(epsilon=2, delta=1e-9)])
def test_parameters_name_the_loss_and_make_it_again(loss: Loss) -> None:
    assert from_parameters(parameters(loss)) == loss
    assert set(parameters(loss)) == {field.name for field in dataclasses.fields(loss)}


@pytest.mark.parametrize("names", [{}, {"delta": 0.1}, {"epsilon": 1, "rho": 1}, {"eps": 1}])
def test_names_that_describe_no_loss_are_refused(names: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"is epsilon, or rho, or epsilon and delta; got \w+( and \w+)*$"):
        from_parameters(names)


def test_floats_for_people_are_rounded_up() -> None:
    shown = as_floats(PureDP(epsilon="1/3"))
    assert shown is not None
    assert Fraction(shown["epsilon"]) > Fraction(1, 3)
    assert as_floats(None) is None
    assert describe(None) == "nothing"
    assert describe(ApproxDP(epsilon=1, delta=1e-6)) == "epsilon = 1, delta = 1e-06"
    assert describe(ZCDP(rho=0.5)) == "rho = 0.5"


def test_a_description_never_shows_a_smaller_loss_than_the_claim() -> None:
    for value in (Fraction(1234567, 10**6), Fraction("0.10000004"), Fraction(1, 3)):
        shown = Fraction(describe(PureDP(epsilon=value)).removeprefix("epsilon = "))
        assert shown >= value


def test_a_unit_is_a_row_or_a_person_with_at_most_so_many_rows() -> None:
    assert Unit(relation=Relation.ADD_REMOVE, column=None, rows=1) == ROW
    assert Unit(relation="replace-one").relation is Relation.REPLACE_ONE
    assert Unit(column="uid", rows=5).rows == 5


@pytest.mark.parametrize("rows", [0, -1, True, 1.5, "2"])
def test_rows_per_unit_that_are_no_count_are_refused(rows: int) -> None:
    with pytest.raises(ValueError, match="rows_per_unit must be an integer >= 1"):
        Unit(column="uid", rows=rows)


def test_a_row_is_one_row_and_relations_have_two_names() -> None:
    with pytest.raises(ValueError, match="rows_per_unit must be 1 when the unit is a row, got rows_per_unit=2"):
        Unit(rows=2)
    with pytest.raises(ValueError, match="'swap' is not a valid Relation"):
        Unit(relation="swap")
    assert [relation.value for relation in Relation] == ["add-remove", "replace-one"]
