# Greek letters as the page shows them
"""The page of a collection: no word of the central model, and every guarantee with its own name and figure."""

import re
from dataclasses import fields, replace
from html import unescape

import pytest

from dpress.core.claim import PureDP
from dpress.release.release import Release
from dpress.report import figures, words
from dpress.report.page import page
from dpress.report.rounding import loss
from dpress.report.said import Said

from .conftest import AGE, KINDS, REGION, SEX, collect, make

LOCAL = [name for name in KINDS if name.startswith("local")]
CENTRAL_WORDS = ("rows", "row", "curator", "neighbours", "add-remove", "noise that", "none occurred", "trusted")


def text(release: Release) -> str:
    html = re.sub(r"<style.*?</style>|<pre.*?</pre>", "", page(release), flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


@pytest.mark.parametrize("name", LOCAL)
def test_no_word_of_the_central_model_is_on_the_page(name: str) -> None:
    shown = text(KINDS[name]())
    assert [word for word in CENTRAL_WORDS if re.search(rf"\b{word}\b", shown)] == []
    assert "people" in shown


def test_the_words_would_be_found_on_a_central_page() -> None:
    shown = text(KINDS["ranges"]())
    assert {"rows", "neighbours", "noise that"} <= {word for word in CENTRAL_WORDS if word in shown}


@pytest.mark.parametrize("name", ["ranges", *LOCAL])
def test_every_field_of_either_model_is_filled(name: str) -> None:
    said = words.said(KINDS[name]())
    assert [field.name for field in fields(Said) if not getattr(said, field.name) and field.name != "left_out"] == []


def test_one_lot_or_all_at_once_is_said() -> None:
    lot, once = words.said(KINDS["local"]()), words.said(KINDS["local at once"]())
    assert "one attribute, drawn by lot" in lot.noise
    assert "the lot" in lot.cover
    assert "which attribute" in lot.unit
    assert "all attributes in one report" in once.noise
    assert "lot" not in once.cover
    assert "all attributes together" in once.neighbours


def test_both_guarantees_over_time_and_the_published_sum() -> None:
    release = KINDS["local for ever"]()
    questions = release.planned.chosen.mechanism.questions  # type: ignore[union-attr]
    lasting = max(sum(oracle.lifetime.epsilon for oracle in question.oracles) for question in questions)
    terms = {name: (figure, rest) for name, figure, rest in words.said(release).terms}
    assert terms["Proven, per report"][0] == loss(release.claim.proven)
    assert terms["Proven, lifetime"][0] == loss(PureDP(epsilon=lasting))
    assert "changed value" in terms["Proven, lifetime"][1]
    assert terms["Published"][0] == loss(release.claim.published) != loss(release.claim.proven)
    assert "plus that of the permanent" in terms["Published"][1]


def test_without_a_permanent_response_every_report_costs_again() -> None:
    terms = {name: rest for name, _, rest in words.said(KINDS["local"]()).terms}
    assert "spends ε = 1 again" in terms["Over time"]
    assert "Proven, lifetime" not in terms


def test_probabilities_can_be_read_and_every_attribute_has_its_own() -> None:
    (basis,) = [rest for name, _, rest in words.said(KINDS["local"]()).terms if name == "Because of"]
    assert re.findall(r"\b(age|region|sex): ", basis) == ["age", "region", "sex"]
    assert not re.search(r"\d/\d{7}", basis)


def test_reports_that_were_left_out_are_listed_with_their_reason() -> None:
    release = replace(KINDS["local"](), rejected={"repeated id": 1203, "another specification": 4})
    assert words.said(release).left_out == (("another specification", "4"), ("repeated id", "1,203"))
    assert "left out and are in no count: reason reports another specification 4 repeated id 1,203" in text(release)
    assert "left out and" not in text(KINDS["local"]())


def test_the_number_of_people_is_exact_and_has_no_interval() -> None:
    assert "public and exact): 400." in text(KINDS["local"]())


def test_methods_of_two_ways_of_asking_are_told_apart_and_one_is_highlighted() -> None:
    release = KINDS["local"]()
    shown = figures.candidates_figure(release.planned, "people")
    assert shown.drawing is not None
    assert {"krr, one attribute", "krr, all at once"} <= set(re.findall(r">([a-z_]+, [a-z ]+)<", shown.drawing))


@pytest.mark.parametrize(("epsilon", "warned"), [(20.0, False), (21.0, True)])
def test_an_epsilon_above_twenty_is_warned_of(epsilon: float, warned: bool) -> None:  # noqa: FBT001
    for release in (collect([SEX], {"epsilon": epsilon}, method="krr"), make("histogram", [SEX], {"epsilon": epsilon})):
        stamp = words.stamp(release)
        assert (stamp is not None) == warned
        assert ("NEXT TO NOTHING IS PROMISED" in page(release)) == warned


def test_charged_is_each_device() -> None:
    release = collect([AGE, REGION])
    assert release.charged == PureDP(epsilon=1)
    assert "by each device, for one report" in text(release)
