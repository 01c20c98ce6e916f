"""Rectangles that cover a grid: every sum against the cells themselves."""

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation
from dpress.core.maps.grid import Grid
from dpress.core.maps.linear import LinearMap
from dpress.core.maps.partition import Partition, even

SIDES = [(8, 3), (7, 3), (16, 5), (1, 1)]


def cut(side: int, blocks: int) -> Partition:
    whole = even(Grid(side), blocks)
    return whole.split(np.arange(whole.rows) % 4 + 1)


@pytest.mark.parametrize(("side", "blocks"), SIDES)
def test_sums_and_their_transpose_are_those_of_the_cells(side: int, blocks: int) -> None:
    own = cut(side, blocks)
    cells = (rng.seeded(1).words(own.cells) % 100).astype(np.int64)
    image = own.grid.image(cells)
    ends = zip(own.left, own.right, own.bottom, own.top, strict=True)
    sums = [image[left:right, bottom:top].sum() for left, right, bottom, top in ends]
    found = own.apply(cells)
    assert found.tolist() == sums
    assert found.dtype == np.int64
    assert isinstance(own, LinearMap)
    answers = np.arange(own.rows, dtype=np.float64) ** 2
    assert np.isclose(own.transpose(answers) @ cells, answers @ found)


@pytest.mark.parametrize(("side", "blocks"), SIDES)
def test_every_cell_is_in_one_rectangle_and_tiles_lie_in_their_block(side: int, blocks: int) -> None:
    whole, own = even(Grid(side), blocks), cut(side, blocks)
    assert (own.transpose(np.ones(own.rows)) == 1).all()
    assert own.areas.sum() == side**2
    assert own.areas.min() >= 1
    sizes = whole.sizes(np.arange(whole.rows) % 4 + 1)
    assert sizes.sum() == own.rows
    starts = np.cumsum(sizes) - sizes
    assert np.array_equal(np.add.reduceat(own.areas, starts), whole.areas)
    assert np.ptp(whole.areas) <= 2 * (side // blocks) + 1


def test_a_rectangle_is_cut_no_finer_than_its_cells() -> None:
    assert even(Grid(4), 2).split(np.array([1, 2, 3, 99])).rows == 1 + 4 + 4 + 4


def test_sensitivity_is_that_of_disjoint_counts() -> None:
    own = even(Grid(4), 2)
    assert [own.sensitivity(1, relation) for relation in (Relation.ADD_REMOVE, Relation.REPLACE_ONE)] == [1, 2]
    assert even(Grid(4), 1).sensitivity(1, Relation.REPLACE_ONE) == 0
