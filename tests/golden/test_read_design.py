"""Who knows docs/reference/design.md and nothing else finds the ids, codes, flips and payloads that dpress has."""

import ast
import datetime as dt
import importlib.util
import itertools
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from dpress import load_design
from dpress.attributes.dates.attribute import Date
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.attributes.sets.attribute import SetMembers
from dpress.attributes.text.attribute import StringCandidates
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.rng import Generator
from dpress.document.design import canonical, collection_id, report_id
from dpress.query.designs import collection_of

READER = Path(__file__).with_name("read_design.py")
STORED = sorted((Path(__file__).parents[1] / "formats" / "stored").glob("*/design.json"))
SECRET = bytes(range(40))
VALUES = [
    None, float("nan"), True, False, 0, 1, 2, 17, 84, 85, -3, 2**70, -(2**70), 0.1, 16.8, 16.999999, 67.2, 1e300,
    -1e300, float("inf"), 20000.0, 2e4, 9999.5, -74.03, -73.995, -73.75, 40.66, "", " 17 ", "1e1", "1E+1", "+5.", ".5",
    ".", "1,0", "0x10", "inf", "nan", "1_0", "\u0661", "Female", "female", "North", "Other", "?", "true", " TRUE ",
    "1.50", 1.5, "007", 7, "-0", 0.5, 2.0**53, 2**53, "Master", "20", "0070", "é", "true\0", "tru\u00e9",
    "2024-02-29", "2023-02-29", "2020-12-28", "2021-01-03", " 1900-03-01\n", "2024-02-29T23:59:60",
    "2024-02-29T23:58:60", "0001-01-01", "0000-12-31", "9999-12-31", "2024-02-29T12:00Z", "2024-12-31 24:00",
    "2024-12-31 23:00:00,5",
]  # fmt: skip
EXTRA = [
    Categorical(name="t", values=("1.5", "1.50", "007", "7", "true", "-0", "é"), other="other", null="null"),
    Categorical(name="i", values=(0, 1, 17, 2**53), other="drop", null="null"),
    Categorical(name="b", values=(True, False), other="other"),
    Integer(name="n", bounds=(-5, 17), bins=7, outside="reject", null="drop"),
    Numeric(name="x", bounds=(0.1, 84.0), bins=7, outside="drop", null="null"),
    Numeric(name="x", cuts=(-1e300, 0.5, 16.8, 1e300), outside="clamp", null="reject"),
    StringCandidates(name="w", longest=6, known=0, bits=20, prefixes=("",), strings=()),
    StringCandidates(
        name="w",
        longest=7,
        known=28,
        bits=11,
        prefixes=("30303720", "46656d60", "74727570"),
        strings=("1", "20", "é"),
        null="reject",
    ),
    Date(name="d", bounds=(dt.date(2020, 12, 28), dt.date(2024, 2, 29)), cells="day", outside="drop", null="null"),
    Date(name="d", bounds=(dt.date(1900, 2, 28), dt.date(2024, 12, 30)), cells="week", null="null"),
    Date(name="d", bounds=(dt.date(2020, 12, 31), dt.date(2024, 2, 29)), cells="quarter", outside="reject"),
    Date(name="d", cells="weekday", null="drop"),
    Date(name="d", bounds=(dt.date(1970, 1, 1), dt.date(2024, 2, 28)), cells="month of year", outside="drop"),
]


class Scripted(Generator):
    """Draws the words that it is given, and no others."""

    __slots__ = ("left",)

    def __init__(self, words):
        self.left = np.array(words, dtype=np.uint64)

    @property
    def private(self):
        return False

    def fill(self, out):
        out[...], self.left = self.left[: out.size].reshape(out.shape), self.left[out.size :]


