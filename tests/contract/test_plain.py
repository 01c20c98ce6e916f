"""Every oracle is its fields: written down, read back without any calibration, refused where it would overspend."""

import dataclasses
import json
import re
import sys
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import pytest

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.plain import plain, read
from dpress.core.maps.grid import Grid
from dpress.core.reports.oracle import Oracle
from dpress.mechanisms.oracle.longitudinal import calibrated
from dpress.mechanisms.oracle.pcep import Pcep
from dpress.mechanisms.spatial.safe_regions import SafeRegions

CALIBRATIONS = ("truth_probability", "design", "buckets", "informative_share", "calibrated")
OVERSPEND = Fraction(105, 100)
LOSSES = [PureDP(epsilon="0.5"), PureDP(epsilon=3)]
LONGITUDINAL = {"rappor": 2, "rr_ldp": 1}  # they carry no loss: stated numbers are checked where they are stated; pairs
STEEP = {"p": Fraction(1, 50), "q": Fraction(49, 50)}


def in_tables(loss: PureDP) -> dict[str, Any]:
    found = {name: card.oracle(5, loss) for name, card in catalog.cards().items() if card.oracle is not None}
    assert all(one is not None for one in found.values())
    return found


def in_maps(loss: PureDP) -> dict[str, Any]:
    cards = [card for card in catalog.cards().values() if card.spatial is not None and card.model == "local"]
    makers = {card.name: card.spatial(Grid(4), loss) for card in cards}
    types = {name: made.types for name, made in makers.items() if made is not None}
    return {f"map {name} {row}": one.oracles[0] for name, own in types.items() for row, one in enumerate(own)}


def everything(loss: PureDP) -> dict[str, Any]:
    mixed = Pcep(size=4, levels=(loss, PureDP(epsilon=loss.epsilon / 2)), rows=16, regions=((0, 1), (2, 3)))
    regions = SafeRegions(grid=Grid(4), loss=loss, region_levels=(0, 1), epsilons=(loss.epsilon, loss.epsilon / 2))
    return in_tables(loss) | in_maps(loss) | {"pcep, two levels": mixed, "regions, two epsilons": regions}


NAMES = sorted(everything(LOSSES[0]))
every = pytest.mark.parametrize("name", NAMES)
by_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)


def left_out(oracle: Any) -> dict[str, Any]:
    """What its fields hold where they are left out."""
    return {one.name: one.default for one in dataclasses.fields(oracle) if one.default in (0, -1, ())}


def read_back(kind: type, value: object) -> Any:
    return read(kind, value, find=catalog.find)


def broken(*_: object, **__: object) -> NoReturn:
    raise AssertionError("calibrated again")


def everything_it_does(oracle: Any) -> list[Any]:
    first = len(oracle.regions[0]) if isinstance(oracle, Pcep) else oracle.size
    values = (np.arange(300) % first).astype(np.int32)
    reports = oracle.perturb(values, rng=rng.seeded(3))
    tally = oracle.tally(reports)
    measured = oracle.estimate(tally, 300)
    try:
        channel = oracle.channel() if oracle.size <= 5 else None  # of 16 bits it is long
        rows = None if channel is None else [channel.payloads.tolist(), channel.probabilities]
    except NotSupported as refusal:
        rows = str(refusal)
    faults = {reason: mask.tolist() for reason, mask in oracle.faults(reports ^ 255).items()}
    done = [reports.tolist(), tally.tolist(), np.asarray(measured.answers).tolist(), faults, oracle.width, oracle.claim]
    return [*done, np.asarray(measured.variance).tolist(), oracle.variance(300), oracle.variance(300, 0.5), rows]


