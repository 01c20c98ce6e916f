"""Prices: exact rationals, the tables of foundations.md, and laws that every price obeys."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.convert import best_order, entry, zcdp_for
from dpress.core.basics.losses.loss import Amounts, Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.ledger.compose import Charge, cost, fits, group, total, touched

ROW = Unit()
REPLACED = Unit(relation=Relation.REPLACE_ONE)
ONE = PureDP(epsilon=1)
APPROX = ApproxDP(epsilon=1, delta=1e-6)


def pure(epsilon: float | Fraction, partition: str | None = None) -> Charge:
    return Charge(loss=PureDP(epsilon=epsilon), partition=partition)


def rho(value: float | Fraction, partition: str | None = None) -> Charge:
    return Charge(loss=ZCDP(rho=value), partition=partition)


def approx(epsilon: float, delta: float, partition: str | None = None) -> Charge:
    return Charge(loss=ApproxDP(epsilon=epsilon, delta=delta), partition=partition)


def test_ten_tenths_fill_a_limit_of_one_exactly() -> None:
    spent = total([pure(0.1)] * 10, ONE, ROW)
    assert spent == {"epsilon": Fraction(1)}
    assert fits(spent, ONE)
    assert not fits(total([*[pure(0.1)] * 10, pure(1e-9)], ONE, ROW), ONE)


@pytest.mark.parametrize("k", [1, 3, 7, 30])
def test_basic_composition_of_the_notes_is_k_epsilon(k: int) -> None:
    assert total([pure(0.3)] * k, ONE, ROW) == {"epsilon": k * Fraction(3, 10)}


def test_a_rho_limit_counts_rho_and_half_of_epsilon_squared() -> None:
    assert PureDP(epsilon="1/10").as_rho == Fraction(1, 200)
    assert total([rho(0.1), pure(0.1), pure(0.2)], ZCDP(rho=1), ROW) == {"rho": Fraction(1, 10) + Fraction(5, 200)}


def test_an_approximate_limit_adds_epsilons_and_deltas() -> None:
    spent = total([approx(0.25, 1e-7), approx(0.5, 3e-7), pure(0.25)], APPROX, ROW)
    assert spent == {"epsilon": Fraction(1), "delta": Fraction(4, 10**7)}
    assert fits(total([Charge(loss=APPROX)], APPROX, ROW), APPROX)


def test_an_approximate_limit_has_room_for_exactly_the_rho_it_converts_to() -> None:
    whole = zcdp_for(1, 1e-6)
    assert fits(total([rho(whole)], APPROX, ROW), APPROX)
    assert fits(total([rho(whole / 4)] * 4, APPROX, ROW), APPROX)
    assert not fits(total([rho(whole + Fraction(1, 10**9))], APPROX, ROW), APPROX)


def test_an_approximate_limit_prices_rho_at_one_fixed_order() -> None:
    order, delta = best_order(Fraction(1), APPROX.delta), APPROX.delta
    spent = total([rho(0.001), rho(0.002), pure(0.1)], APPROX, ROW)
    assert spent == {"epsilon": entry(order, delta) + order * Fraction(3, 1000) + Fraction(1, 10), "delta": delta}


@pytest.mark.parametrize(
    ("charges", "limit"),
    [
        ([rho(0.1)], ONE),
        ([approx(0.1, 1e-9)], ONE),
        ([approx(0.1, 1e-9)], ZCDP(rho=1)),
        ([rho(0.001), approx(0.1, 1e-9)], APPROX),
    ],
)
def test_a_loss_that_the_limit_cannot_pay_is_refused(charges: list[Charge], limit: Loss) -> None:
    with pytest.raises(ValueError, match="pays"):
        total(charges, limit, ROW)


def test_an_empty_partition_name_is_refused() -> None:
    with pytest.raises(ValueError, match="partition must name a part"):
        pure(0.1, "")


@pytest.mark.parametrize(
    ("unit", "parts", "price"),
    [
        (ROW, 1, "0.6"),
        (REPLACED, 2, "0.9"),
    ],
)
def test_parallel_parts_cost_the_dearest_that_one_row_can_touch(unit: Unit, parts: int, price: str) -> None:
    charges = [pure(0.1), pure(0.2, "north"), pure(0.3, "north"), pure(0.3, "south"), pure(0.1, "west")]
    assert touched(unit, 1) == parts
    assert total(charges, ONE, unit) == {"epsilon": Fraction(price)}


def in_every_part(loss: Fraction, parts: str) -> list[Charge]:
    return [pure(loss, part) for part in parts]


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("relation", list(Relation))
def test_parts_are_not_free_for_persons_whose_rows_each_release_keeps_by_itself(relation: Relation, rows: int) -> None:
    """A person with a row in each of three parts is in all three releases: k rows of a release bound no other one."""
    person = Unit(relation=relation, column="uid", rows=rows)
    assert total(in_every_part(Fraction(1), "abc"), PureDP(epsilon=9), person) == {"epsilon": Fraction(3)}


def test_persons_that_are_stated_to_be_in_so_many_parts_cost_as_many() -> None:
    person, stated = Unit(column="uid"), [Charge(loss=ONE, partition=f"m: {own}", touched=2) for own in "abc"]
    assert total(stated, ONE, person) == {"epsilon": Fraction(2)}
    assert total([*stated, pure(1, "m: d")], ONE, person) == {"epsilon": Fraction(3)}  # which states nothing
    assert total([*stated, Charge(loss=ONE, partition="w: a", touched=1)], ONE, person) == {"epsilon": Fraction(3)}


def test_parallel_parts_work_for_every_kind_of_limit() -> None:
    assert total([rho(0.1, "a"), rho(0.2, "b")], ZCDP(rho=1), ROW) == {"rho": Fraction(1, 5)}
    assert total([rho(0.1, "a"), rho(0.2, "b")], ZCDP(rho=1), REPLACED) == {"rho": Fraction(3, 10)}
    spent = total([approx(0.1, 1e-7, "a"), approx(0.2, 1e-8, "b")], APPROX, ROW)
    assert spent == {"epsilon": Fraction(1, 5), "delta": Fraction(1, 10**7)}


@pytest.mark.parametrize("size", [1, 2, 5, 11])
def test_group_privacy_table(size: int) -> None:
    assert group(PureDP(epsilon=0.1), size) == PureDP(epsilon=size * Fraction(1, 10))
    assert group(ZCDP(rho=0.01), size) == ZCDP(rho=size * size * Fraction(1, 100))


def test_group_privacy_of_an_approximate_loss_is_the_rounded_up_geometric_sum() -> None:
    loss = ApproxDP(epsilon=0.5, delta=1e-6)
    assert group(loss, 1) == loss
    tripled = group(loss, 3)
    assert isinstance(tripled, ApproxDP)
    root, e = Fraction("1.6487212707001281468486507878"), Fraction("2.7182818284590452353602874713")
    exact = Fraction("1e-6") * (1 + root + e)
    assert tripled.epsilon == Fraction(3, 2)
    assert exact <= tripled.delta <= exact + Fraction(1, 10**23)
    assert tripled.delta <= 3 * e * Fraction("1e-6")


def test_a_group_too_large_for_any_promise_is_refused() -> None:
    with pytest.raises(ValueError, match="epsilon must lie between"):
        group(ApproxDP(epsilon=1, delta=1e-6), 10**12)
    with pytest.raises(ValueError, match="delta must lie strictly"):
        group(ApproxDP(epsilon=1, delta=1e-6), 100)


epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=1000)
parts = st.sampled_from([None, "a", "b", "c"])
units = st.sampled_from([ROW, REPLACED, Unit(column="uid", rows=2)])
pure_charges = st.builds(pure, epsilons, parts)
rho_charges = st.builds(rho, epsilons, parts)
accounts = st.one_of(
    st.tuples(st.just(ONE), st.lists(pure_charges, max_size=8)),
    st.tuples(st.just(ZCDP(rho=1)), st.lists(pure_charges | rho_charges, max_size=8)),
    st.tuples(st.just(APPROX), st.lists(pure_charges | rho_charges, max_size=8)),
    st.tuples(st.just(APPROX), st.lists(pure_charges | st.builds(approx, epsilons, st.just(1e-7), parts), max_size=8)),
)


def dominates(more: Amounts, less: Amounts) -> bool:
    return all(more[name] >= value for name, value in less.items())


@pytest.mark.slow
@given(accounts, units)
def test_one_more_charge_never_lowers_the_price(account: tuple[Loss, list[Charge]], unit: Unit) -> None:
    limit, charges = account
    prices = [total(charges[:n], limit, unit) for n in range(len(charges) + 1)]
    assert all(dominates(later, earlier) for earlier, later in pairwise(prices))


@pytest.mark.slow
@given(accounts, units, st.randoms(use_true_random=False))
def test_the_price_does_not_depend_on_the_order(account: tuple[Loss, list[Charge]], unit: Unit, random: object) -> None:
    limit, charges = account
    shuffled = charges.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert total(shuffled, limit, unit) == total(charges, limit, unit)


@given(st.lists(pure_charges, min_size=1, max_size=8), units, st.integers(0, 7))
def test_a_larger_loss_is_never_cheaper(charges: list[Charge], unit: Unit, index: int) -> None:
    at = index % len(charges)
    dearer = charges.copy()
    dearer[at] = pure(2 * charges[at].loss.epsilon, charges[at].partition)  # type: ignore[union-attr]
    assert dominates(total(dearer, ONE, unit), total(charges, ONE, unit))


@pytest.mark.slow
@given(accounts, units)
def test_partitions_lie_between_the_dearest_charge_and_the_sequential_price(
    account: tuple[Loss, list[Charge]], unit: Unit
) -> None:
    limit, charges = account
    spent = total(charges, limit, unit)
    assert dominates(total([Charge(loss=charge.loss) for charge in charges], limit, unit), spent)
    assert all(dominates(spent, cost(charge.loss, limit)) for charge in charges)


def assert_table_of_the_notes(price: Callable[[Sequence[Charge], Loss, Unit], Amounts]) -> None:
    """Rows of foundations.md and of Bun and Steinke; must fail on a pricing that is 5 % too low."""
    for k in (1, 4, 10):
        assert price([pure(0.1)] * k, ONE, ROW)["epsilon"] == k * Fraction(1, 10)
        assert price([pure(0.1)] * k, ZCDP(rho=1), ROW)["rho"] == k * Fraction(1, 200)
        assert price([pure(0.1, str(part)) for part in range(k)], ONE, ROW)["epsilon"] == Fraction(1, 10)


def test_the_table_of_the_notes() -> None:
    assert_table_of_the_notes(total)


def test_a_planted_pricing_5_percent_too_low_is_caught() -> None:
    def cheap(charges: Sequence[Charge], limit: Loss, unit: Unit) -> Amounts:
        return {name: value * Fraction(95, 100) for name, value in total(charges, limit, unit).items()}

    with pytest.raises(AssertionError):
        assert_table_of_the_notes(cheap)


def test_charges_may_say_that_a_unit_is_in_fewer_or_more_parts_and_divisions_add_up() -> None:
    unit = Unit(column="uid", rows=2)
    months = [Charge(loss=PureDP(epsilon=0.1), partition=f"day by month: {own}", touched=3) for own in "abcde"]
    assert total(months, PureDP(epsilon=9), unit) == {"epsilon": Fraction(3, 10)}
    weeks = [Charge(loss=PureDP(epsilon=0.1), partition=f"day by week: {own}", touched=3) for own in "abcde"]
    assert total([*months, *weeks], PureDP(epsilon=9), unit) == {"epsilon": Fraction(6, 10)}
    assert total([*months, *months], PureDP(epsilon=9), unit) == {"epsilon": Fraction(6, 10)}


persons = st.sampled_from([ROW, REPLACED, Unit(column="uid", rows=1), Unit(column="uid", rows=3)])
stated_charges = st.builds(
    lambda epsilon, division, part, touched: Charge(
        loss=PureDP(epsilon=epsilon), partition=division and f"{division}: {part}", touched=touched
    ),
    epsilons,
    st.sampled_from([None, "month", "week"]),
    st.sampled_from("abc"),
    st.sampled_from([None, None, 1, 2]),
)


def worst_unit(charges: Sequence[Charge], unit: Unit) -> Fraction:
    """Return the loss of the unit that is in the worst parts, by trying all sets of parts that one can be in."""
    found = sum((own.loss.epsilon for own in charges if own.partition is None), Fraction(0))  # type: ignore[union-attr]
    for division in ("month", "week"):
        inside = [own for own in charges if own.partition is not None and own.partition.startswith(division)]
        names = {own.partition for own in inside}
        alike = [own for own in inside if own.touched is not None or unit.column is None]
        most = touched(unit, max((own.touched or 1 for own in alike), default=0))
        found += max(
            sum((own.loss.epsilon for own in inside if own not in alike or own.partition in chosen), Fraction(0))  # type: ignore[union-attr]
            for size in range(len(names) + 1)
            for chosen in combinations(sorted(str(name) for name in names), size)
            if size <= most
        )
    return found


@given(st.lists(stated_charges, max_size=7), persons)
def test_the_price_is_the_loss_of_the_unit_that_is_in_the_worst_parts(charges: list[Charge], unit: Unit) -> None:
    assert total(charges, ONE, unit) == {"epsilon": worst_unit(charges, unit)}


def test_parts_that_are_as_few_as_the_rows_of_one_release_are_caught() -> None:
    """The fault that was there: a person with one row in each release was charged for one part."""
    charges, person = [pure(1, f"month: {part}") for part in "abc"], Unit(column="uid")
    dearest = total(charges, ONE, ROW)["epsilon"]
    assert dearest == 1 < worst_unit(charges, person)
