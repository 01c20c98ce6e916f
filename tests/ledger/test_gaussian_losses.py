"""An (epsilon, delta) limit and Gaussian losses: filled exactly, in any order of kinds, whatever is chosen when."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.approximate import GAUSSIAN_SHARE, ApproxDP
from dpress.core.basics.losses.convert import best_order, entry, response_divergence, zcdp_for
from dpress.core.basics.losses.gaussian_dp import GaussianDP
from dpress.core.basics.losses.gaussian_profile import gaussian_delta, mu2_for
from dpress.core.basics.losses.loss import Amounts, Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.ledger.compose import Charge, fits, total, totals
from dpress.ledger.delta_account import MIXED_SHARE, gaussian_way, ways
from dpress.ledger.ledger import Ledger

ROW = Unit()
LIMIT = ApproxDP(epsilon=1, delta=1e-6)
ALONE, WHOLE = (mu2_for(Fraction(1), LIMIT.delta * share) for share in (GAUSSIAN_SHARE, MIXED_SHARE))
"""The mu^2 of a release that fills the limit, and of several that do."""


def price(*losses: Loss, limit: Loss = LIMIT, unit: Unit = ROW) -> Amounts:
    return total([Charge(loss=loss) for loss in losses], limit, unit)


@pytest.mark.parametrize("releases", [2, 3, 5, 30])
def test_gaussian_releases_fill_a_limit_exactly_and_are_more_than_rho_has_room_for(releases: int) -> None:
    part = GaussianDP(mu2=WHOLE / releases)
    assert price(*[part] * releases) == {"epsilon": 1, "delta": LIMIT.delta}
    assert not fits(price(*[part] * releases, GaussianDP(mu2=1e-9)), LIMIT)
    assert 1.14 < WHOLE / (2 * zcdp_for(1, LIMIT.delta)) < 1.145


def test_one_gaussian_release_fills_a_limit_exactly() -> None:
    assert LIMIT.payable[1] == GaussianDP(mu2=ALONE)
    assert price(GaussianDP(mu2=ALONE)) == {"epsilon": 1, "delta": LIMIT.delta}
    assert not fits(price(GaussianDP(mu2=ALONE + Fraction(1, 10**10))), LIMIT)
    assert 1.149 < ALONE / (2 * zcdp_for(1, LIMIT.delta)) < 1.151
    half = [GaussianDP(mu2=ALONE * Fraction(51, 100)), GaussianDP(mu2=ALONE * Fraction(49, 100))]
    assert price(*half) == price(GaussianDP(mu2=ALONE))


def test_what_was_charged_before_the_first_gaussian_loss_counts_in_full() -> None:
    before = [PureDP(epsilon="1/4"), ApproxDP(epsilon="1/4", delta="4e-7")]
    half = mu2_for(Fraction(1, 2), Fraction("6e-7") * GAUSSIAN_SHARE)
    assert price(*before, GaussianDP(mu2=half)) == {"epsilon": 1, "delta": LIMIT.delta}
    assert not fits(price(*before, GaussianDP(mu2=half + Fraction(1, 10**9))), LIMIT)
    assert not fits(price(PureDP(epsilon=1), GaussianDP(mu2=1e-9)), LIMIT)


def test_a_pure_loss_after_it_has_the_cheaper_price_of_both_ways() -> None:
    gaussian, small, large = GaussianDP(mu2=WHOLE / 2), PureDP(epsilon="1/100"), PureDP(epsilon="1/5")
    assert price(gaussian, small)["epsilon"] == Fraction(1, 2) + small.as_mu2 / WHOLE
    tenth = GaussianDP(mu2=WHOLE / 10)
    rest = LIMIT.delta * (1 - MIXED_SHARE)
    order = best_order(Fraction(1), rest)
    divergence = response_divergence(large.epsilon, order)
    assert price(tenth, large)["epsilon"] == entry(order, rest) + order * WHOLE / 20 + divergence
    assert price(tenth, large)["epsilon"] < Fraction(1, 10) + large.as_mu2 / WHOLE


def test_rho_is_paid_for_after_a_gaussian_loss_and_names_are_not() -> None:
    gaussian = GaussianDP(mu2=WHOLE / 10)
    assert fits(price(gaussian, ZCDP(rho=0.01)), LIMIT)
    assert fits(price(ApproxDP(epsilon=0.1, delta=1e-8), gaussian, ZCDP(rho=0.005)), LIMIT)
    with pytest.raises(
        ValueError, match=r"before all that need the delta, got epsilon = 0\.1, delta = 1e-08 after one"
    ):
        price(gaussian, ApproxDP(epsilon=0.1, delta=1e-8))


def test_after_rho_a_gaussian_loss_is_the_rho_that_follows() -> None:
    pure = PureDP(epsilon=0.1)
    assert price(ZCDP(rho=0.001), pure, GaussianDP(mu2=0.01)) == price(ZCDP(rho=0.001), pure, ZCDP(rho=0.005))
    assert price(GaussianDP(mu2=0.5), limit=ZCDP(rho=1)) == {"rho": Fraction(1, 4)}
    with pytest.raises(ValueError, match=r"pays only for losses in epsilon, got mu2 = 0\.5"):
        price(GaussianDP(mu2=0.5), limit=PureDP(epsilon=1))


@pytest.mark.parametrize(("first", "share"), [(Fraction(1, 1000), MIXED_SHARE), (Fraction(1, 10), GAUSSIAN_SHARE)])
def test_the_parts_of_delta_are_all_of_it(first: Fraction, share: Fraction) -> None:
    left, delta, loss = Fraction(2, 3), Fraction("9e-7"), GaussianDP(mu2="1/50")
    gaussian, renyi = ways(left, delta, first)
    assert (gaussian.fixed, gaussian.price(loss)) == (0, left * loss.mu2 / mu2_for(left, delta * share))
    order = best_order(left, delta * (1 - share))
    assert (renyi.fixed, renyi.price(loss)) == (entry(order, delta * (1 - share)), order * loss.mu2 / 2)
    assert gaussian.price(ZCDP(rho=1)) is None


def test_nothing_left_pays_nothing() -> None:
    assert ways(Fraction(0), Fraction(1, 2), Fraction(1)) == ways(Fraction(1), Fraction(0), Fraction(1)) == ()
    hardly = gaussian_way(Fraction(1, 10**8), Fraction(1, 10**9))
    assert all(
        (hardly.price(loss) or 0) > Fraction(100, 10**8) for loss in (GaussianDP(mu2=1e-9), PureDP(epsilon=1e-9))
    )


@pytest.mark.parametrize(
    ("unit", "stated", "counted"),
    [
        (ROW, None, "1/2"),  # a row is in one part: the dearest
        (Unit(relation=Relation.REPLACE_ONE), None, "5/6"),  # it may move to another: the two dearest
        (Unit(column="uid", rows=2), None, "1"),  # each release may keep other rows of a person
        (Unit(column="uid", rows=2), 2, "5/6"),
        (Unit(column="uid", rows=2, relation=Relation.REPLACE_ONE), 2, "1"),
    ],
)
def test_of_parts_those_that_a_unit_can_touch_are_paid_for(unit: Unit, stated: int | None, counted: str) -> None:
    shares = {"a": Fraction(1, 2), "b": Fraction(1, 3), "c": Fraction(1, 6)}
    kept = [
        Charge(loss=GaussianDP(mu2=WHOLE * share), partition=part, touched=stated) for part, share in shares.items()
    ]
    assert total(kept, LIMIT, unit)["epsilon"] == Fraction(counted)
    before = [Charge(loss=PureDP(epsilon=share / 4), partition=part, touched=stated) for part, share in shares.items()]
    left = 1 - Fraction(counted) / 4
    gaussian = gaussian_way(left, LIMIT.delta * MIXED_SHARE)
    most = gaussian.price(GaussianDP(mu2=WHOLE / 10)) or 0
    tenth = Charge(loss=GaussianDP(mu2=WHOLE / 10))
    assert total([*before, tenth], LIMIT, unit)["epsilon"] == 1 - left + most


epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(1, 2), max_denominator=1000)
losses = st.one_of(
    st.builds(lambda value: PureDP(epsilon=value), epsilons),
    st.builds(lambda value: GaussianDP(mu2=value / 10), epsilons),
    st.builds(lambda value: ZCDP(rho=value / 20), epsilons),
)
charges = st.lists(
    st.builds(lambda loss, part: Charge(loss=loss, partition=part), losses, st.sampled_from([None, "a", "b"]))
)


@pytest.mark.slow
@given(charges, st.sampled_from([ROW, Unit(relation=Relation.REPLACE_ONE), Unit(column="uid", rows=2)]))
def test_prices_grow_and_those_of_parts_are_those_of_the_beginnings(kept: list[Charge], unit: Unit) -> None:
    running = list(totals(kept, LIMIT, unit))
    assert running == [total(kept[: number + 1], LIMIT, unit) for number in range(len(kept))]
    for earlier, later in pairwise(running):
        assert all(later[name] >= value for name, value in earlier.items())
    odd = total(kept, LIMIT, unit, lambda place: place % 2 == 1)
    assert all(value <= (running[-1] if running else odd)[name] for name, value in odd.items())


def test_a_ledger_refuses_before_the_charge(tmp_path) -> None:
    ledger = Ledger.create(tmp_path / "l.db", limit=LIMIT, unit=ROW, analysts={"ada": 0.5})
    ledger.reserve(GaussianDP(mu2=WHOLE / 2), ROW, label="", design="", analyst="ada")
    with pytest.raises(BudgetExceeded, match=r"share of ada epsilon = 0\.5"):
        ledger.reserve(GaussianDP(mu2=1e-6), ROW, label="", design="", analyst="ada")
    ledger.reserve(GaussianDP(mu2=WHOLE / 2), ROW, label="", design="")
    with pytest.raises(BudgetExceeded, match=r"budget exceeded: limit epsilon = 1, delta = .*asked mu2 = "):
        ledger.reserve(GaussianDP(mu2=1e-6), ROW, label="", design="")
    summary = Ledger.open(tmp_path / "l.db").summary()
    assert summary.remaining == {"epsilon": 0, "delta": 0}
    assert [entry.remaining["epsilon"] for entry in summary.entries] == [Fraction(1, 2), 0]


EPSILON, DELTA = 1.0, 1e-3
"""Of a game whose delta is summed up exactly: a Gaussian answer, and then what is worst given that answer."""


def normal_delta(mu2: float, epsilon: np.ndarray) -> np.ndarray:
    if mu2 <= 0:
        return np.clip(-np.expm1(epsilon), 0, None)
    mu = math.sqrt(mu2)
    first, second = stats.norm.logsf(epsilon / mu - mu / 2), epsilon + stats.norm.logsf(epsilon / mu + mu / 2)
    return np.exp(first) * -np.expm1(second - first)


def after_response(pure: float, mu2: float, epsilon: np.ndarray) -> np.ndarray:
    """The delta of randomised response of epsilon `pure`, followed by Gaussian noise."""
    yes = 1 / (1 + math.exp(-pure))
    return yes * normal_delta(mu2, epsilon - pure) + (1 - yes) * normal_delta(mu2, epsilon + pure)


def of_game(first: float, follow: list[tuple[float, float]]) -> float:
    """The delta of an answer of mu^2 `first` and the worst of several (epsilon, mu^2) after each value of its loss."""
    loss = first / 2 + math.sqrt(first) * np.linspace(-9, 9, 40_001)
    density = stats.norm.pdf(loss, first / 2, math.sqrt(first))
    worst = np.max([after_response(*pair, EPSILON - loss) for pair in follow], axis=0)
    return float(np.trapezoid(density * worst, loss))


def largest_by(accepts, high: float) -> float:
    """The largest number up to `high` that is accepted, to 30 halvings."""
    low = 0.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if accepts(middle) else (low, middle)
    return low


def test_choosing_after_an_answer_gains_nothing_by_our_prices() -> None:
    limit = ApproxDP(epsilon=EPSILON, delta=DELTA)
    whole = float(mu2_for(Fraction(1), limit.delta * MIXED_SHARE))
    for share in (0.1, 0.3, 0.5, 0.8):
        first = GaussianDP(mu2=share * whole)

        def accepts(pure: float, mu2: float, spent: GaussianDP = first) -> bool:
            more = [spent, PureDP(epsilon=max(pure, 1e-9)), GaussianDP(mu2=max(mu2, 1e-9))]
            return fits(price(*more, limit=limit), limit)

        pures = [largest_by(lambda pure: accepts(pure, 0.0), 1.0) * part for part in (0, 0.3, 0.7, 0.95)]
        follow = [(pure, largest_by(lambda mu2, pure=pure: accepts(pure, mu2), whole)) for pure in pures]
        assert of_game(float(first.mu2), follow) <= DELTA
    assert float(gaussian_delta(limit.payable[1].mu2, Fraction(1))) > 0.99 * DELTA


def test_prices_by_the_loss_of_each_course_alone_are_exceeded_by_choosing() -> None:
    """Why no list price: every course has a delta within the limit, the choice among them after an answer has not."""
    whole = float(mu2_for(Fraction(1), Fraction("1e-3")))
    first = whole / 10

    def of_course(pure: float, mu2: float) -> float:
        return float(after_response(pure, first + mu2, np.array([EPSILON]))[0])

    pures = [largest_by(lambda pure: of_course(pure, 0.0) <= DELTA, 1.0) * part for part in (0, 0.5, 1)]
    follow = [(pure, largest_by(lambda mu2, pure=pure: of_course(pure, mu2) <= DELTA, whole)) for pure in pures]
    for pair in follow:
        assert of_game(first, [pair]) <= DELTA * 1.001
    assert of_game(first, follow) > 1.85 * DELTA
