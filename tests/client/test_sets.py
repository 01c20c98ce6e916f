"""Sets of values in the browser client: the members of whatever an app names, and reports of several words."""

import json

import msgspec
import numpy as np
import pytest
from tests.client.devices import document, run
from tests.client.test_bytes import answers

from dpress import plan
from dpress.attributes.coding import codes
from dpress.attributes.domain import Schema
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.spec import from_dict

DEVICES = 60
WORDS = {"name": "apps", "kind": "categorical", "values": [f"app {i}" for i in range(20)], "other": "other"}
NUMBERS = {"name": "apps", "kind": "categorical", "values": list(range(20)), "other": "reject", "null": "none"}
ODD = [
    "", " ", ";", "app 1;app 2", " app 1 ; app 19 ", "app 1;nothing", "1;2;19", "1.0; 2e0", [], [[]], [None], [True],
    [1, "2", 3.0], [19, 20], ["app 0", "app 0"], 3, 3.5, -1, True, None, float("nan"), float("inf"), 2**70,
]  # fmt: skip


def design_of(attribute):
    asked = {"attribute": [attribute], "privacy": {"model": "local", "epsilon": 0.5}}
    return plan(from_dict(asked | {"release": {"kind": "sets", "parameters": {"cap": 4}}})).design


def said(design):
    return document(json.loads(msgspec.json.encode(design.ask)))


@pytest.mark.parametrize("attribute", [WORDS, NUMBERS], ids=["words", "numbers"])
def test_odd_sets_are_those_of_python_or_refused_alike(attribute, tmp_path):
    """The same bytes from the same coins: a refused value draws none."""
    design = design_of(attribute)
    (own,) = design.ask.attributes
    found = run(tmp_path, identity=design.id, said=said(design), devices=[{"apps": one} for one in ODD], preview=True)
    expected = [members(own, one) for one in ODD]
    assert [one.packed is None for one in found] == [one is None for one in expected]
    sent = [(one, words) for one, words in zip(found, expected, strict=True) if words is not None]
    table = np.array([words for _, words in sent]).T
    assert [one.packed for one, _ in sent] == answers(
        design, table, [one.secret for one, _ in sent], bytes.fromhex(design.id)
    )
    assert len(set(map(tuple, table.T.tolist()))) > 2


def members(attribute, value):
    try:
        return codes(Schema((attribute,)), {"apps": value})
    except SchemaMismatch:
        return None


def test_reports_of_two_words_are_python_s_byte_for_byte(tmp_path):
    design = design_of(WORDS)
    (oracle,) = (part.oracle for own in design.ask.report_types[:1] for part in own.parts)
    assert oracle["weight"] > 1
    held = [[one for place, one in enumerate(WORDS["values"]) if (place * 7 + i) % 20 < i % 9] for i in range(DEVICES)]
    found = run(tmp_path, identity=design.id, said=said(design), devices=[{"apps": one} for one in held], preview=True)
    table = np.array([members(design.ask.attributes[0], one) for one in held]).T
    assert table.shape == (2, DEVICES)
    secrets, key = [one.secret for one in found], bytes.fromhex(design.id)
    assert [one.packed for one in found] == answers(design, table, secrets, key)
    assert [one.packed for one in found] != answers(design, table[:, ::-1], secrets, key)
