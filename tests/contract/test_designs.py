"""Every method from its specification to its design and back: one text, one name, the same promise, no way to cheat."""

import hashlib
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest

from dpress import catalog, plan
from dpress.core.basics import rng
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import names
from dpress.core.basics.plain import plain, read
from dpress.core.methods.mechanism import Card
from dpress.data.specification.spec import load_spec
from dpress.document import design as documents
from dpress.mechanisms.protocol.collection import Collection
from dpress.query import designs

Path = tuple[str | int, ...]

AGE = {"name": "age", "kind": "integer", "bounds": [0, 7]}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"], "other": "elsewhere"}
SIZE = {"name": "size", "kind": "numeric", "bounds": [0.0, 8.5], "bins": 3, "null": "missing"}
CODES = {"name": "code", "kind": "hierarchy", "levels": ["one", "two"], "prefix": [1, 2], "values": ["a1", "a2", "b1"]}
PLACE = {"name": "place", "kind": "location", "columns": ["x", "y"], "bounds": [[0.0, 8.0], [0.0, 8.5]]}
OWN: dict[str, dict[str, Any]] = {
    "p_identity": {"seconds": 0.05},
    "insensitive_microaggregation": {"group": 2, "users": 100},
    "marginals": {"ways": 1},
    "direct_queries": {"queries": ["age >= 4 and sex = F", "sex = M or age < 2", "total"]},
    "per_record": {"users": 100},
    "group_statistics": {"by": ["sex"], "variance": ["age"], "quantiles": {"size": [0.25, 0.5]}},
    "cross_moments": {"by": ["sex"], "relations": ["age ~ size", "correlation age size"]},
    "group_quantiles": {"by": ["sex"], "mean": ["size"], "quantiles": {"age": [0.25, 0.5]}, "intervals": False},
    "discovered_groups": {"by": ["sex", "item"], "variance": ["age"]},
    "quantile_cells": {"by": ["sex"], "mean": ["age"], "quantiles": {"size": [0.25, 0.5]}},
    "bounds_from_outside": {"by": ["sex"], "variance": ["age"], "mean": ["size"], "private_bounds": ["size"]},
}
FROM_DEVICES: dict[str, Any] = {
    "numbers": ("statistics", [AGE], {"mean": ["age"]}),
    "sets": ("sets", [SEX], {"cap": 2}),
}
KINDS = {
    "spine_marginals": "regions",
    "marginals": "marginals",
    "priview": "marginals",
    "residual_marginals": "marginals",
    "group_statistics": "statistics",
    "cross_moments": "statistics",
    "direct_queries": "queries",
}
"""What linear methods are for, where that is not ranges."""
PARTS_ONLY = {"exponential", "approximate_quantiles", "weighted_rounds", "weighted_threshold", "private_bounds"}
"""Methods that no release is planned with: others use them, or only designs that were made before have them."""
ALSO_A_BUDGET = (("budget",), "delta")  # what is left, epsilon, is one, too
FREE = {"specification"}
"""What nothing acts on."""
MORE: dict[str, dict[str, Any]] = {
    "boxes": {"kind": "ranges", "attributes": ["age", "size"]},
    "lengths": {"kind": "ranges", "attributes": ["age"], "parameters": {"length": 3}},
    "histogram": {"kind": "histogram", "attributes": ["age", "sex"], "postprocess": ["nonnegative"]},
    "queries, atoms": {"kind": "queries", "method": "identity", "parameters": OWN["direct_queries"]},
    "queries, searched": {"kind": "queries", "method": "p_identity", "parameters": OWN["direct_queries"]},
}
LOCAL: dict[str, dict[str, Any]] = {
    "budget": {"kind": "marginals", "method": "krr", "parameters": {"split": "budget"}},
    "rappor of three": {"kind": "joint", "method": "em", "parameters": {"reports": "rappor", "bits": 32}},
    "ranges in rounds": {"kind": "ranges", "method": "ahead", "attributes": ["age"], "parameters": {"rounds": 2}},
    "triples": {"kind": "joint", "method": "pairs", "parameters": {"ways": 3}},
}


