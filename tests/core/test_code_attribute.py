"""An attribute of codes: its cells at every level by a dictionary, its words, what it refuses, its way to workers."""

import pickle
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.hierarchy import trees
from dpress.attributes.policy import DROPPED, MISSING, OUTSIDE
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch

LEVELS = ["state", "county", "tract"]
LEAVES = ["0100101", "0100102", "0100301", "2501701", "2502501", "2502502"]
COUNTS = {"state": 2, "county": 4, "tract": 6}


def places(**plain):
    """Return the attribute of the leaves, whose codes begin with those above them."""
    own = {"kind": "hierarchy", "name": "place", "levels": LEVELS, "prefix": [2, 5, 7], "values": LEAVES, **plain}
    return msgspec.convert(own, Attribute).with_files(Path())


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("other", ["elsewhere", "drop"])
def test_a_code_lies_in_the_node_above_it_whatever_holds_it(level, other):
    own = places(level=level, other=other, null="not told")
    length = {"state": 2, "county": 5, "tract": 7}[level]
    codes = sorted({leaf[:length] for leaf in LEAVES})
    beside = {"drop": DROPPED, "elsewhere": len(codes)}[other]
    assert own.size == COUNTS[level] + (2 if other == "elsewhere" else 1)
    assert own.labels[: len(codes)] == tuple(codes)
    for leaf in LEAVES:
        wanted = codes.index(leaf[:length])
        held = [leaf, int(leaf), float(int(leaf)), leaf.encode(), np.int64(int(leaf)), leaf.lstrip("0")]
        assert [own.codes(value) for value in held] == [(wanted,)] * len(held)
    assert own.codes("01") == own.codes("0") == own.codes(7) == own.codes("") == (beside,)
    assert own.codes(None) == own.codes(1.5) == own.codes(float("nan")) == (own.size - 1,)
    for column in (pa.array(LEAVES), pa.array(LEAVES).dictionary_encode(), pa.array(map(int, LEAVES), pa.int32()),
                   pa.array(map(float, map(int, LEAVES))), pa.array([leaf.encode() for leaf in LEAVES])):  # fmt: skip
        assert own.arrow_codes(column).tolist() == [own.codes(leaf)[0] for leaf in LEAVES]
    mixed = pa.array(["0100101", None, "nowhere", "2502502"])
    assert own.arrow_codes(mixed).tolist() == [0, own.size - 1, beside, len(codes) - 1]
    assert own.strict.cell("nowhere") == OUTSIDE
    assert own.cell(None) == MISSING


def test_what_is_no_code_is_refused_without_being_shown():
    with pytest.raises(SchemaMismatch, match="attribute place: a value is not in its cells; say what to do in `other`"):
        places().arrow_codes(pa.array(["secret"]))
    with pytest.raises(SchemaMismatch) as refusal:
        places().codes("secret")
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"levels": ["a", "a", "b"]}, "`levels` must be different names, coarse to fine"),
        ({"level": "countie"}, "`level` must be one of state, county, tract, got 'countie'; did you mean 'county'?"),
        ({"prefix": [2, 2, 7]}, "`prefix` must be 3 rising numbers of characters, got [2, 2, 7]"),
        ({"prefix": [2, 5]}, "`prefix` must be 3 rising numbers of characters, got [2, 5]"),
        ({"prefix": msgspec.UNSET}, "`values` need `prefix`, which says how they begin at every level"),
        ({"values": msgspec.UNSET}, "expected the public tree in `file`, or `prefix` and `values`"),
        ({"file": "a.csv"}, "expected the public tree in `file`, or `prefix` and `values`"),
        ({"other": "01001"}, "`other` and `null` must name no code, got '01001'"),
        ({"values": ["0100101", "0100101"]}, "the tract '0100101' stands in several rows; expected one row a leaf"),
        ({"values": ["010010177"]}, "a code is longer than the 7 characters of tract, the last level"),
    ],
)
def test_what_the_types_cannot_say_is_refused(plain, message):
    stated = {"kind": "hierarchy", "name": "place", "levels": LEVELS, "prefix": [2, 5, 7], "values": LEAVES, **plain}
    given = {name: value for name, value in stated.items() if value is not msgspec.UNSET}
    with pytest.raises(ValueError, match="place: ") as refusal:
        msgspec.convert(given, Attribute).with_files(Path())
    assert message in str(refusal.value)


