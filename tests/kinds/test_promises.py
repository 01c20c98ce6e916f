# Greek letters and signs as the page shows them
"""The promise on the page: figures and sentences match the claim."""

import re
from fractions import Fraction

import pytest
from tests.kinds.conftest import KINDS, claiming, make
from tests.kinds.reading import html_of, text_of, text_of_page

from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.gaussian_dp import GaussianDP
from dpress.query.release import Release
from dpress.reporting.facts import facts
from dpress.reporting.promise import SEEDED, UNPROVEN, Promise, promise
from dpress.reporting.rounding import ceiling

PAY = {"kind": "numeric", "name": "pay", "bounds": [0, 4096], "bins": 4096}


def promise_of(release: Release) -> Promise:
    return promise(facts(release))


def test_the_figures_are_those_of_the_proven_loss(release: Release) -> None:
    found, proven = promise_of(release), release.claim.proven
    if proven is None:
        assert (found.proven, found.beliefs, found.factor, found.warning) == ("none", (), "", SEEDED)
    else:
        assert len(found.beliefs) == 3
        assert found.proven.startswith({"PureDP": "ε", "ZCDP": "ρ"}[type(proven).__name__])
        assert found.basis == release.claim.basis
        assert found.warning == ""


def test_the_page_shows_what_can_be_believed() -> None:
    rows = re.findall(r'<td class="label">(\d+) %</td><td class="number">(.*?)</td>', html_of("ranges"))
    assert rows == [("50", "73.2 %"), ("10", "23.2 %"), ("1", "2.7 %")]


def test_the_guarantee_is_a_sentence_with_the_odds_first() -> None:
    shown = text_of("ranges")
    odds = "The odds that a given row is in the data change by a factor of at most 2.72, even for somebody who knows"
    sure = "whoever was 50 % sure before is at most 73.2 % sure after it."
    proven = "Proven differential privacy with ε = 1 for every single row"
    places = [shown.index(text) for text in ("At a glance", odds, sure, proven, "Results")]
    assert places == sorted(places)


def test_the_guarantee_of_a_claim_without_a_proof_says_so() -> None:
    shown = text_of_page(claiming(KINDS["ranges"](), proven=None))
    assert "If the published claim is right, the odds that a given row is in the data change" in shown


def test_pure_epsilon_has_no_exception() -> None:
    shown = text_of("ranges")
    assert "Then the odds change by at most the factor exp(ε) = 2.72, up or down." in shown
    assert "Any release is at most exp(ε) times as likely under one of two neighbouring tables" in shown
    assert "when its presence is known anyway, ε doubles to 2." in shown
    assert "δ" not in shown


def test_zcdp_says_what_the_exception_is() -> None:
    found, shown = promise_of(KINDS["zcdp"]()), text_of("zcdp")
    assert (found.proven, found.converted, found.delta) == ("ρ = 0.1", "ρ = 0.1", "0.000001")
    assert f"ρ = 0.1 implies ε = {found.epsilon} at δ = 0.000001." in shown
    assert "reveals the truth with probability δ = 0.000001, and otherwise keeps to this: the odds change" in shown
    assert "Rényi" in shown
    assert "ρ counts fourfold, 0.4." in shown


def test_gaussian_noise_under_epsilon_and_delta_uses_the_delta_that_was_asked_for() -> None:
    release = make("ranges", [PAY], {"epsilon": 1.0, "delta": 0.01}, method="privelet")
    assert isinstance(release.claim.proven, GaussianDP)
    found = promise_of(release)
    assert found.converted == found.proven == f"μ² = {ceiling(release.claim.proven.mu2)}"
    assert found.delta == ceiling(Fraction(1, 100))
    assert 0.999 < float(found.epsilon) <= 1


def test_an_approximate_claim_is_said_as_one() -> None:
    loss = ApproxDP(epsilon=1, delta=1e-6)
    release = claiming(KINDS["ranges"](), published=loss, proven=loss)
    shown = text_of_page(release)
    assert promise_of(release).proven == "ε = 1, δ = 0.000001"
    assert "plus δ" in shown
    assert "otherwise keeps to this" in shown
    assert "ε doubles to 2 and δ grows to (1 + exp(ε)) δ." in shown


def test_person_as_the_unit() -> None:
    shown = text_of("person")
    assert "all rows with the same uid together" in shown
    assert "At most 3 rows per person were counted" in shown
    assert "all rows of one person added or removed" in shown
    assert "not sure whether a given person is in the data" in shown
    assert "every person (by uid, at most 3 rows each)" in shown
    assert "a person had more than 3" in shown
    assert "Rows counted, at most 3 rows for each uid, in all:" in shown
    assert "Counts are of at most 3 rows for each uid." in shown


def test_replace_one_hides_values_not_presence() -> None:
    shown = text_of("three-way")
    assert "(replace-one); the number of rows counts as public" in shown
    assert "is in the data" not in shown
    assert "when its presence is known" not in shown
    assert promise_of(KINDS["three-way"]()).replaced == ""
    assert "public: the number of rows, attributes" in shown


def test_row_as_the_unit_warns_people_with_several_rows() -> None:
    assert "several rows is protected less" in text_of("ranges")


def test_seeded_release_promises_nothing() -> None:
    shown = text_of("seeded")
    assert promise_of(KINDS["seeded"]()).definition == ""
    assert "A test release with repeatable noise. It protects nobody." in shown
    assert "the odds that" not in shown


@pytest.mark.parametrize("published", [True, False])
def test_an_unproven_claim_is_a_warning_with_or_without_a_published_one(published: bool) -> None:  # noqa: FBT001
    changes = {} if published else {"published": None}
    found = promise_of(claiming(KINDS["ranges"](), proven=None, **changes))
    assert found.warning == UNPROVEN
    assert not found.is_proven
    assert bool(found.beliefs) == published


def test_the_page_says_what_a_family_is_promised() -> None:
    """Theorem 7: g epsilon; under zCDP g^2 rho; of a device, for the reports of g people."""
    assert promise_of(KINDS["ranges"]()).groups == ((2, "ε = 2"), (4, "ε = 4"), (10, "ε = 10"))
    assert promise_of(KINDS["zcdp"]()).groups == ((2, "ρ = 0.4"), (4, "ρ = 1.6"), (10, "ρ = 10"))
    assert "ε = 2 for 2, ε = 4 for 4, and ε = 10 for 10." in text_of("ranges")
    assert "changes the release no more than g² ρ allows" in text_of("zcdp")
    assert "changes no more than g ε allows" in text_of("local")
    assert "whether all g of them are in the data or none" in text_of("person")
    assert "People who say something about one another" in text_of("person")


def test_a_family_is_promised_nothing_by_a_seeded_release_and_nothing_beyond_what_a_loss_can_be() -> None:
    assert promise_of(KINDS["seeded"]()).groups == ()
    loss = ApproxDP(epsilon=3, delta=1e-6)
    release = claiming(KINDS["ranges"](), published=loss, proven=loss)
    assert [size for size, _ in promise_of(release).groups] == [2, 4]  # of ten, delta would reach 1
    unproven = claiming(KINDS["ranges"](), published=loss, proven=None)
    assert "If the published claim is right: The promise above" in text_of_page(unproven)