def specification(card: Card, scale: Fraction = Fraction(1)) -> dict[str, Any]:
    """A small one that the method serves."""
    loss = {"rho": 0.5 * float(scale)} if card.name in {"dst", "residual_marginals"} else {"epsilon": 2 * float(scale)}
    own, attributes = dict(OWN.get(card.name, {})), [AGE, SEX, SIZE]
    if card.family == "linear":
        kind = KINDS.get(card.name, "ranges")
        attributes = [AGE] if kind == "ranges" else [CODES, SEX] if kind == "regions" else attributes
    elif card.family == "selection":
        kind, attributes = "names", [{"name": "item", "kind": "categorical", "values": "discover"}]
        loss["delta"] = 1e-6
    elif card.family == "ranges":
        kind, attributes = "ranges", [AGE, SIZE | {"null": "reject"}] if card.name == "hdg" else [AGE]
    elif card.name in {"bounds_from_outside", "quantile_cells"}:
        kind = "statistics"
    elif card.family == "strings":
        kind, own = "strings", {"longest": 1, "kept": 4}
        attributes = [{"name": "item", "kind": "categorical", "values": "discover"}]
    elif card.family in FROM_DEVICES:
        kind, attributes, own = FROM_DEVICES[card.family]
        own = {"circular": ["age"]} if card.name == "circular_wave" else own
    elif card.family == "discovery":
        kind, attributes = "statistics", [{"name": "item", "kind": "categorical", "values": "discover"}, AGE, SEX]
        loss["delta"] = 1e-6
    elif card.family == "statistics":
        kind = "statistics"
    elif card.family == "spatial":
        kind, attributes = "spatial", [PLACE]
        own |= {"height": 2} if "height" in names(card.parameters) else {"side": 4}
    else:
        attributes = [AGE, SEX] if card.synthesizer else attributes
        kind = "microdata" if card.synthesizer else "marginals" if card.oracle else "joint"
    release = {"kind": kind, "method": card.name, "parameters": own}
    return {"attribute": attributes, "privacy": {"model": card.model, **loss}, "release": release}


def others(scale: Fraction = Fraction(1)) -> dict[str, dict[str, Any]]:
    """Specifications of other shapes of documents than the methods' own."""
    found = {}
    for model, named in (("central", MORE), ("local", LOCAL)):
        for name, release in named.items():
            privacy = {"model": model, "epsilon": 2 * float(scale)}
            found[name] = {"attribute": [AGE, SEX, SIZE], "privacy": privacy, "release": release}
    return found


def specifications(scale: Fraction = Fraction(1)) -> dict[str, dict[str, Any]]:
    cards = [card for card in catalog.cards().values() if card.name not in PARTS_ONLY]
    return {card.name: specification(card, scale) for card in cards} | others(scale)


PLANNED = {name: plan(load_spec(own)).design for name, own in specifications().items()}


def later_round(name: str) -> documents.Design:
    """The second round of a collection, as its first round's answers make it."""
    first = PLANNED[name]
    collection = designs.collection_of(first)
    own = collection.estimator
    assert own.rounds
    places = np.zeros((len(collection.shape), 400), dtype=np.int32)
    following = own.following([one.tally(one.perturb(places, rng=rng.seeded(1))) for one in collection.types])
    grown = Collection(shape=collection.shape, types=following.types, split="users", estimator=following)
    ask = designs.local_ask(grown, first.schema, first=first.id)
    estimator, claim = designs.estimator_of(grown), designs.promise(grown.claim)
    return msgspec.structs.replace(first, ask=ask, round=1, estimator=estimator, claim=claim)


PLANNED |= {f"{name}, second round": later_round(name) for name in ("ahead", "ranges in rounds")}
every = pytest.mark.parametrize("name", sorted(PLANNED))


