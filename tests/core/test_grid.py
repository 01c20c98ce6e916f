"""The grid: Morton order, its inverse, and sums over rectangles against brute force."""

import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.grid import LARGEST_SIDE, Grid, Rectangles, sums
from dpress.core.maps.tree import Tree

SIDES = [1, 2, 4, 8, 3, 6]


def some(side: int, number: int = 60, *, whole: bool = False) -> Rectangles:
    """Rectangles within the grid: half with ends on whole cells, a few thin ones, one all of it."""
    words = rng.seeded(side).words(4 * number).reshape(4, number).astype(float) / 2.0**64 * side
    words[:, : number if whole else number // 2] = np.round(words[:, : number if whole else number // 2])
    words[1, -3:] = words[0, -3:] + 0.01 * (side - words[0, -3:])
    low, high = np.minimum(words[::2], words[1::2]), np.maximum(words[::2], words[1::2])
    low[:, 0], high[:, 0] = 0, side
    return Rectangles(low[0], high[0], low[1], high[1])


def _ends(asked: Rectangles) -> tuple[np.ndarray, ...]:
    return asked.left, asked.right, asked.bottom, asked.top


def shares(side: int, asked: Rectangles) -> np.ndarray:
    """The share of every cell that lies in each rectangle, shape (m, side, side), cell by cell."""
    out = np.zeros((len(asked.left), side, side))
    for k, (left, right, bottom, top) in enumerate(zip(asked.left, asked.right, asked.bottom, asked.top, strict=True)):
        for i in range(side):
            for j in range(side):
                across = max(0.0, min(right, i + 1) - max(left, i))
                up = max(0.0, min(top, j + 1) - max(bottom, j))
                out[k, i, j] = across * up
    return out


@pytest.mark.parametrize("side", [1, 2, 4, 8, 16])
def test_the_cells_of_a_node_have_neighbouring_codes(side: int) -> None:
    grid, height = Grid(side), side.bit_length() - 1
    across, up = np.indices((side, side))
    code = grid.code(across, up)
    assert sorted(code.ravel().tolist()) == list(range(side**2))
    assert grid.height == height
    for level in range(height + 1):
        shift = height - level
        node = Grid(1 << level).code(across >> shift, up >> shift)
        assert np.array_equal(code >> (2 * shift), node)
    assert code.dtype == np.int32


@pytest.mark.parametrize("side", SIDES)
def test_image_and_flat_are_each_others_inverse_and_follow_the_code(side: int) -> None:
    grid = Grid(side)
    cells = np.arange(3 * grid.cells).reshape(3, -1)
    assert np.array_equal(grid.flat(grid.image(cells)), cells)
    image = grid.image(np.arange(grid.cells))
    across, up = np.indices((side, side))
    assert np.array_equal(image, grid.code(across, up))
    if side > 2:
        assert not np.array_equal(image, image.T)


def test_a_quadtrees_nodes_are_sums_over_squares() -> None:
    grid = Grid(8)
    cells = (rng.seeded(1).words(64) % 10).astype(float)
    levels = Tree(64, 4).split(Tree(64, 4).apply(cells))
    for level, own in enumerate(levels):
        width = 8 >> level
        squares = grid.image(cells).reshape(1 << level, width, 1 << level, width).sum(axis=(1, 3))
        assert np.array_equal(Grid(1 << level).image(own), squares)


@pytest.mark.parametrize("side", SIDES)
def test_sums_are_those_of_brute_force_with_cut_cells(side: int) -> None:
    images = rng.seeded(2).words(2 * side**2).astype(float).reshape(2, side, side) / 2.0**60
    asked = some(side)
    wanted = np.einsum("kij,bij->bk", shares(side, asked), images)
    assert sums(images, asked) == pytest.approx(wanted, abs=1e-9)
    assert sums(images, asked)[:, 0] == pytest.approx(images.sum(axis=(1, 2)))


@pytest.mark.parametrize("side", SIDES)
def test_squared_shares_of_cells_and_of_wider_squares(side: int) -> None:
    asked = some(side)
    found = shares(side, asked)
    assert asked.squares(1) == pytest.approx((found**2).sum(axis=(1, 2)), abs=1e-9)
    images = rng.seeded(3).words(side**2).astype(float).reshape(side, side) / 2.0**60
    assert sums(images, asked.squared()) == pytest.approx(np.einsum("kij,ij->k", found**2, images), abs=1e-9)
    for width in (2, side):
        if side % width == 0:
            whole = found.reshape(len(found), side // width, width, side // width, width).sum(axis=(2, 4))
            assert asked.squares(width) == pytest.approx((whole**2).sum(axis=(1, 2)), abs=1e-9)


def test_whole_cells_are_their_own_squares_and_scaling_is_linear() -> None:
    asked = Rectangles(*(end[:-3] for end in _ends(some(8, whole=True))))
    assert asked.squares(1) == pytest.approx((asked.right - asked.left) * (asked.top - asked.bottom))
    fine = some(8).scaled(0.5)
    assert fine.right == pytest.approx(some(8).right / 2)
    assert sums(np.ones((4, 4)), fine) == pytest.approx(sums(np.ones((8, 8)), some(8)) / 4)


@pytest.mark.parametrize("side", [0, -1, LARGEST_SIDE + 1, 2.0, True, math.nan])
def test_a_side_that_is_none_is_refused(side: object) -> None:
    with pytest.raises((ValueError, TypeError), match="side"):
        Grid(side)  # type: ignore[arg-type]
