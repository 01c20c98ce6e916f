"""Looking up a value or a group takes as long in a long list as in a short one: comparisons are counted."""

import pytest

from dpress.attributes.listed import attribute as listed_attribute
from dpress.attributes.listed import hierarchy_file
from dpress.attributes.listed.attribute import Categorical, groups_of

VALUES = 1000


class Counted(str):
    """A text that counts how often it is compared with another."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def searched(rows, labels):
    """Return the groups by looking through all values for every row."""
    groups: dict[str, list[int]] = {}
    for value, *levels in rows:
        for label in levels:
            groups.setdefault(label, []).append(labels.index(value))
    return groups


def comparisons(groups) -> int:
    """Return how often texts are compared while the groups of a hierarchy are made."""
    labels = tuple(Counted(f"v{place}") for place in range(VALUES))
    rows = [(Counted(f"v{place}"), f"g{place // 10}", f"h{place // 100}") for place in range(VALUES)]
    Counted.compared = 0
    found = groups(rows, labels)
    assert [*found["g1"]] == [*range(10, 20)]
    return Counted.compared


def test_groups_of_a_hierarchy_take_a_few_comparisons_a_row():
    assert comparisons(groups_of) <= 10 * VALUES


def test_a_search_through_all_values_for_every_row_is_noticed():
    assert comparisons(searched) > VALUES**2 / 2


def test_the_groups_of_an_attribute_are_made_once(monkeypatch):
    calls = []

    def counting(rows, labels):
        calls.append(len(rows))
        return groups_of(rows, labels)

    monkeypatch.setattr(listed_attribute, "groups_of", counting)
    own = Categorical(name="c", values=("a", "b", "c"), hierarchy=(("a", "x"), ("b", "x"), ("c", "y")))
    for _ in range(3):
        assert own.groups == {"x": (0, 1), "y": (2,)}
    assert calls == [3]


def test_a_name_goes_before_a_label():
    own = Categorical(name="c", values=("1", "2", "3"), value_labels={"1": "one", "3": "three"}, other="rest")
    assert [own.code(text) for text in ("1", "one", "2", "3", "three", "rest", "four")] == [0, 0, 1, 2, 2, 3, None]


def test_a_hierarchy_file_is_compared_with_its_values_once(tmp_path):
    path = tmp_path / "values.csv"
    path.write_text("value,level1\n" + "".join(f"v{place},g{place // 10}\n" for place in range(VALUES)))
    values = tuple(Counted(f"v{place}") for place in range(VALUES))
    Counted.compared = 0
    assert len(hierarchy_file.read(path, "values.csv", "c", values)) == VALUES
    assert Counted.compared <= 10 * VALUES
    with pytest.raises(ValueError, match="no row for the value 'v1000' of c"):
        hierarchy_file.read(path, "values.csv", "c", (*values, "v1000"))