def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(documents.encode(PLANNED[name]))
    return found


def refusal(changed: dict[str, Any]) -> str | None:
    """Why dpress does not act on a document, or None."""
    try:
        designs.mechanism_of(documents.decode(json.dumps(changed)))
    except SchemaMismatch as error:
        return str(error)
    return None


def one_line_with_its_place(said: str | None) -> bool:
    return said is not None and "\n" not in said and len(said) < 400 and ("$" in said or "`" in said or "claim" in said)


def test_every_method_has_a_specification_and_is_the_method_of_its_design() -> None:
    assert set(catalog.cards()) == {one.method for one in PLANNED.values()} | PARTS_ONLY
    assert all(PLANNED[name].method == name for name in set(catalog.cards()) - PARTS_ONLY)
    assert {one.kind for one in PLANNED.values()} == set(catalog.kinds())


@pytest.mark.parametrize("name", sorted(PARTS_ONLY))
def test_a_method_that_others_use_is_read_back_as_it_was(name: str) -> None:
    card = catalog.card(name)
    loss = ApproxDP(epsilon=1, delta="1e-6") if card.family == "selection" else PureDP(epsilon=1)
    made = card.example(loss, Unit())
    again: Any = read(object, json.loads(json.dumps(plain(made))), find=catalog.find)
    assert again == made
    assert again.claim == made.claim


@every
def test_the_text_is_read_back_byte_for_byte_and_promises_the_same(name: str) -> None:
    design = PLANNED[name]
    text = documents.encode(design)
    again = documents.decode(text)
    assert (again.ask, again.claim, again.queries, again.prediction) == (
        design.ask, design.claim, design.queries, design.prediction,
    )  # fmt: skip
    assert documents.encode(again) == text
    assert documents.encode(documents.decode(text.encode())) == text
    mechanism = designs.mechanism_of(again)
    assert designs.promise(mechanism.claim) == design.claim
    assert design.id == again.id


@every
def test_the_mechanism_is_the_planned_one(name: str) -> None:
    """Written again it gives the same document, and it promises to the letter what the planned one did."""
    design = PLANNED[name]
    mechanism = designs.mechanism_of(documents.decode(documents.encode(design)))
    if isinstance(mechanism, Collection):
        assert isinstance(design.ask, documents.LocalAsk)
        first = design.ask.rounds.collection if design.ask.rounds is not None else ""
        assert designs.local_ask(mechanism, design.schema, first=first) == design.ask
        assert designs.estimator_of(mechanism) == design.estimator
    else:
        assert designs.central_ask(mechanism, design.schema) == design.ask
    if name in specifications():
        assert plan(load_spec(specifications()[name])).chosen.mechanism.claim == mechanism.claim


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every dict, list and value in plain data with the way to it."""
    yield path, value
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in pairs:
        yield from leaves(one, (*path, key))


@every
def test_the_canonical_form_holds_no_float_and_its_name_is_its_hash(name: str) -> None:
    design = PLANNED[name]
    ask = json.loads(documents.canonical(design.ask))
    assert [path for path, value in leaves(ask) if isinstance(value, float)] == []
    text = json.dumps(ask, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text.encode() == documents.canonical(design.ask)
    assert design.id == hashlib.sha256(text.encode()).hexdigest()
    # a reader that has only the document comes to the same: numbers that are no integers become texts
    told = document(name)["ask"]
    same = json.dumps(as_texts(told), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert same == text


def as_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: as_texts(one) for name, one in value.items()}
    if isinstance(value, list):
        return [as_texts(one) for one in value]
    return repr(value) if isinstance(value, float) else value


def dicts(value: Any, path: Path = ()) -> Iterator[Path]:
    """The ways to all objects with fields of a document that something acts on; of a list's entries the first two."""
    if isinstance(value, dict):
        yield path
        for name, one in value.items():
            if path or name not in FREE:
                yield from dicts(one, (*path, name))
    if isinstance(value, list):
        for number, one in enumerate(value[:2]):
            yield from dicts(one, (*path, number))


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def faults(found: dict[tuple[str, str], str | None]) -> dict[tuple[str, str], str | None]:
    return {place: said for place, said in found.items() if not one_line_with_its_place(said)}


