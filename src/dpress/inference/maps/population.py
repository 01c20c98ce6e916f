"""Made-up populations on a map, for planning: how people cluster in general, about nobody.

one square -> four quarters with weights of their own, again and again -> clusters within clusters, moved to the middle.
"""

import functools
import math
from dataclasses import replace

import numpy as np

from dpress.core.basics.extras import scipy
from dpress.core.basics.rng import Generator, seeded
from dpress.core.maps.grid import LARGEST_SIDE, Grid
from dpress.core.maps.linear import Array
from dpress.inference.maps.density import Cells, TreeNoise, clustering

HEIGHT = 9
ROUGH = 1.8  # standard deviation of the logarithm of a quarter's weight, the same at every scale
SEEDS = (1, 2, 3, 4)
ROUGHS = (0.5, 1.0, 1.5, 2.0)  # the same of four populations from spread almost evenly to in a few places


@functools.cache
def populations() -> tuple[Cells, ...]:
    """Return four log-normal cascades of total 1 on 512 x 512 cells: many places empty, a few full, at every scale.

    They stand in for the people that are not known when a collection is planned. Each has its people in the middle, as
    boxes are drawn around people: a centre then lies across the quadtree's edges, which is what makes it hard for one.
    What they predict for real check-ins and pick-ups is in bench/spatial.py.
    """
    return tuple(_cascade(seed, ROUGH, HEIGHT) for seed in SEEDS)


@functools.cache
def family() -> tuple[Cells, ...]:
    """Return four cascades on the finest grid, each more clustered than the one before: what an error may range over.

    They hide nothing within their cells: they are for rectangles whose ends lie on the edges of that grid.
    """
    finest = LARGEST_SIDE.bit_length() - 1
    made = (_cascade(seed, rough, finest) for seed, rough in zip(SEEDS, ROUGHS, strict=True))
    return tuple(replace(cells, clustered=0.0) for cells in made)


def _cascade(seed: int, rough: float, height: int) -> Cells:
    rng, mass = seeded(seed), np.ones((1, 1))
    for _ in range(height):
        mass = _split(mass, rough, rng)
    grid = Grid(1 << height)
    shift = [round(grid.side * (0.5 - _centre(mass.sum(axis=other)))) for other in (1, 0)]
    counts = np.roll(mass, shift, (0, 1))
    return Cells(
        grid=grid, counts=counts, noise=TreeNoise(grid=grid, levels=(0.0,)), clustered=clustering(mass, levels=1)
    )


def _centre(weights: Array) -> float:
    """Return the mean place on an axis that is bent to a circle, as a share of it: the direction of the mean point."""
    angles = 2 * np.pi * np.arange(len(weights)) / len(weights)
    across, up = weights @ np.cos(angles), weights @ np.sin(angles)
    return math.atan2(up, across) / (2 * math.pi)


def _split(mass: Array, rough: float, rng: Generator) -> Array:
    side = len(mass)
    weights = np.exp(rough * normal(4 * side**2, rng=rng)).reshape(4, side, side)
    weights *= mass / weights.sum(axis=0)
    out = np.empty((2 * side, 2 * side))
    for place, quarter in enumerate(weights):
        out[place // 2 :: 2, place % 2 :: 2] = quarter
    return out


def normal(size: int, *, rng: Generator) -> Array:
    """Return independent standard normal numbers, for simulated noise or people; nothing private is drawn."""
    ndtri = scipy("special").ndtri

    return np.asarray(ndtri((rng.words(size) >> np.uint64(12)) * 2.0**-52 + 2.0**-53))
