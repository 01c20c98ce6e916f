"""The error that people are likely to see of a map: simulated collections among made-up populations."""

import functools
from typing import Any

import numpy as np

from dpress.core.grid import LARGEST_SIDE, Rectangles
from dpress.core.rng import seeded
from dpress.core.workload import Areas
from dpress.inference.maps.population import populations
from dpress.mechanisms.spatial.map_decoder import MapEstimator, expected_error

QUERIES = 200  # of the expected size, for a prediction
TYPICAL = 500  # of them, for a published map
RUNS = 1  # simulated collections in every made-up population, for a prediction


def rectangles(workload: Areas, number: int = QUERIES) -> Rectangles:
    """Return rectangles of these areas, in shares of the box: at random places, up to three times as long as wide."""
    words = seeded(2013).words(4 * number).reshape(4, number)
    one, two, three, four = words.astype(np.float64) / 2.0**64
    area = workload.low + (workload.high - workload.low) * one
    across = np.clip(np.sqrt(area) * 3 ** (two - 0.5), area, 1)
    up = area / across
    left, bottom = three * (1 - across), four * (1 - up)
    return Rectangles(left, left + across, bottom, bottom + up)


def typical_rectangles(workload: Areas) -> Rectangles:
    """Return the 500 rectangles that a published map's typical error is over, and that it is evaluated on.

    Their ends lie on the edges of the finest grid, in its cells, at least one cell apart.
    """
    asked = rectangles(workload, TYPICAL).scaled(LARGEST_SIDE)
    left, bottom = (np.minimum(np.round(end), LARGEST_SIDE - 1) for end in (asked.left, asked.bottom))
    right, top = np.maximum(np.round(asked.right), left + 1), np.maximum(np.round(asked.top), bottom + 1)
    return Rectangles(left, right, bottom, top)


def expected(made: MapEstimator, workload: Areas, users: int) -> float:
    """Return the mean squared error that is to be expected of queries of this size, in counts squared.

    Args:
        made: makes the map.
        workload: the sizes.
        users: how many people.
    """
    return _expected(made, workload, users)  # type: ignore[arg-type]  # estimators are frozen


@functools.lru_cache(maxsize=256)
def _expected(made: Any, workload: Areas, users: int) -> float:
    asked = rectangles(workload)
    found = [expected_error(made, people, users, asked, runs=RUNS) for people in populations()]
    return sum(found) / len(found)
