# Greek letters as the page shows them
"""The page of a collection: no word of the central model, and every guarantee with its own name and figure."""

import re
from dataclasses import replace
from html import unescape

import pytest
from tests.kinds.conftest import AGE, KINDS, REGION, SEX, collect, make
from tests.kinds.reading import html_of, text_of, text_of_page, undrawn

from dpress.core.basics.losses.pure import PureDP
from dpress.reporting import counts
from dpress.reporting.facts import facts
from dpress.reporting.promise import NEARLY_NOTHING, promise
from dpress.reporting.rounding import loss

pytestmark = pytest.mark.slow

LOCAL = [name for name in KINDS if name.startswith("local")]
CENTRAL_WORDS = ("rows", "row", "curator", "neighbours", "add-remove", "noise that", "none occurred", "trusted")


@pytest.mark.parametrize("name", LOCAL)
def test_no_word_of_the_central_model_is_on_the_page(name: str) -> None:
    shown = text_of(name)
    assert [word for word in CENTRAL_WORDS if re.search(rf"\b{word}\b", shown)] == []
    assert "people" in shown


def test_the_words_would_be_found_on_a_central_page() -> None:
    shown = text_of("ranges")
    assert {"rows", "neighbours", "noise that"} <= {word for word in CENTRAL_WORDS if word in shown}


def test_user_groups_or_all_at_once_is_said() -> None:
    groups, once = text_of("local"), text_of("local at once")
    assert "answered for one attribute, drawn at random, with the whole ε" in groups
    assert "the coins of the devices and the random draw that gave each device its attribute" in groups
    assert "sent a report, and which attribute the report is about, is not hidden" in groups
    assert "answered for all attributes in one report, with an equal part of ε for each" in once
    assert "random draw" not in once
    assert "That somebody sent a report is not hidden" in once
    assert "any two combinations of values of all attributes together must be hard to tell apart" in once


def terms(html: str) -> dict[str, tuple[str, str]]:
    """Return the terms of the promise by name: a figure, which may be empty, and the rest of the sentence."""
    found = re.findall(r"<dt>([^<]*)</dt><dd>(?:<b>(.*?)</b>)?(.*?)</dd>", html, re.DOTALL)
    return {name: (figure, " ".join(unescape(rest).split())) for name, figure, rest in found}


def test_both_guarantees_over_time_and_the_published_sum() -> None:
    release = KINDS["local for ever"]()
    types = release.mechanism.types  # type: ignore[attr-defined]
    lasting = max(sum(oracle.lifetime.epsilon for oracle in one.oracles) for one in types)
    shown = terms(undrawn(release))
    assert shown["Proven, per report"][0] == loss(release.claim.proven)
    assert shown["Proven, lifetime"][0] == loss(PureDP(epsilon=lasting))
    assert "changed value" in shown["Proven, lifetime"][1]
    assert shown["Published"][0] == loss(release.claim.published) != loss(release.claim.proven)
    assert "plus that of the permanent" in shown["Published"][1]


def test_without_a_permanent_response_every_report_costs_again() -> None:
    shown = terms(html_of("local"))
    assert "spends ε = 1 again" in shown["Over time"][1]
    assert "Proven, lifetime" not in shown


def test_probabilities_can_be_read_and_every_attribute_has_its_own() -> None:
    _, basis = terms(html_of("local"))["Because of"]
    assert re.findall(r"\b(age|region|sex): ", basis) == ["age", "region", "sex"]
    assert not re.search(r"\d/\d{7}", basis)


def test_reports_that_were_left_out_are_listed_with_their_reason() -> None:
    release = replace(KINDS["local"](), rejected={"repeated id": 1203, "another specification": 4})
    shown = text_of_page(release)
    assert (
        "left out and are in no count: Reports left out reason reports another specification 4 repeated id 1,203"
        in shown
    )
    assert "left out and" not in text_of("local")


def test_the_number_of_people_is_exact_and_has_no_interval() -> None:
    assert "public and exact): 400." in text_of("local")


def test_methods_of_two_ways_of_asking_are_told_apart_and_one_is_highlighted() -> None:
    release = KINDS["local"]()
    drawing = counts.predicted(facts(release), counts.asking(facts(release)))["methods"].drawing
    assert {"krr, one attribute", "krr, all at once"} <= set(re.findall(r">([a-z_]+, [a-z ]+)<", drawing))


@pytest.mark.parametrize(("epsilon", "warned"), [(20.0, False), (21.0, True)])
def test_an_epsilon_above_twenty_is_warned_of(epsilon: float, warned: bool) -> None:  # noqa: FBT001
    for release in (collect([SEX], {"epsilon": epsilon}, method="krr"), make("histogram", [SEX], {"epsilon": epsilon})):
        assert (promise(facts(release)).warning == NEARLY_NOTHING) == warned
        assert ("NEXT TO NOTHING IS PROMISED" in undrawn(release)) == warned


def test_charged_is_each_device() -> None:
    release = collect([AGE, REGION])
    assert release.charged == PureDP(epsilon=1)
    assert "is what each device spent on its one report" in text_of_page(release)
