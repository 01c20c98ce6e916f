# Greek letters and signs as the page shows them
"""The guarantee in words: they match the claim, and the odds match values computed otherwise."""

import math
import re
from fractions import Fraction

import pytest

from dpress.core.claim import ZCDP, ApproxDP, PureDP
from dpress.release.release import Release
from dpress.report import odds, words
from dpress.report.page import page
from dpress.report.rounding import percent_down, percent_up

from .conftest import KINDS, claiming, make

PAY = {"kind": "numeric", "name": "pay", "bounds": [0, 4096], "bins": 4096}
PUBLISHED = {  # epsilon: (prior, most, least) in percent, from a pocket calculator
    math.log(3): [(0.5, "75.0 %", "25.0 %"), (0.1, "25.0 %", "3.5 %"), (0.01, "3.0 %", "0.3 %")],
    1.0: [(0.5, "73.2 %", "26.8 %"), (0.1, "23.2 %", "3.9 %"), (0.01, "2.7 %", "0.3 %")],
}


def shown(found: odds.Odds) -> list[tuple[float, str, str]]:
    return [(one.prior, percent_up(one.most), percent_down(one.least)) for one in found.beliefs]


def test_odds_of_one_epsilon() -> None:
    assert shown(odds.odds(PureDP(epsilon=1))) == PUBLISHED[1.0]


def test_odds_of_a_factor_of_three() -> None:
    found = odds.odds(PureDP(epsilon=math.log(3)))
    for one, (prior, most, _) in zip(found.beliefs, PUBLISHED[math.log(3)], strict=True):
        assert one.prior == prior
        assert one.most == pytest.approx(3 * prior / (3 * prior + 1 - prior), rel=1e-12)
        assert one.least == pytest.approx(prior / (prior + 3 * (1 - prior)), rel=1e-12)
        assert abs(float(most[:-2]) / 100 - one.most) < 0.001 + 1e-9


def test_bayes_holds_with_equality_for_randomised_response() -> None:
    """The mechanism that attains the bound: the truth with probability e / (1 + e)."""
    truth = math.e / (1 + math.e)
    for one in odds.odds(PureDP(epsilon=1)).beliefs:
        told_yes = one.prior * truth + (1 - one.prior) * (1 - truth)
        assert one.most == pytest.approx(one.prior * truth / told_yes, rel=1e-12)


def test_zcdp_is_converted_at_one_in_a_million() -> None:
    found = odds.odds(ZCDP(rho=0.5))
    assert found.delta == Fraction(1, 10**6)
    assert float(found.epsilon) == pytest.approx(5.221534, abs=1e-6)
    assert found.beliefs[0].most == pytest.approx(1 / (1 + math.exp(-5.221534)), rel=1e-6)


def test_approximate_loss_keeps_its_own_delta() -> None:
    found = odds.odds(ApproxDP(epsilon=2, delta=1e-9))
    assert (found.epsilon, found.delta) == (2, Fraction(1, 10**9))


def test_huge_losses_do_not_overflow_and_promise_nothing() -> None:
    for loss in (PureDP(epsilon=1000), ZCDP(rho=1000)):
        assert [one[1:] for one in shown(odds.odds(loss))] == [("100 %", "0 %")] * 3


def test_a_tiny_loss_leaves_beliefs_where_they_were() -> None:
    belief = odds.odds(PureDP(epsilon=1e-9)).beliefs[0]
    assert belief.most == pytest.approx(0.5)
    assert belief.least == pytest.approx(0.5)


def test_the_words_name_the_proven_loss(release: Release) -> None:
    said = words.guarantee(release)
    proven = release.claim.proven
    if proven is None:
        assert said.proven == "none"
        assert said.odds is None
    else:
        assert said.odds is not None
        symbols = {"PureDP": "ε", "ZCDP": "ρ"}
        assert said.proven.startswith(symbols[type(proven).__name__])
        assert said.basis == release.claim.basis


def test_page_shows_the_odds() -> None:
    rows = re.findall(r'<td class="label">(\d+) %</td><td class="number">(.*?)</td>', page(KINDS["ranges"]()))
    assert rows == [("50", "73.2 %"), ("10", "23.2 %"), ("1", "2.7 %")]


def test_pure_epsilon_has_no_exception() -> None:
    said = words.guarantee(KINDS["ranges"]())
    assert said.factor == "Then the odds change by at most the factor exp(ε) = 2.72, up or down."
    assert "at most exp(ε) times as likely" in said.definition
    assert said.content is not None
    assert said.content.endswith("ε doubles to 2.")


def test_zcdp_says_what_the_exception_is() -> None:
    said = words.guarantee(KINDS["zcdp"]())
    assert said.proven == "ρ = 0.1"
    assert "reveals the truth with probability δ = 0.000001" in said.factor
    assert "Rényi" in said.definition
    assert said.content is not None
    assert said.content.endswith("ρ counts fourfold, 0.4.")


def test_gaussian_noise_under_epsilon_and_delta_uses_the_delta_that_was_asked_for() -> None:
    release = make("ranges", [PAY], {"epsilon": 1.0, "delta": 0.01}, method="privelet")
    assert isinstance(release.claim.proven, ZCDP)
    said = words.guarantee(release)
    assert said.odds is not None
    assert said.odds.delta == Fraction(1, 100)
    assert 0.999 < said.odds.epsilon <= 1


def test_an_approximate_claim_is_said_as_one() -> None:
    loss = ApproxDP(epsilon=1, delta=1e-6)
    said = words.guarantee(claiming(KINDS["ranges"](), published=loss, proven=loss))
    assert said.proven == "ε = 1, δ = 0.000001"
    assert "plus δ" in said.definition
    assert "otherwise keeps to this" in said.factor
    assert said.content is not None
    assert "(1 + exp(ε)) δ" in said.content


def test_person_as_the_unit() -> None:
    said = words.guarantee(KINDS["person"]())
    assert "the same value in the column uid" in said.unit
    assert "At most 3 rows per person were counted" in said.unit
    assert "all rows of one person added or removed" in said.neighbours
    assert said.belief == "a given person is in the data"
    assert "every person (column uid, at most 3 rows each)" in page(KINDS["person"]())
    assert "a person had more than 3" in page(KINDS["person"]())


def test_replace_one_hides_values_not_presence() -> None:
    said = words.guarantee(KINDS["three-way"]())
    assert "replace-one" in said.neighbours
    assert "the number of rows counts as public" in said.neighbours
    assert "is in the data" not in said.belief
    assert said.content is None
    assert any("public: the number of rows," in limit for limit in said.limits)


def test_row_as_the_unit_warns_people_with_several_rows() -> None:
    assert "several rows is protected less" in words.guarantee(KINDS["ranges"]()).unit


def test_seeded_release_promises_nothing() -> None:
    release = KINDS["seeded"]()
    assert words.promised(release) is None
    assert words.verdict(release, "1") == "A test release with repeatable noise. It protects nobody."
