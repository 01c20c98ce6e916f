"""Collections of maps, from real reports."""

from collections.abc import Callable

import numpy as np
import pytest

from dpress.core.basics.rng import Generator
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.oracle import Tally
from dpress.kinds.spatial.design import collection
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import MapCollector


def _reported(own: MapCollector, places: np.ndarray, generator: Generator) -> list[Tally]:
    """The tallies of real reports of users at these places, shape (2, users): types at random, perturbed, tallied."""
    drawn = collection(own).drawn(places.shape[1], rng=generator)
    tallies = []
    for number, asked in enumerate(own.types):
        payloads = asked.perturb(places[:, drawn == number], rng=generator)
        assert not any(mask.any() for mask in asked.faults(payloads).values())
        tallies.append(asked.tally(payloads))
    return tallies


@pytest.fixture(scope="session")
def reported() -> Callable[[MapCollector, np.ndarray, Generator], list[Tally]]:
    return _reported


@pytest.fixture(scope="session")
def collected() -> Callable[[Levels, np.ndarray, Generator], Measurement]:
    return lambda own, places, generator: own.measurement(_reported(own, places, generator))


def _queried_from_the_top(levels: list[np.ndarray], asked: tuple[float, float, float, float]) -> float:
    """TDT as the document words it, node by node: what `inference.maps.density.Nodes` must give.

    Args:
        levels: the nodes' numbers, an image of every level from the root.
        asked: left, right, bottom and top, in cells.
    """
    height = len(levels) - 1

    def visit(level: int, i: int, j: int) -> float:
        width = 1 << (height - level)
        left, right = max(asked[0], i * width), min(asked[1], (i + 1) * width)
        bottom, top = max(asked[2], j * width), min(asked[3], (j + 1) * width)
        if left >= right or bottom >= top:
            return 0.0
        share = (right - left) * (top - bottom) / width**2
        if share == 1 or level == height:
            return share * float(levels[level][i, j])
        return sum(visit(level + 1, 2 * i + x, 2 * j + y) for x in (0, 1) for y in (0, 1))

    return visit(0, 0, 0)


@pytest.fixture(scope="session")
def from_the_top() -> Callable[[list[np.ndarray], tuple[float, float, float, float]], float]:
    return _queried_from_the_top
