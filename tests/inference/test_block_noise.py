"""Blocks and their tiles: least squares and its error against dense algebra, and cut tiles against every place."""

import numpy as np

from dpress.core.basics import rng
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.maps.linear import Array
from dpress.core.maps.partition import Partition, even
from dpress.inference.maps.block_noise import BlockNoise

SIDE, BLOCK, TILE = 8, 7.0, 3.0


def made() -> BlockNoise:
    whole = even(Grid(SIDE), 2)
    parts = np.array([1, 2, 3, 4])
    return BlockNoise(tiles=whole.split(parts), sizes=whole.sizes(parts), block=BLOCK, tile=TILE)


def dense(noise: BlockNoise) -> tuple[Array, Array]:
    """The matrix of all answers in terms of tiles, and the inverse of the noise's covariance."""
    blocks = np.repeat(np.eye(4), noise.sizes, axis=1)
    matrix = np.vstack([blocks, np.eye(noise.tiles.rows)])
    return matrix, np.diag([1 / BLOCK] * 4 + [1 / TILE] * noise.tiles.rows)


def some(number: int) -> Rectangles:
    ends = (rng.seeded(4).words(4 * number).reshape(4, number) / 2.0**64) * SIDE
    return Rectangles(*np.sort(ends[:2], axis=0), *np.sort(ends[2:], axis=0))


def shares(tiles: Partition, rectangles: Rectangles) -> Array:
    """The share of every tile in every rectangle, through the cells' own."""

    def along(low: Array, high: Array) -> Array:
        cell = np.arange(SIDE)
        return np.clip(np.minimum(high[:, None], cell + 1) - np.maximum(low[:, None], cell), 0, 1)

    images = along(rectangles.left, rectangles.right)[:, :, None] * along(rectangles.bottom, rectangles.top)[:, None, :]
    return np.array([tiles.apply(tiles.grid.flat(image)) for image in images]) / tiles.areas


def test_least_squares_and_its_variance_are_those_of_dense_algebra() -> None:
    noise, rectangles = made(), some(60)
    matrix, inverse = dense(noise)
    covariance = np.linalg.inv(matrix.T @ inverse @ matrix)
    answers = (rng.seeded(5).words(len(matrix)) % 50).astype(np.float64)
    found = noise.least_squares(answers[:4], answers[4:])
    assert np.allclose(found, covariance @ matrix.T @ inverse @ answers, rtol=1e-10)
    queries = shares(noise.tiles, rectangles)
    expected = np.einsum("ij,jk,ik->i", queries, covariance, queries)
    assert np.allclose(noise.variances(rectangles), expected, rtol=1e-10)
    unlike = np.einsum("ij,jk,ik->i", queries, np.diag(np.diag(covariance)), queries)
    assert not np.allclose(noise.variances(rectangles), unlike, rtol=1e-3)  # covariances matter


def test_cells_have_the_variance_of_the_rectangles_that_they_are() -> None:
    noise = made().spread(np.arange(30.0)[: made().tiles.rows] * 2)
    across, up = (place.ravel().astype(np.float64) for place in np.indices((SIDE, SIDE)))
    cells = Rectangles(across, across + 1, up, up + 1)
    assert np.allclose(noise.cells().ravel(), noise.variances(cells), rtol=1e-10)


def test_a_cut_tile_adds_the_mean_over_all_places_of_the_error_of_an_even_spread() -> None:
    plain = made()
    counts = np.zeros(plain.tiles.rows)
    counts[0] = 40.0  # the first block's only tile, 4 x 4 cells
    added = plain.spread(counts).variances(WITHIN) - plain.variances(WITHIN)
    people = counts[0] ** 2 - float(plain._each[0])
    inside = np.zeros((4, 4))
    inside[:3, :1] = 1  # the rectangle's cells
    assert np.isclose(added[0], people * np.mean((inside - inside.mean()) ** 2), rtol=1e-10)


WITHIN = Rectangles(*(np.array([end]) for end in (0.0, 3.0, 0.0, 1.0)))


def test_whole_tiles_add_nothing_and_no_rectangle_has_no_variance() -> None:
    plain = made()
    full = Rectangles(*(np.array([end]) for end in (0.0, float(SIDE), 0.0, float(SIDE))))
    uneven = plain.spread(np.full(plain.tiles.rows, 100.0))
    assert uneven.variances(full) == plain.variances(full) > 0
    none = np.zeros(0)
    assert uneven.variances(Rectangles(none, none, none, none)).shape == (0,)
