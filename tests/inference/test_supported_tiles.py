"""The grain that a map's noise supports: noise is not cut, what is significantly above 0 is, and tiles cover all."""

from typing import Any

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.grid import Grid, Rectangles
from dpress.inference.maps import supported_tiles as module
from dpress.inference.maps.density import Cells, TreeNoise
from dpress.inference.maps.supported_tiles import supported_tiles
from dpress.inference.normal import normal

EMPTY_MAPS = 200
MOST_CUT = 28  # of 200 empty maps, each cut with a chance of at most 5 %: more in less than 1e-6 of such tests
EVERY = 1 << 22


def density(counts: Any, variance: float = 25.0) -> Cells:
    counts = np.asarray(counts, dtype=float)
    grid = Grid(len(counts))
    return Cells(grid=grid, counts=counts, noise=TreeNoise(grid=grid, levels=(variance,)))


def noise(seed: int, side: int, variance: float = 25.0) -> Any:
    return np.sqrt(variance) * normal(side**2, rng=rng.seeded(seed)).reshape(side, side)


def maps_cut() -> int:
    """Return how many maps of nobody are cut."""
    tiles = (supported_tiles(density(noise(seed, 32)), "gaussian", EVERY) for seed in range(EMPTY_MAPS))
    return sum(each.partition.rows > 1 for each in tiles)


def test_noise_alone_is_hardly_ever_cut() -> None:
    assert maps_cut() <= MOST_CUT


def test_the_test_misses_no_bounds_that_leave_out_how_many_squares_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "several_critical", lambda *_: 1.96)
    assert maps_cut() > 2 * MOST_CUT


@pytest.mark.parametrize("side", [1, 2, 7, 32, 37, 64])
def test_tiles_cover_every_cell_once_with_the_maps_own_answers(side: int) -> None:
    counts = noise(3, side) + 400 * (np.indices((side, side)).sum(axis=0) % 5 == 0)
    tiles = supported_tiles(density(counts), "gaussian", EVERY)
    squares = tiles.partition
    assert squares.areas.sum() == side**2
    assert np.array_equal(squares.painted(np.arange(squares.rows)), Painted(tiles).numbers)
    for row in range(squares.rows):
        inside = slice(squares.left[row], squares.right[row]), slice(squares.bottom[row], squares.top[row])
        assert tiles.count[row] == pytest.approx(counts[inside].sum())
        assert tiles.error[row] == pytest.approx(5 * np.sqrt(squares.areas[row]))
        assert tiles.high[row] - tiles.count[row] == np.ceil(1.96 * tiles.error[row] + 0.5 - 1e-3)


class Painted:
    """The number of every cell's tile, cell by cell."""

    def __init__(self, tiles: Any) -> None:
        squares = tiles.partition
        self.numbers = np.full((squares.grid.side,) * 2, -1)
        for row in range(squares.rows):
            part = self.numbers[squares.left[row] : squares.right[row], squares.bottom[row] : squares.top[row]]
            assert (part == -1).all()
            part[:] = row


def test_a_full_place_is_shown_as_fine_as_it_is_told_though_noise_drowns_the_area_around() -> None:
    counts = noise(5, 64)
    counts[20, 41] += 60.0
    tiles = supported_tiles(density(counts), "gaussian", EVERY)
    (place,) = np.flatnonzero(tiles.significant)
    squares = tiles.partition
    assert (squares.left[place], squares.right[place], squares.bottom[place], squares.top[place]) == (20, 21, 41, 42)
    assert squares.rows == 1 + 3 * 6
    assert tiles.finest == 64


def test_where_everything_is_told_levels_are_left_out_until_tiles_are_few() -> None:
    full = density(np.full((256, 256), 1000.0))
    for most, rows in ((EVERY, 256**2), (5000, 64**2), (4096, 64**2), (4095, 32**2)):
        tiles = supported_tiles(full, "gaussian", most)
        assert (tiles.partition.rows, bool(tiles.significant.all())) == (rows, True)


def test_who_lies_in_a_tile_is_spread_evenly_over_it() -> None:
    counts = np.zeros((8, 8))
    counts[6:, 6:] = 100.0
    tiles = supported_tiles(density(counts), "gaussian", EVERY)
    assert np.array_equal(tiles.spread(tiles.count), counts)
    whole = Rectangles(*(np.array([end]) for end in (0.0, 8.0, 0.0, 8.0)))
    assert tiles.count.sum() == pytest.approx(density(counts).values(whole)[0])
