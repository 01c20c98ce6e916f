"""Made-up populations on a map, for planning: how people cluster in general, about nobody.

one square -> four quarters with weights of their own, again and again -> clusters within clusters.
"""

import functools
import math
from typing import Literal

import numpy as np

from dpress.core.basics.rng import Generator, seeded
from dpress.core.maps.grid import LARGEST_SIDE, Grid
from dpress.core.maps.linear import Array
from dpress.inference.maps.density import Cells, TreeNoise
from dpress.inference.normal import normal

Shape = Literal["even", "towns", "places"]
ROUGHS: dict[Shape, tuple[float, ...]] = {"towns": (2.0, 2.5), "places": (3.0, 3.5), "even": (0.5, 1.0)}
"""Standard deviations of the logarithm of a quarter's weight, by how people are spread."""


@functools.cache
def family(shape: Shape) -> tuple[Cells, ...]:
    """Return two log-normal cascades of each roughness of a shape, of total 1, on the finest grid.

    Many places empty, a few full, at every scale: they stand in for the people that are not known when a map is
    planned. One has its people in the middle, as boxes are drawn around people: a centre then lies across the
    quadtree's edges, which is what makes it hard for one; the other has them where they fall. They hide nothing within
    their cells: they are for rectangles whose ends lie on the edges of that grid. What they predict of real points is
    in `bench/map_choice.py`.

    Args:
        shape: crowded in towns with outskirts, or in a few full places, or spread almost evenly.
    """
    height = LARGEST_SIDE.bit_length() - 1
    kinds = [(name, rough, centred) for name, roughs in ROUGHS.items() for rough in roughs for centred in (True, False)]
    return tuple(
        _cascade(seed, rough, height, centred=centred)
        for seed, (name, rough, centred) in enumerate(kinds, start=1)
        if name == shape
    )


def _cascade(seed: int, rough: float, height: int, *, centred: bool) -> Cells:
    rng, mass = seeded(seed), np.ones((1, 1))
    for _ in range(height):
        mass = _split(mass, rough, rng)
    grid = Grid(1 << height)
    if centred:
        mass = np.roll(mass, [round(grid.side * (0.5 - _centre(mass.sum(axis=other)))) for other in (1, 0)], (0, 1))
    return Cells(grid=grid, counts=mass, noise=TreeNoise(grid=grid, levels=(0.0,)))


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
