"""What an attacker can conclude: values computed otherwise, and Bayes' rule with equality."""

import math
from fractions import Fraction

import pytest

from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.reporting import posterior
from dpress.reporting.rounding import percent_down, percent_up

PUBLISHED = {  # epsilon: (prior, most, least) in percent, from a pocket calculator
    math.log(3): [(0.5, "75.0 %", "25.0 %"), (0.1, "25.0 %", "3.5 %"), (0.01, "3.0 %", "0.3 %")],
    1.0: [(0.5, "73.2 %", "26.8 %"), (0.1, "23.2 %", "3.9 %"), (0.01, "2.7 %", "0.3 %")],
}


def shown(found: posterior.Posterior) -> list[tuple[float, str, str]]:
    return [(one.prior, percent_up(one.most), percent_down(one.least)) for one in found.beliefs]


def test_odds_of_one_epsilon() -> None:
    assert shown(posterior.posterior(PureDP(epsilon=1))) == PUBLISHED[1.0]


def test_odds_of_a_factor_of_three() -> None:
    found = posterior.posterior(PureDP(epsilon=math.log(3)))
    for one, (prior, most, _) in zip(found.beliefs, PUBLISHED[math.log(3)], strict=True):
        assert one.prior == prior
        assert one.most == pytest.approx(3 * prior / (3 * prior + 1 - prior), rel=1e-12)
        assert one.least == pytest.approx(prior / (prior + 3 * (1 - prior)), rel=1e-12)
        assert abs(float(most[:-2]) / 100 - one.most) < 0.001 + 1e-9


def test_bayes_holds_with_equality_for_randomised_response() -> None:
    """The mechanism that attains the bound: the truth with probability e / (1 + e)."""
    truth = math.e / (1 + math.e)
    for one in posterior.posterior(PureDP(epsilon=1)).beliefs:
        told_yes = one.prior * truth + (1 - one.prior) * (1 - truth)
        assert one.most == pytest.approx(one.prior * truth / told_yes, rel=1e-12)


def test_zcdp_is_converted_at_one_in_a_million() -> None:
    found = posterior.posterior(ZCDP(rho=0.5))
    assert found.delta == Fraction(1, 10**6)
    assert float(found.epsilon) == pytest.approx(5.221534, abs=1e-6)
    assert found.beliefs[0].most == pytest.approx(1 / (1 + math.exp(-5.221534)), rel=1e-6)


def test_approximate_loss_keeps_its_own_delta() -> None:
    found = posterior.posterior(ApproxDP(epsilon=2, delta=1e-9))
    assert (found.epsilon, found.delta) == (2, Fraction(1, 10**9))


def test_huge_losses_do_not_overflow_and_promise_nothing() -> None:
    for loss in (PureDP(epsilon=1000), ZCDP(rho=1000)):
        assert [one[1:] for one in shown(posterior.posterior(loss))] == [("100 %", "0 %")] * 3


def test_a_tiny_loss_leaves_beliefs_where_they_were() -> None:
    belief = posterior.posterior(PureDP(epsilon=1e-9)).beliefs[0]
    assert belief.most == pytest.approx(0.5)
    assert belief.least == pytest.approx(0.5)