def test_only_what_decides_a_code_is_coded_and_the_tree_is_named_by_its_hash():
    own = places(title="Where", other="elsewhere", column="home")
    plain = own.plain
    assert msgspec.to_builtins(plain) == {
        "kind": "hierarchy", "name": "place", "levels": tuple(LEVELS), "column": "home", "tree": own.tree,
        "level": "tract", "other": "other", "null": None,
    }  # fmt: skip
    assert plain.columns == ("home",)
    assert plain.arrow_codes(pa.array(LEAVES)).tolist() == own.arrow_codes(pa.array(LEAVES)).tolist()


def test_a_worker_in_another_process_gets_the_tree_with_the_attribute(monkeypatch):
    own = places(level="county")
    sent = pickle.dumps(own)
    monkeypatch.setattr(trees, "_TREES", {})
    with pytest.raises(SchemaMismatch, match="is not at hand"):
        _ = own.size
    arrived = pickle.loads(sent)  # noqa: S301  # ours
    assert arrived == own
    assert arrived.labels == ("01001", "01003", "25017", "25025")
    assert pickle.loads(pickle.dumps(msgspec.convert(msgspec.to_builtins(own), Attribute))) == own  # noqa: S301  # ours


def test_cells_of_a_coarser_level_are_runs_of_cells_and_a_finer_level_is_refused():
    own = places(level="county", other="elsewhere")
    assert own.widened("state", ((0, 0),)) == ((0, 1),)
    assert own.widened("state", ((1, 2),)) == ((2, 4),)
    assert own.widened("county", ((1, 1), (3, 4))) == ((1, 1), (3, 4))
    with pytest.raises(ValueError, match="place is released by county: its levels are state, county, got tract"):
        own.coarsened("tract")
    assert own.coarsened("state").labels == ("01", "25", "elsewhere")
    assert [each.level for each in own.coarser(frozenset({2}))] == ["state"]
    assert own.coarser(frozenset({1, 2})) == []


def test_words_of_people_are_names_with_codes_where_several_have_one(tmp_path):
    (tmp_path / "t.csv").write_text(
        "state,county,county_name\nMA,025,Suffolk\nMA,017,Middlesex\nNY,103,Suffolk\nNY,105,\n", encoding="utf-8"
    )
    plain = {"kind": "hierarchy", "name": "place", "levels": ["state", "county"], "file": "t.csv", "other": "abroad"}
    own = msgspec.convert(plain, Attribute).with_files(tmp_path)
    assert own.captions == ("Middlesex", "Suffolk (025)", "Suffolk (103)", "105", "abroad")
    assert own.labelled
    assert [own.code(label) for label in ("017", "17", "Middlesex", "Suffolk", "abroad")] == [0, 0, 0, None, 4]
    assert not own.at("state").labelled
    assert own.at("state").captions == ("MA", "NY", "abroad")


def test_made_up_codes_are_leaves():
    made = places(column="home").made_up(50, rng.seeded(1))
    assert {*made["home"]} <= {*LEAVES}
    assert len(made["home"]) == 50


def test_a_tree_that_was_changed_since_it_was_planned_is_refused(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("state,county\nMA,025\n", encoding="utf-8")
    plain = {"kind": "hierarchy", "name": "place", "levels": ["state", "county"], "file": "t.csv"}
    planned = msgspec.structs.replace(msgspec.convert(plain, Attribute), tree="0" * 64)
    with pytest.raises(SchemaMismatch, match=r"t.csv: another tree than the one that was planned, 000000000000"):
        planned.with_files(tmp_path)


def test_a_page_gets_every_level_with_the_cells_below_its_nodes():
    plain = places(level="county", other="elsewhere").for_script(100)
    assert (plain["names"], plain["digits"]) == (("01001", "01003", "25017", "25025", "elsewhere"), 5)
    state, county = plain["levels"]
    assert (state["name"], state["names"], state["starts"]) == ("state", ("01", "25", "elsewhere"), [0, 2, 4, 5])
    assert county["starts"] == [0, 1, 2, 3, 4, 5]
    assert places(level="county").for_script(3) is None
