"""Which combinations of cells may occur: of groups, of pairs, of records, each beside brute force."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.methods.possible import Combinations, Possible

SHAPE = (3, 4, 2)


@settings(max_examples=30)
@given(st.lists(st.booleans(), min_size=24, max_size=24), st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_groups_and_pairs_may_occur_where_some_of_their_cells_may(truths, second):
    allowed = np.array(truths).reshape(SHAPE)
    groups = [np.array([1, 0, 1]), np.array([0, 1, *second[2:]]), np.arange(2)]
    possible = Possible(parts=(Combinations(centre=(0, 1, 2), allowed=allowed),))
    grouped = np.zeros((2, 2, 2), dtype=bool)
    pair = np.zeros((3, 2), dtype=bool)
    for cell in itertools.product(*map(range, SHAPE)):
        grouped[tuple(along[code] for along, code in zip(groups, cell, strict=True))] |= allowed[cell]
        pair[cell[0], cell[2]] |= allowed[cell]
    assert np.array_equal(possible.grouped(groups).parts[0].allowed, grouped)
    found = possible.pair((0, 2), (3, 2))
    assert (found is None and pair.all()) or np.array_equal(found, pair)
    everything = np.array(list(itertools.product(*map(range, SHAPE)))).T
    assert possible.holds(everything).tolist() == allowed.ravel().tolist()


def test_a_cell_that_never_occurs_has_no_pair_with_an_attribute_that_is_free():
    possible = Possible(parts=(Combinations(centre=(1,), allowed=np.array([True, False])),))
    assert possible.pair((0, 1), (2, 2)).tolist() == [[True, False], [True, False]]
    assert possible.pair((1, 2), (2, 3)).tolist() == [[True] * 3, [False] * 3]
    assert possible.pair((0, 2), (2, 3)) is None


def test_weights_are_a_product_without_what_is_impossible():
    part = Combinations(centre=(0, 1), allowed=np.array([[True, False], [True, True]]))
    assert part.weighted([np.array([2.0, 1.0]), np.array([3.0, 5.0])]).tolist() == [[6, 0], [3, 5]]
    assert part.weighted([np.array([1.0, 0.0]), np.array([0.0, 1.0])]).tolist() == [[1, 0], [1, 1]]