@by_loss
@every
def test_what_is_read_back_never_calibrates(name: str, loss: PureDP, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = everything(loss)[name]
    before, text = everything_it_does(oracle), json.dumps(plain(oracle))
    assert not re.search(r"\d\.\d", text), "a float that two machines may compute differently"
    for module in [own for place, own in sys.modules.items() if place.startswith("dpress.")]:
        for one in CALIBRATIONS:
            if callable(vars(module).get(one)):
                monkeypatch.setattr(module, one, broken)
    again = read_back(type(oracle), json.loads(text))
    assert again == oracle
    assert everything_it_does(again) == before
    if name not in LONGITUDINAL and name != "loloha" and oracle.size > 1:  # which has all its numbers stated
        with pytest.raises(AssertionError, match="calibrated again"):
            dataclasses.replace(oracle, **left_out(oracle))


@by_loss
@every
def test_five_percent_more_than_the_loss_is_refused(name: str, loss: PureDP) -> None:
    more = PureDP(epsilon=loss.epsilon * OVERSPEND)
    if name in LONGITUDINAL:
        over = calibrated(more, LONGITUDINAL[name], **STEEP)
        own = catalog.card(name).oracle
        assert own is not None
        with pytest.raises(ValueError, match=r"more than epsilon = "):
            own(5, loss, f=over.f, **STEEP)
        return
    kind, oracle = type(everything(loss)[name]), everything(more)[name]
    stated, claimed = plain(oracle), plain(everything(loss)[name])
    if getattr(oracle, "p", None) == 1:
        assert read_back(kind, stated | {"loss": plain(loss)}).claim.proven == loss  # a report that says nothing
        return
    for field in ("loss", "levels", "epsilons"):
        if field in stated:
            stated[field] = claimed[field]
    with pytest.raises(ValueError, match=r"\$: reports would spend more than epsilon = ") as refusal:
        read_back(kind, stated)
    assert "\n" not in str(refusal.value)


@every
def test_a_document_says_everything_and_nothing_else(name: str) -> None:
    oracle = everything(LOSSES[0])[name]
    document, kind = plain(oracle), type(oracle)
    for field in document:
        with pytest.raises(ValueError, match=rf"^\$\.{field}: missing$"):
            read_back(kind, {one: value for one, value in document.items() if one != field})
    with pytest.raises(ValueError, match=r"^\$\.extra: unknown field$"):
        read_back(kind, document | {"extra": 1})
    for field, nothing in left_out(oracle).items():
        if nothing != getattr(oracle, field):
            with pytest.raises(ValueError, match=r"^\$"):
                read_back(kind, document | {field: plain(nothing)})


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("krr", {"p": "1/3"}, r"\$: p must be a multiple of 2\^-64"),
        ("krr", {"p": "1/8"}, r"\$: reports would say nothing"),
        ("krr", {"p": 0.5}, r'\$\.p: expected a fraction "num/den" in lowest terms, got float'),
        ("krr", {"p": "2/4"}, r"\$\.p: expected a fraction"),
        ("krr", {"p": "1/0"}, r"\$\.p: expected a fraction"),
        ("krr", {"size": True}, r"\$\.size: expected an integer, got bool"),
        ("krr", {"loss": "1/2"}, r"\$\.loss: expected an object, got another text"),
        ("krr", {"loss": {"epsilon": "0/1"}}, r"\$\.loss: epsilon must be > 0"),
        ("oue", {"p": "3/4"}, r"\$: p must be 1/2"),
        ("sue", {"q": "3/8"}, r"\$: q must be 1 - p"),
        ("subset_selection", {"weight": 5}, r"\$: weight must be at most 4"),
        ("subset_selection", {"q": "1/4"}, r"\$: q must be \(weight - p\) / \(size - 1\)"),
        ("hadamard", {"rows": 12}, r"\$: rows must be a power of two from 5"),
        ("hadamard", {"rows": 4}, r"\$: rows must be a power of two from 5"),
        ("pgr", {"order": 6}, r"\$: order must be a prime up to 1021, 4 or 8, got order=6"),
        ("loloha", {"g": 1}, r"\$: g must lie between 2 and 65536"),
        ("olh", {"g": 1}, r"\$: g must lie between 2 and 65536"),
        ("pcep", {"probabilities": ["5/8", "5/8"]}, r"\$: probabilities must be one for every level"),
        ("pcep", {"seed": "0" * 30}, r"\$: seed must have 16 bytes"),
        ("pcep", {"seed": "0g" * 16}, r"\$\.seed: expected bytes as lower-case hex digits"),
        ("pcep", {"levels": [{"epsilon": "1/2", "delta": "1/9"}]}, r"\$: a frequency oracle is calibrated to epsilon"),
        ("pcep", {"levels": [{"epsilon": "1/2", "other": "1/9"}]}, r"\$\.levels\[0\]: "),
        ("pcep", {"levels": [{"epsilon": 0.5}]}, r"\$\.levels\[0\]\.epsilon: expected a fraction"),
        ("rappor", {"f": "1/3"}, r"\$\.f: must be stated, and exactly"),
        ("rappor", {"candidates": ["a", 2]}, r"\$\.candidates\[1\]: expected a text, got int"),
        ("rr_ldp", {"sizes": {}}, r"\$\.sizes: expected a list, got dict"),
        ("map dam 0", {"radius": 9}, r"\$: radius must be at most the side, 4"),
        ("map dam 0", {"grid": {"side": 0}}, r"\$\.grid: side must be an integer >= 1"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_in_one_line(name: str, changed: dict[str, Any], message: str) -> None:
    oracle = everything(LOSSES[0])[name]
    with pytest.raises(ValueError, match=rf"^{message}") as refusal:
        read_back(type(oracle), plain(oracle) | changed)
    assert "\n" not in str(refusal.value)


def test_what_has_no_plain_form_is_the_caller_s_mistake() -> None:
    for value in (0.5j, np.float64(0.5), object()):
        with pytest.raises(TypeError, match=f"{type(value).__name__} has no exact plain form"):
            plain((value,))
    with pytest.raises(TypeError, match="has no exact plain form"):
        read(dict, {})


def test_a_stated_number_stands_for_itself_and_nothing_else_is_a_number() -> None:
    assert read(float, json.loads(json.dumps(plain(0.1)))) == 0.1
    for wrong in ("0.1", True, None):
        with pytest.raises(ValueError, match=r"^\$: expected a number, got"):
            read(float, wrong)


@pytest.mark.parametrize("value", [3, None, [], "krr", {"size": 3}, {"method": "nothing"}, {"method": 3}])
def test_what_is_no_object_of_a_method_is_refused_in_one_line(value: object) -> None:
    for kind in (object, Oracle):
        with pytest.raises(ValueError, match=r"^\$(\.method)?: (expected an object of a method|missing|there is no)"):
            read_back(kind, value)


@pytest.mark.parametrize("text", ["1e999999999", "1/" + "7" * 1001, "7" * 1001 + "/1", "1/1_0", "1/0"])
def test_a_fraction_is_one_text_of_bounded_length(text: str) -> None:
    with pytest.raises(ValueError, match=r'^\$\.shares\[0\]: expected a fraction "num/den"'):
        read(tuple[Fraction, ...], [text], "$.shares")


def test_an_integer_fits_64_bits() -> None:
    assert read(int, 2**63 - 1) == 2**63 - 1
    with pytest.raises(ValueError, match=r"^\$: expected an integer below 2\^63"):
        read(int, 2**63)
