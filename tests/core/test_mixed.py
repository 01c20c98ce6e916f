"""Mixed records: units, nearest cells, and distances in a hierarchy against brute force."""

import itertools

import numpy as np
import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns, example, lowest_common
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported


def climbed(rows: dict[str, tuple[str, ...]], one: str, other: str) -> float:
    """The height of the lowest common ancestor over that of the tree, by walking up."""
    if one not in rows or other not in rows:
        return float(one != other)
    height = len(rows[one]) - 1
    for level, (mine, theirs) in enumerate(zip(rows[one], rows[other], strict=True)):
        if mine == theirs:
            return level / height
    return 1.0


def refining(size: int, seed: int) -> list[tuple[str, ...]]:
    """A random hierarchy: every level merges groups of the one before."""
    groups, words = np.arange(size), rng.seeded(seed).words(10 * size)
    levels = [groups]
    for level in range(1, 4):
        merged = (words[level * size : (level + 1) * size] % np.uint64(max(1, size >> level))).astype(int)
        levels.append(merged[levels[-1]])
    return [(f"v{i}", *(f"{level}-{levels[level][i]}" for level in range(1, 4)), "*") for i in range(size)]


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_the_lowest_common_ancestor(seed):
    hierarchy = refining(12, seed)
    labels = [row[0] for row in hierarchy[2:]] + ["other", "null"]
    rows = {row[0]: row for row in hierarchy}
    found = lowest_common(labels, hierarchy)
    wanted = [[climbed(rows, one, other) for other in labels] for one in labels]
    np.testing.assert_array_equal(found, wanted)
    assert set(np.unique(found)) > {0.0, 1.0}


def test_a_hierarchical_distance_is_an_ultrametric():
    found = lowest_common([f"v{i}" for i in range(12)], refining(12, 3))
    assert (found == found.T).all()
    assert (np.diag(found) == 0).all()
    for i, j, k in itertools.permutations(range(12), 3):
        assert found[i, k] <= max(found[i, j], found[j, k])


def test_the_cells_beside_the_values_are_as_far_as_can_be_from_all():
    rows = (("a", "x", "*"), ("b", "x", "*"))
    column = columns([Categorical(name="w", values=("a", "b"), other="else", null="none", hierarchy=rows)])[0]
    assert column.distance.tolist() == [[0, 0.5, 1, 1], [0.5, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    assert not column.numeric


def test_without_a_hierarchy_values_are_equal_or_not():
    np.testing.assert_array_equal(lowest_common(("a", "b", "c"), ()), 1 - np.eye(3))


def test_units_of_integers_are_half_steps_from_end_to_end():
    age, half = columns([Integer(name="age", bounds=(17, 90)), Integer(name="b", bounds=(0, 9), bins=3)])
    assert age.units.tolist() == list(range(-73, 74, 2))
    assert (age.span, age.scaled[0], age.scaled[-1]) == (73, -0.5, 0.5)
    assert (np.diff(half.units) > 0).all()


def test_units_of_numbers_lie_within_their_bounds():
    column = columns([Numeric(name="x", bounds=(-1.0, 3.0), bins=4)])[0]
    assert column.units.tolist() == [-3 * 2**16 * 2, -(2**17), 2**17, 3 * 2**17]
    single = columns([Integer(name="one", bounds=(5, 5))])[0]
    assert (single.span, single.scaled.tolist(), single.nearest(np.array([-7.0, 7.0])).tolist()) == (0, [0.0], [0, 0])


def test_the_nearest_cell_is_the_one_of_least_distance():
    column = columns([Numeric(name="x", cuts=(0.0, 1.0, 5.0, 6.0, 20.0))])[0]
    numbers = (rng.seeded(4).words(500) % np.uint64(2**21)).astype(np.int64) - 2**20
    wanted = np.abs(numbers[:, None] - column.units).argmin(axis=1)
    assert column.nearest(numbers).tolist() == wanted.tolist()
    assert set(wanted.tolist()) == {0, 1, 2, 3}


def test_weights_are_one_unless_given_and_numbers_need_a_place():
    assert [column.weight for column in example()] == [1.0, 1.0]
    attributes = [Integer(name="a", bounds=(0, 1)), Categorical(name="b", values=("x",))]
    assert [column.weight for column in columns(attributes, (2.0, 0.5))] == [2.0, 0.5]
    with pytest.raises(ValueError, match="zip"):
        columns(attributes, (2.0,))
    with pytest.raises(NotSupported, match="set null to drop or reject"):
        columns([Integer(name="a", bounds=(0, 1), null="none")])
