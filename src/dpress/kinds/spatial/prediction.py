"""The error that people are likely to see of a map: simulated collections among made-up populations.

Of the rectangles that a map is evaluated on: the mean over the populations, by which methods and grids are ranked; the
range over them, more and less clustered, which a plan states; and the noise of the unbiased answers.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpress.core.basics.rng import seeded
from dpress.core.maps.grid import LARGEST_SIDE, Rectangles
from dpress.core.maps.workload import Areas
from dpress.inference.maps.density import Cells
from dpress.inference.maps.population import Shape, family
from dpress.mechanisms.spatial.map_decoder import SEED, MapEstimator, expected_error

QUERIES = 500  # of the expected size
RUNS = 2  # simulated collections in every made-up population; one of a map whose noise averages out over its cells
RANKED: tuple[Shape, ...] = ("towns", "places")  # unless the specification says how people are spread
EVERY: tuple[Shape, ...] = ("even", *RANKED)
MANY = 1 << 13  # cells of such a map


@functools.lru_cache(maxsize=64)
def rectangles(workload: Areas, number: int = QUERIES) -> Rectangles:
    """Return rectangles of these areas, in shares of the box: at random places, up to three times as long as wide."""
    words = seeded(2013).words(4 * number).reshape(4, number)
    sizes, shapes, lefts, bottoms = words.astype(np.float64) / 2.0**64
    area = workload.low + (workload.high - workload.low) * sizes
    across = np.clip(np.sqrt(area) * 3 ** (shapes - 0.5), area, 1)
    up = area / across
    left, bottom = lefts * (1 - across), bottoms * (1 - up)
    return Rectangles(left, left + across, bottom, bottom + up)


def typical_rectangles(workload: Areas) -> Rectangles:
    """Return the 500 rectangles that a map's error is predicted for, and that a published map is evaluated on.

    Their ends lie on the edges of the finest grid, in its cells, at least one cell apart.
    """
    boxes = rectangles(workload).scaled(LARGEST_SIDE)
    left, bottom = (np.minimum(np.round(end), LARGEST_SIDE - 1) for end in (boxes.left, boxes.bottom))
    right, top = np.maximum(np.round(boxes.right), left + 1), np.maximum(np.round(boxes.top), bottom + 1)
    return Rectangles(left, right, bottom, top)


def expected(made: MapEstimator, workload: Areas, users: int, shape: Shape | None = None) -> float:
    """Return the mean squared error that is to be expected of queries of this size, in counts squared.

    The mean over populations, which is large for what fails in one of them.

    Args:
        made: makes the map.
        workload: the sizes.
        users: how many people.
        shape: how they are spread, where that is stated.
    """
    errors = _all_errors(made, workload, users, (shape,) if shape else RANKED)
    return sum(errors) / len(errors)


def likely_range(made: MapEstimator, workload: Areas, users: int, shape: Shape | None = None) -> tuple[float, float]:
    """Return the smallest and the largest root mean squared error of typical rectangles over made-up populations.

    What error an adjusted map has depends on where people are, which no plan knows. The rectangles are those that a map
    is evaluated on, so that its measured error may be compared.

    Args:
        made: makes the map.
        workload: the sizes.
        users: how many people.
        shape: how they are spread, where that is stated; else populations of every shape count.
    """
    errors = _all_errors(made, workload, users, (shape,) if shape else EVERY)
    return math.sqrt(min(errors)), math.sqrt(max(errors))


def _all_errors(made: Any, workload: Areas, users: int, shapes: Sequence[Shape]) -> list[float]:
    return [error for shape in shapes for error in _errors(made, workload, users, shape)]


@functools.lru_cache(maxsize=512)
def _errors(made: Any, workload: Areas, users: int, shape: Shape) -> tuple[float, ...]:
    """Return the mean squared error in every population of a shape."""
    boxes, runs = _stated(workload), 1 if made.grid.cells > MANY else RUNS
    return tuple(expected_error(made, people, users, boxes, runs=runs) for people in family(shape))


@functools.lru_cache(maxsize=64)
def _stated(workload: Areas) -> Rectangles:
    return typical_rectangles(workload).scaled(1 / LARGEST_SIDE)


def noise_error(made: MapEstimator, workload: Areas, users: int) -> float | None:
    """Return the root mean squared noise of the unbiased answers to typical rectangles; None without a formula.

    Of a curator's map wherever people are. Reports of a full node vary more than those of an empty one, and the more so
    the larger epsilon is: of devices for people spread evenly. What cut cells hide is not in it.

    Args:
        made: makes the map.
        workload: the sizes.
        users: how many people.
    """
    even = np.full(made.grid.cells, users / made.grid.cells)
    measured = made.simulated(even, users, rng=seeded(SEED))
    estimate = made.least_squares(measured) or (made.decoded(measured, users) if made.linear else None)
    if not isinstance(estimate, Cells):
        return None
    boxes = typical_rectangles(workload).scaled(made.grid.side / LARGEST_SIDE)
    return math.sqrt(float(estimate.noise.variances(boxes).mean()))
