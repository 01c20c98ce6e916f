"""Trees of codes: their shape by brute force over dictionaries, what is refused, their hash, and what they look up."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.attributes.hierarchy import key_index, tree_file, trees
from dpress.attributes.hierarchy.key_index import KeyIndex, WordTable
from dpress.attributes.hierarchy.tree_file import as_table, of_prefixes, of_table
from dpress.core.basics.errors import SchemaMismatch

LEVELS = ("state", "county", "tract")


def tree(*rows, levels=LEVELS, **columns):
    """Return the tree of rows, each the codes of a leaf."""
    table = {level: [row[place] for row in rows] for place, level in enumerate(levels)}
    return of_table(pa.table(table | columns), levels)


NAMED = tree(
    ("09", "001", "a"), ("09", "001", "b"), ("25", "017", "c"), ("25", "025", "d"), ("36", "103", "e"),
    county_name=["Fairfield", "Fairfield", "Middlesex", "Suffolk", "Suffolk"],
    state_name=["Connecticut", "Connecticut", "Massachusetts", "Massachusetts", "New York"],
    lon=[0.0, 2.0, None, 5.0, 7.0], lat=[0.0, 0.0, 1.0, 1.0, 1.0],
)  # fmt: skip


def filled(row):
    """Return a row in which a region without some level stands in it for itself."""
    codes = [next((code for code in row[place:] if code), None) for place in range(len(row))]
    for place in range(1, len(row)):
        codes[place] = codes[place] or codes[place - 1]
    return tuple(codes)


@st.composite
def rows(draw):
    """Return rows of leaves of a tree of any shape: unequal arity, levels that are skipped, one leaf."""
    made = []
    for state in range(draw(st.integers(1, 4))):
        for county in range(draw(st.integers(1, 3))):
            has_county = draw(st.booleans())
            for tract in range(draw(st.integers(1, 3)) if has_county else 1):
                path = (f"s{state}", f"c{state}{county}" if has_county else None, f"t{state}{county}{tract}")
                made.append(path if draw(st.booleans()) or has_county else (*path[:1], None, f"t{state}{county}x"))
    return draw(st.permutations(made))


@given(rows())
@settings(max_examples=150, deadline=None)
def test_the_nodes_of_every_level_are_those_of_the_sorted_paths(leaves):
    own = tree(*leaves)
    paths = sorted(map(filled, leaves))
    for depth, level in enumerate(LEVELS, 1):
        nodes = list(dict.fromkeys(path[:depth] for path in paths))
        assert own.codes(level) == [node[-1] for node in nodes]
        assert own.ancestors(level).tolist() == [nodes.index(path[:depth]) for path in paths]
        assert own.spine.sizes[depth] == len(nodes)
        below = own.below(level, "tract")
        for node, head in enumerate(nodes):
            assert range(below[node], below[node + 1]) == range(*_run([path[:depth] == head for path in paths]))
    assert as_table(own).num_rows == len(leaves)
    assert of_table(as_table(own), LEVELS).hash == own.hash


def _run(inside):
    return inside.index(True), len(inside) - inside[::-1].index(True)


def test_a_region_without_a_level_stands_in_it_for_itself_alone():
    own = tree(("DC", None, None), ("MA", None, "village"), ("MA", "017", "1"))
    assert own.codes("state") == ["DC", "MA"]
    assert own.codes("county") == ["DC", "017", "village"]
    assert own.codes("tract") == ["DC", "1", "village"]
    assert own.spine.sizes == (1, 2, 3, 3)


def test_one_leaf_is_a_tree():
    assert tree(("a", "b", "c")).spine.sizes == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("leaves", "message"),
    [
        ([("x", "1", "a"), ("y", "1", "b")], "the county '1' lies in both 'x' and 'y' of state"),
        ([("x", "1", "a"), ("x", "1", "a")], "the tract 'a' stands in several rows; expected one row a leaf"),
        ([("x", "1", "a"), ("x", "2", "a")], "the tract 'a' lies in both '1' and '2' of county"),
        ([("x", "1", "a"), (None, "", None)], "row 2 has no code at any level"),
        ([("x", "1", "a"), ("x", None, "1")], "the county '1' has the code of a region that lies in no county"),
        ([], "there are no rows; expected one for every leaf"),
    ],
)
def test_what_is_no_tree_is_refused_in_one_line(leaves, message):
    columns = zip(*leaves, strict=True) if leaves else [(), (), ()]
    table = pa.table({level: pa.array(codes, pa.string()) for level, codes in zip(LEVELS, columns, strict=True)})
    with pytest.raises(ValueError, match=f"^{message}$"):
        of_table(table, LEVELS)


def test_a_column_that_is_not_there_and_two_names_of_a_node_are_refused():
    with pytest.raises(ValueError, match="there is no column 'county'; the columns are state"):
        of_table(pa.table({"state": ["x"]}), LEVELS)
    with pytest.raises(ValueError, match="the state 'x' has two names, 'X' and 'Y'"):
        tree(("x", "1", "a"), ("x", "2", "b"), state_name=["X", "Y"])


def test_a_hash_names_the_content_and_nothing_else():
    first = tree(("x", "1", "a"), ("y", "2", "b"))
    assert first.hash == tree(("y", "2", "b"), ("x", "1", "a"), population=[3, 4]).hash
    others = [
        tree(("x", "1", "a"), ("y", "2", "c")), tree(("x", "1", "a"), ("x", "2", "b")),
        tree(("x", "1", "a"), ("y", "2", "b"), name=["A", None]),
        tree(("x", "1", "a"), ("y", "2", "b"), lon=[1.0, 2.0], lat=[0.0, 0.0]),
    ]  # fmt: skip
    assert len({first.hash, *(other.hash for other in others)}) == 5


def test_codes_are_found_with_and_without_leading_zeros_and_names_where_one_region_has_them():
    assert NAMED.nodes("state", ["9", "09", "New York", "25"]).tolist() == [0, 0, 2, 1]
    assert NAMED.nodes("county", ["1", "17", "Middlesex", "103"]).tolist() == [0, 1, 1, 3]
    with pytest.raises(ValueError, match=r"^county = 'Suffolk' is the name of 2: 025 \(Suffolk, Massachusetts\), 103 "
                                         r"\(Suffolk, New York\); write the code$"):  # fmt: skip
        NAMED.nodes("county", ["Suffolk"])
    with pytest.raises(
        ValueError, match=r"county has no 'Midlesex'; it has 4 codes: 001, 017, 025, 103; did you mean 'Middlesex'\?"
    ):
        NAMED.nodes("county", ["Midlesex"])
    with pytest.raises(
        ValueError, match=r"there is no level 'countie'; the levels are state, county, tract; did you mean 'county'\?"
    ):
        NAMED.nodes("countie", ["1"])


def test_zeros_are_left_where_codes_have_several_lengths_or_are_no_digits():
    mixed = tree(("x", "1", "01"), ("x", "1", "001"), ("x", "2", "0a"))
    assert "1" not in mixed.level("tract").places
    assert {*mixed.level("tract").places} == {"01", "001", "0a"}
    zeros = tree(("x", "1", "000"), ("x", "1", "010"))
    assert zeros.level("tract").places == {"000": 0, "00": 0, "0": 0, "010": 1, "10": 1}


def test_places_are_the_means_of_the_leaves():
    lon, lat = NAMED.place("county")
    assert lon[[0, 2, 3]].tolist() == [1.0, 5.0, 7.0]
    assert lat[[0, 2, 3]].tolist() == [0.0, 1.0, 1.0]
    assert lon[1] != lon[1]  # its only leaf has none
    assert tree(("x", "1", "a")).place("state") is None


def test_codes_of_diseases_give_their_tree_by_prefixes():
    own = of_prefixes(["A00.1", "A00.0", "A01", "B02.1"], ("letter", "category", "code"), (1, 3, 5))
    assert own.codes("letter") == ["A", "B"]
    assert own.codes("category") == ["A00", "A01", "B02"]
    assert own.codes("code") == ["A00.0", "A00.1", "A01", "B02.1"]
    assert own.above("code", "category").tolist() == [0, 0, 1, 2]
    with pytest.raises(ValueError, match="a code is longer than the 5 characters of code, the last level"):
        of_prefixes(["A00.10"], ("letter", "category", "code"), (1, 3, 5))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_is_read_as_texts(tmp_path, ending):
    place = tmp_path / f"tree.{ending}"
    if ending == "csv":
        place.write_text("state,county,tract,inhabitants\n09,001,0001,7\n09,,0002,8\n", encoding="utf-8")
    else:
        pq.write_table(pa.table({"state": ["09", "09"], "county": ["001", None], "tract": ["0001", "0002"]}), place)
    own = of_table(tree_file.read(place, place.name), LEVELS)
    assert own.codes("county") == ["0002", "001"]
    place.write_bytes(b"\xff\xfe\x00,\xff\n\xff")
    with pytest.raises(SchemaMismatch, match=f"^tree.{ending}: expected a tree of codes"):
        tree_file.read(place, place.name)


def test_a_tree_is_known_by_its_hash_once_it_was_read():
    own = tree(("only", "here", "once"))
    with pytest.raises(SchemaMismatch, match="is not at hand; put its file beside the design"):
        trees.tree_of(own.hash)
    assert trees.remember(own) == own.hash
    assert trees.tree_of(own.hash) is own
    assert trees.remember(tree(("only", "here", "once"))) == own.hash
    assert trees.tree_of(own.hash) is own


@pytest.mark.parametrize("count", [5, 20_000])
def test_texts_are_found_among_very_many_keys_as_among_few(count):
    keys = [f"{7919 * place % 1_000_003:07}" for place in range(count)]
    texts = [*keys[::3], "", None, "7", "0000007x", "é", "x" * 40, keys[0] + "\0", keys[1][:-1]] * 2
    places = {key: place for place, key in enumerate(keys)}
    found = KeyIndex(pa.array(keys, pa.large_string())).places(pa.array(texts, pa.large_string()))
    assert found.tolist() == [places.get(text, -1) for text in texts]
    numbers = np.array([0, 7919, -7919, 1_000_000, 15_838, 999_999, 10**17])
    of_numbers = KeyIndex(pa.array(keys, pa.large_string())).places_of_numbers(numbers)
    assert of_numbers.tolist() == [places.get(str(number), -1) for number in numbers]


def test_keys_of_one_slot_are_told_apart(monkeypatch):
    monkeypatch.setattr(WordTable, "_slot", lambda _, words: np.full(len(words), 3))
    monkeypatch.setattr(key_index, "FEW", 0)
    keys = ["a", "b", "ab", "longer than a word"]
    found = KeyIndex(pa.array(keys, pa.large_string())).places(pa.array([*reversed(keys), "c"], pa.large_string()))
    assert found.tolist() == [3, 2, 1, 0, -1]


@pytest.mark.parametrize("name", ["none.csv", "none.parquet"])
def test_a_file_that_is_not_there_is_named_as_any_other(tmp_path, name):
    with pytest.raises(FileNotFoundError) as refusal:
        tree_file.read(tmp_path / name, name)
    assert (refusal.value.strerror, refusal.value.filename) == ("No such file or directory", name)
