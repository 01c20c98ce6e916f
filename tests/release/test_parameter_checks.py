"""The one checker of [release.parameters]: what the kind and the methods take, and what nobody does."""

from typing import Annotated

import pytest
from msgspec import Meta

from dpress import catalog
from dpress.core.basics.kind import Participants, Reporters
from dpress.core.basics.parameters import Parameters, listed, names
from dpress.data.specification.spec import from_dict
from dpress.release.plan.parameter_checks import beside, expected_users, of_kind, of_methods, parameters_of

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}


class Wide(Parameters, frozen=True):
    """Of one method."""

    width: Annotated[int, Meta(ge=1, description="of it")] | None = None


class Narrow(Wide, frozen=True):
    """Of another, which takes less of it."""

    width: Annotated[int, Meta(ge=1, le=4, description="of it")] | None = None
    depth: Annotated[int, Meta(ge=1, description="of it")] | None = None


class Needing(Parameters, frozen=True):
    """Of a third."""

    width: Annotated[int, Meta(ge=1, description="of it")]


METHODS = {"wide": Wide, "narrow": Narrow}


def spec(method="auto", kind="marginals", model="local", **own):
    release = {"kind": kind, "method": method, "parameters": own}
    return from_dict({"attribute": [AGE], "privacy": {"model": model, "epsilon": 1.0}, "release": release})


def test_the_kinds_own_have_defaults_and_are_left_to_it():
    assert of_kind(spec(), Reporters) == Reporters(users=10_000, round=0)
    assert of_kind(spec(users=5, round=2, width=1), Participants) == Participants(users=5)
    assert expected_users(spec(users=70)) == 70
    assert beside(spec(users=5, width=1, depth=2)) == ["depth", "width"]


def test_every_method_gets_what_it_takes_if_it_takes_all():
    assert of_methods(spec(), METHODS) == {"wide": {}, "narrow": {}}
    assert of_methods(spec(width=2, users=3), METHODS) == {"wide": {"width": 2}, "narrow": {"width": 2}}
    assert of_methods(spec(width=2, depth=1), METHODS) == {"narrow": {"width": 2, "depth": 1}}
    assert of_methods(spec(width=9), METHODS) == {"wide": {"width": 9}}
    assert of_methods(spec("wide", width=9), METHODS) == {"wide": {"width": 9}}
    assert of_methods(spec(), {}) == {}


def test_a_parameter_that_the_kind_and_a_method_take_reaches_both():
    assert of_methods(spec(users=3), {"a": Participants, "b": Wide}) == {"a": {"users": 3}, "b": {}}


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (spec(height=2), ": unknown parameter 'height' for a local collection of kind 'marginals'; known: "),
        (spec(kind="ranges", model="central", x=1), ": unknown parameter 'x' for kind 'ranges'; known: queries,"),
        (spec("wide", depth=1), ": unknown parameter 'depth' for wide; known: users, round, split, reports, changes"),
        (spec("wide", kind="histogram", model="central", x=1), ": unknown parameter 'x' for wide; known: width"),
        (spec("narrow", width=9), ".width: expected at most 4, got 9"),
        (spec(width=9, depth=1), ".width: expected at most 4, got 9"),
        (spec(width=0), ".width: expected an integer >= 1, got 0"),
        (spec(users=0), ".users: expected an integer >= 1, got 0"),
        (spec(round=65536), ".round: expected at most 65535, got 65536"),
        (spec(round=-1), ".round: expected an integer from 0 to 65535, got -1"),
        (spec(split="both"), ".split: expected \"users\" or \"budget\", got 'both'"),
    ],
)  # fmt: skip
def test_what_nobody_takes_is_refused_in_one_line(asked, wanted):
    with pytest.raises(ValueError, match="parameters") as caught:
        of_methods(asked, METHODS)
    assert str(caught.value).startswith(f"$.release.parameters{wanted}")


def test_what_no_method_takes_together_is_refused():
    with pytest.raises(ValueError, match="no method takes depth, users for this release of kind 'histogram'"):
        of_methods(spec(kind="histogram", model="central", users=1, depth=1), {"a": Participants, "b": Narrow})


def test_a_method_that_needs_a_parameter_is_left_out_or_asks_for_it():
    methods = {"needing": Needing, "wide": Wide}
    assert of_methods(spec(), methods) == {"wide": {}}
    with pytest.raises(ValueError, match=r"parameters\.width: needing needs it"):
        of_methods(spec("needing"), methods)


def test_a_planner_may_settle_on_one_and_give_a_hint():
    with pytest.raises(ValueError, match="unknown parameter 'side' for wide; set `height`; known: "):
        of_methods(spec(side=2), METHODS, method="wide", hints={"side": "set `height`"})


def test_a_card_alone_is_checked_likewise():
    card = catalog.card("hierarchy")
    assert parameters_of(card, {"branching": 4}) == {"branching": 4}
    with pytest.raises(ValueError, match="'depth' for hierarchy; known: branching, root, shares"):
        parameters_of(card, {"depth": 4})


STRUCTS = {card.name: card.parameters for card in catalog.cards().values()} | {
    f"{kind}, {model}": own for room in catalog.kinds().values() for (kind, model), own in room.parameters.items()
}


@pytest.mark.parametrize("name", STRUCTS)
def test_every_parameter_has_a_type_and_one_sentence(name):
    for one in listed(STRUCTS[name]):
        assert one.type
        assert one.sentence
        assert not one.sentence.endswith(".")
        assert "\n" not in one.sentence


def test_every_parameter_of_a_method_is_an_argument_of_what_makes_it():
    import inspect

    for card in catalog.cards().values():
        make = card.strategy or card.oracle or card.spatial or card.synthesizer or card.protocol
        if make is not None and names(card.parameters):
            taken = set(inspect.signature(make).parameters)
            assert set(names(card.parameters)) - {"height", "side"} <= taken, card.name
