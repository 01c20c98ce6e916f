"""Designs as documents: their canonical form, byte by byte, and what is no design."""

import json
from pathlib import Path

import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.core.basics.errors import SchemaMismatch
from dpress.document import design as documents
from dpress.document.design import LocalAsk, canonical, identity
from dpress.query.designs import load_design

STORED = Path(__file__).parents[1] / "formats" / "stored"
NUMBERS = (
    (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (0.1, "0.1"), (-74.03, "-74.03"), (1e15, "1000000000000000.0"),
    (9999999999999998.0, "9999999999999998.0"), (1e16, "1e+16"), (123456789012345680.0, "1.2345678901234568e+17"),
    (0.0001, "0.0001"), (0.00001, "1e-05"), (0.000012, "1.2e-05"), (5e-324, "5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
)  # fmt: skip


def ask(*attributes):
    return LocalAsk(attributes=tuple(attribute.plain for attribute in attributes), report_types=(), rounds=None)


def document(name="local_users"):
    return json.loads((STORED / name / "design.json").read_text())


def test_the_canonical_form_is_sorted_json_without_white_space():
    own = ask(Integer(name="n", bounds=(-3, 9)))
    assert canonical(own) == (
        b'{"attributes":[{"bins":null,"bounds":[-3,9],"kind":"integer","name":"n","null":"reject","outside":"clamp"}],'
        b'"model":"local","report_types":[],"rounds":null}'
    )


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_a_number_that_is_no_integer_is_the_shortest_text(number, text):
    own = ask(Numeric(name="x", cuts=(-1e308, number) if number > 1e308 else (number, 1e300)))
    assert f'"{text}"' in canonical(own).decode()


def test_only_quotes_backslashes_and_control_characters_are_escaped():
    name = 'a"b\\c/\x00\x08\t\n\x0b\x0c\r\x1f\x7f\x80é\u2028\U0001f600'
    written = canonical(ask(Categorical(name=name, values=(True, False))))
    expected = '"a\\"b\\\\c/\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\x7f\x80é\u2028\U0001f600"'
    assert b'"name":' + expected.encode() in written
    assert b'"values":[true,false]' in written


@pytest.mark.parametrize("name", ["local_users", "map_dam", "map_ahead_1", "joint_em"])
def test_any_json_library_finds_the_id(name):
    written = json.dumps(document(name)["ask"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    own = documents.decode((STORED / name / "design.json").read_bytes())
    assert written.encode() == canonical(own.ask)
    assert own.id == identity(own.ask)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("local_users", lambda attribute: attribute.pop("other")),
        ("local_users", lambda attribute: attribute.pop("hierarchy")),
        ("map_dam", lambda attribute: attribute.update(bounds=[-74.03, -73.75])),
        ("map_dam", lambda attribute: attribute.update(bounds=["-74.030", "-73.75"])),
        ("map_dam", lambda attribute: attribute.update(bounds=["-7.403e1", "-73.75"])),
        ("map_dam", lambda attribute: attribute.pop("edges")),
    ],
)
def test_an_ask_that_others_would_hash_differently_is_refused(name, change):
    found = document(name)
    change(found["ask"]["attributes"][0])
    with pytest.raises(SchemaMismatch, match=r"not written in full|missing|not as it is written"):
        documents.from_plain(found)


def of_first_type(**own):
    return lambda ask: ask["report_types"][0].update(own)


def of_rounds(**own):
    return lambda ask: ask["rounds"].update(own)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("local_users", of_first_type(weight=0)),
        ("local_users", of_first_type(weight=-1)),
        ("local_users", of_first_type(parts=[])),
        ("local_users", lambda ask: ask.update(report_types=[])),
        ("local_users", lambda ask: ask.update(rounds={"number": 0, "types": [3], "collection": ""})),
        ("map_ahead_0", lambda ask: ask.update(rounds=None)),
        ("map_ahead_0", of_rounds(collection=64 * "a")),
        ("map_ahead_1", of_rounds(collection="")),
        ("map_ahead_1", of_rounds(collection=64 * "z")),
        ("map_ahead_1", of_rounds(number=0)),
        ("map_ahead_1", of_rounds(types=[1, 1, 1])),
        ("map_ahead_1", of_rounds(types=[3, 0])),
    ],
)
def test_an_ask_that_contradicts_itself_is_refused(name, change, tmp_path):
    found = document(name)
    change(found["ask"])
    (tmp_path / "design.json").write_text(json.dumps(found))
    with pytest.raises(SchemaMismatch):
        load_design(tmp_path / "design.json")


def test_a_round_is_named_once(tmp_path):
    (tmp_path / "design.json").write_text(json.dumps(document("map_ahead_1") | {"round": 0}))
    with pytest.raises(SchemaMismatch, match="rounds"):
        load_design(tmp_path / "design.json")