@pytest.fixture(scope="module")
def reader():
    spec = importlib.util.spec_from_file_location("read_design", READER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def asked(place):
    return json.loads(place.read_text())["ask"]


def local():
    return [place for place in STORED if asked(place)["model"] == "local"]


def test_the_reader_uses_nothing_but_the_standard_library():
    tree = ast.parse(READER.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names == {"datetime", "fractions", "hashlib", "hmac", "json", "re"}


@pytest.mark.parametrize("place", local(), ids=lambda place: place.parent.name)
def test_ids_and_keys(reader, place):
    ask, design = asked(place), load_design(place)
    assert reader.canonical(ask) == canonical(design.ask)
    assert reader.identity(ask) == design.id
    assert reader.identity(ask)[:32] == report_id(design.ask).hex()
    assert reader.collection(ask) == collection_id(design.ask)


def coded():
    stored = [one for place in local() for one in load_design(place).ask.attributes]
    single = [one for one in stored + EXTRA if not isinstance(one, SetMembers)]  # of a set every value is coded alike
    return list({repr(one): one for one in single}.values())


@pytest.mark.parametrize("attribute", coded(), ids=lambda one: f"{type(one).__name__}-{one.name}-{one.size}")
def test_codes(reader, attribute):
    plain = msgspec.to_builtins(attribute)
    for value in VALUES:
        assert str(reader.code(plain, value)) == dpress_code(attribute, value), repr(value)


def dpress_code(attribute, value):
    try:
        found = attribute.codes(value)[0]
    except SchemaMismatch:
        return "reject"
    return "drop" if found < 0 else str(found)


@pytest.mark.parametrize("name", ["local_users", "local_budget", "local_rr_ldp", "joint_em"])
def test_types_and_slots(reader, name):
    place = next(one for one in STORED if one.parent.name == name)
    ask, design = asked(place), load_design(place)
    collection, key = collection_of(design), collection_id(design.ask)
    for length in range(16, 40):
        secrets = np.frombuffer(SECRET[:length], dtype=np.uint8)[None]
        number = int(collection.drawn(1, rng=Scripted([]), secrets=secrets, key=key)[0])
        assert reader.drawn(ask, SECRET[:length]) == (number, collection.slot(number, key).number)


def test_the_permanent_response(reader):
    place = next(one for one in STORED if one.parent.name == "joint_em")
    own, design = asked(place)["report_types"][0]["parts"][0]["oracle"], load_design(place)
    collection, key = collection_of(design), collection_id(design.ask)
    oracle, secrets = collection.types[0].oracles[0], np.frombuffer(SECRET, dtype=np.uint8)[None]
    seen = set()
    for codes in itertools.product(*map(range, own["sizes"])):
        found = reader.packed(reader.permanent(own, codes, SECRET, key, 0))
        table = np.array(codes, dtype=np.int32)[:, None]
        slot = collection.slot(0, key)
        assert oracle.permanent(table, rng=Scripted([]), secrets=secrets, slot=slot).tobytes() == found
        seen.add(found)
    assert len(seen) > 1
    assert reader.permanent(own, (0, 0, 0), SECRET, key, 1) != reader.permanent(own, (0, 0, 0), SECRET, key, 0)


def near(chance):
    """Coins on both sides of a threshold, and the ends."""
    limit = int(chance * 2**64)
    return [0, limit - 1, limit, 2**64 - 1]


def oracle_of(name):
    place = next(one for one in STORED if one.parent.name == name)
    own = asked(place)["report_types"][0]["parts"][0]["oracle"]
    return own, collection_of(load_design(place)).types[0].oracles[0]


def sent(oracle, value, drawn):
    generator = Scripted(drawn)
    payload = oracle.perturb(np.array([value], dtype=np.int32), rng=generator).tobytes()
    assert generator.left.size == 0
    return payload


def test_payloads_of_krr(reader):
    own, oracle = oracle_of("local_krr")
    for value, coin, half in itertools.product(range(5), near(oracle.p), (5, 2**30, 2**31, 2**32 - 1)):
        found = reader.krr(own, value, coin=coin, other=4 * half >> 32)
        assert sent(oracle, value, [coin, half]) == found


def test_payloads_of_oue(reader):
    own, oracle = oracle_of("local_oue")
    choices = (near(oracle.q)[1], near(oracle.q)[2], near(oracle.p)[1], near(oracle.p)[2])
    for value in range(5):
        for coins in itertools.product(choices, repeat=5):
            assert sent(oracle, value, coins) == reader.oue(own, value, coins=coins)


def test_payloads_of_hadamard(reader):
    own, oracle = oracle_of("local_hadamard")
    for value, coin, row in itertools.product(range(5), near(oracle.p), range(8)):
        assert sent(oracle, value, [coin, row]) == reader.hadamard(own, value, coin=coin, row=row)
