"""What was designed once is acted on without any planner: from the stored designs of every kind and every method.

Every planner of the rooms raises, and so does every factory by which a card makes a mechanism. What a collection in
rounds asks next is no plan: it is computed, by the oracles that the design names, from what came out of this round.
"""

from dataclasses import astuple, replace

import pytest
from tests.release.stored import NAMES, STORED, design_of, released, rows_of

from dpress import catalog, report
from dpress.attributes.hierarchy.attribute import Hierarchy
from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.mechanisms.protocol import short_reports
from dpress.query.load import load_release
from dpress.release.devices.device import device, intake
from dpress.release.devices.next_round import NEXT
from dpress.release.plan import plan as planning
from dpress.release.truth.evaluate import evaluate

pytestmark = pytest.mark.slow

FACTORIES = ("strategy", "oracle", "spatial", "grids", "synthesizer", "protocol")
PAGES = ["histogram", "marginals", "ranges_boost", "local_krr", "joint_pairs", "joint_em", "map_gtr_top_down",
         "map_ahead_1", "census_quadtree", "records_dp_prototypes"]  # fmt: skip


def refuse(*_arguments, **_keywords):
    raise AssertionError("something was planned")


@pytest.fixture(autouse=True)
def no_planner(monkeypatch):
    """Let every planner and every factory raise."""
    for name in catalog.kinds():
        monkeypatch.setattr(catalog.part(name, "design"), "choose", refuse)
    monkeypatch.setattr(planning, "plan", refuse)
    cards = catalog.cards()
    cards = catalog.cards()
    untouched = {name: replace(card) for name, card in cards.items()}
    monkeypatch.setattr(short_reports, "_card", untouched.__getitem__)
    for card in cards.values():
        for name in FACTORIES:
            object.__setattr__(card, name, refuse)  # cards are frozen
    yield
    for card in cards.values():
        for name in FACTORIES:
            object.__setattr__(card, name, getattr(untouched[card.name], name))


OF_METHOD = {"circular_wave": "circular mean", "quantile_cells": "median"}


def queries(design):
    """Yield a query that every release of a design answers."""
    axis = design.schema.tabular[0]
    yield "total"
    parameters = design.specification["release"].get("parameters", {})
    if design.kind == "statistics" and axis.labels and f"{axis.name} = {axis.labels[0]}" in parameters.get("share", ()):
        yield f"share {axis.name} = {axis.labels[0]}"
    elif isinstance(axis, (Categorical, Hierarchy)) or axis.bounds is None:
        yield f"{axis.name} = {axis.labels[0]}"
    elif design.kind == "statistics":
        yield f"{OF_METHOD.get(design.method, 'mean')} {axis.name}"
    else:
        low, high = axis.bounds
        yield f"{axis.name} in {low}..{high}"


def test_the_planners_do_raise():
    plain = {"attribute": [{"name": "age", "kind": "integer", "bounds": [0, 9]}], "privacy": {"epsilon": 1}}
    spec = from_dict({**plain, "release": {"kind": "ranges"}})
    for planned in (lambda: planning.design_of(spec), lambda: device(spec), lambda: catalog.card("krr").oracle(3)):
        with pytest.raises(AssertionError, match="something was planned"):
            planned()


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_design_is_published_or_collected_read_back_asked_and_evaluated(name, tmp_path):
    design = design_of(name)
    release = released(design, tmp_path)
    again = load_release(tmp_path / "release")
    assert again.design == release.design
    completed = design.method in {
        "discovered_groups",
        "private_bounds",
        "bounds_from_outside",
        "quantile_cells",
    }  # by what the release found
    assert (release.design != design) is completed
    for text in queries(design):
        found, expected = (repr(astuple(one.query(text))) for one in (again, release))
        assert found == expected  # NaN where no error is known
    assert evaluate(again, rows_of(design))
    stored = load_release(STORED / name / "release")
    assert stored.claim == release.claim
    assert stored.design == release.design or design.method in {
        "private_bounds",
        "bounds_from_outside",
        "quantile_cells",
    }  # whose bounds are drawn
    assert (tmp_path / "release" / NEXT).exists() == (STORED / name / "release" / NEXT).exists()


@pytest.mark.parametrize("name", [name for name in NAMES if design_of(name).local])
def test_a_stored_design_makes_a_device_and_an_intake(name):
    design = design_of(name)
    sender, door, generator = device(design, allow_unproven=True), intake(design), rng.seeded(1)
    values = {column: rows_of(design)[column][0].as_py() for column in design.schema.names}
    codes = sender.codes(values)
    for _ in range(5):
        assert door.accept(sender.answer(codes, rng=generator, once=True)).payload


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_stored_release_has_its_page(name, tmp_path):
    assert "</html>" in report(load_release(STORED / name / "release"), tmp_path / "page.html").read_text()
