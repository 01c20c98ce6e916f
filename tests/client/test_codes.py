"""The browser client finds the code of every value that Python finds.

A report of `krr` at epsilon 60 is the code itself, but for a chance of 2^-64: so the devices' previews show the codes.
"""

import hashlib
import json
import math

import msgspec
import pytest
from tests.client.devices import document, run
from tests.golden.test_read_design import VALUES, coded, dpress_code

from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.document.design import _written

MORE = [
    "16.99999999999999999999999", "-0.0000000000000000000000001", "1e400", "-1e400", "1e-400", "84.0000000000000000001",
    "9007199254740991.5", 2**53 - 1, 2**53 + 1, "\u00a017", "17\u2028", "\f17\n", "+17", "--17", "1e", "e1", "1e1.5",
    "\u0661\u0667", "0b1", "Infinity", "-Infinity", "NaN", "0.1", 0.30000000000000004, 2**63, -(2**63), "000017", "17.",
    "t", "é", "e\u0301", "Ünïcode", "FALSE", "\tfalse", "yes",
]  # fmt: skip
WIDE = [
    Integer(name="wide", bounds=(-(2**52), 2**52), bins=1000, outside="clamp", null="null"),
    Integer(name="last", bounds=(2**53 - 3, 2**53 - 1), outside="drop", null="null"),
    Numeric(name="fine", bounds=(0.0, 1.0), bins=100_000, outside="drop", null="null"),
    Numeric(name="tenths", bounds=(0.0, 0.7), bins=7, outside="clamp", null="null"),
]
CERTAIN = {"method": "krr", "loss": {"epsilon": "60/1"}, "p": f"{2**64 - 1}/{2**64}"}


def asked(attribute):
    """Return what devices are asked of one attribute, and its id."""
    own = _written(msgspec.to_builtins(attribute))
    width = max(1, math.ceil((attribute.size - 1).bit_length() / 8))
    oracle = CERTAIN | {"size": attribute.size} | ({"p": "1/1"} if attribute.size == 1 else {})
    part = {"axes": [0], "encoder": {"encoder": "code"}, "oracle": oracle}
    types = [{"weight": 1, "width": width, "parts": [part]}]
    ask = {"model": "local", "attributes": [own], "report_types": types, "rounds": None}
    text = json.dumps(ask, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return ask, hashlib.sha256(text.encode()).hexdigest(), width


@pytest.mark.parametrize("attribute", [*coded(), *WIDE], ids=lambda one: f"{one.name}-{one.size}")
def test_codes(attribute, tmp_path):
    ask, identity, width = asked(attribute)
    values = [*VALUES, *MORE, *(edge for edge in attribute_edges(attribute))]
    devices = [{attribute.name: value} for value in values] + [{}]
    found = run(tmp_path, identity=identity, said=document(ask), devices=devices, preview=True)
    expected = [dpress_code(attribute, value) for value in [*values, None]]
    assert [shown(one, width) for one in found] == ["nothing" if one in ("reject", "drop") else one for one in expected]


def attribute_edges(attribute):
    """Return numbers on both sides of some edges."""
    if not isinstance(attribute, Numeric):
        return []
    edges = [float(one) for one in attribute.edges[:: max(1, attribute.ordered // 20)]]
    return [near for edge in edges for near in (math.nextafter(edge, -math.inf), edge, math.nextafter(edge, math.inf))]


def shown(one, width):
    if one.refused is not None:
        assert "a value is" in one.refused
        return "nothing"
    return str(int.from_bytes(one.packed[-width:], "little"))