def may_be_left_out(name: str, field: str) -> bool:
    """Whether a field says again what the hash of a tree of codes says, or is one that older designs do not have."""
    return (name, field) in {("spine_marginals", "values"), ("graphical", "again"), ("quadtree", "branching")}


@every
def test_a_field_that_is_left_out_is_named(name: str) -> None:
    found: dict[tuple[str, str], str | None] = {}
    for path in dicts(document(name)):
        for field in at(document(name), path):
            changed = document(name)
            del at(changed, path)[field]
            if (path, field) != ALSO_A_BUDGET and not may_be_left_out(name, field):
                found[str(path), field] = refusal(changed)
    assert len(found) > 30
    assert faults(found) == {}


@every
def test_a_field_that_is_added_is_named(name: str) -> None:
    """By its own name or, in a loss, by that of what it was added to."""
    found: dict[tuple[str, str], str | None] = {}
    for path in dicts(document(name)):
        for value in (1, "1/1"):
            changed = document(name)
            at(changed, path)["extra"] = value
            said = refusal(changed)
            found[str(path), str(value)] = said if {"extra", *path} & set(re.findall(r"\w+", str(said))) else None
    assert faults(found) == {}


LOSS_FIELDS = ("loss", "levels", "epsilons")


def dearer(name: str) -> Iterator[dict[str, Any]]:
    """The document with probabilities, or noise, of 5 % more loss than it says, one oracle or loss at a time."""
    more = specifications(Fraction(21, 20)).get(name)
    ask = document(name)["ask"]
    if ask["model"] == "local" and more is not None:
        high = json.loads(documents.encode(plan(load_spec(more)).design))["ask"]
        for number, own in enumerate(high["report_types"]):
            for row, part in enumerate(own["parts"]):
                changed = document(name)
                stated = changed["ask"]["report_types"][number]["parts"][row]
                kept = {field: stated["oracle"][field] for field in LOSS_FIELDS if field in stated["oracle"]}
                stated["oracle"] = part["oracle"] | kept
                yield changed
    for path, value in leaves(document(name)):
        if path and path[0] in ("ask", "estimator", "claim") and path[-1] in ("epsilon", "rho"):
            changed = document(name)
            at(changed, path[:-1])[path[-1]] = raised(value)
            yield changed


def sent(own: dict[str, Any]) -> list[dict[str, Any]]:
    """What the device of a document computes with."""
    oracles = [part["oracle"] for one in own["ask"]["report_types"] for part in one["parts"]]
    return [{field: value for field, value in one.items() if field != "loss"} for one in oracles]


def raised(value: str) -> str:
    more = Fraction(value) * Fraction(21, 20)
    return f"{more.numerator}/{more.denominator}"


@every
def test_five_percent_more_than_is_claimed_is_refused(name: str) -> None:
    found = {(name, str(number)): refusal(changed) for number, changed in enumerate(dearer(name))}
    assert found or PLANNED[name].claim.published is None, "nothing of it was made dearer"
    for number, changed in enumerate(dearer(name)):
        if found[name, str(number)] is None:  # a larger limit that no report makes use of
            del found[name, str(number)]
            assert sent(changed) == sent(document(name))
            assert changed["claim"] == document(name)["claim"]
    assert faults(found) == {}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "null", '{"format": 2}', '{"format": "1"}', '{"format": 1}', "[" * 100_000, "\ud800", "NaN"],
)
def test_what_is_no_design_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(SchemaMismatch) as refused:
        documents.decode(text.encode("utf-8", "surrogatepass"))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200
