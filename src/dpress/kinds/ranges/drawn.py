"""Queries of a workload, each equally likely: for a check of their errors, and for a prediction that needs some."""

import numpy as np

from dpress.core.basics.rng import Generator
from dpress.core.maps.ranges import Axis, Places, Ranges
from dpress.core.maps.workload import Boxes
from dpress.noise.uniform import below


def drawn(workload: Boxes, size: int, *, rng: Generator) -> list[Ranges]:
    """Return queries of the workload as ranges on every axis, the i-th of which make a box.

    Args:
        workload: what is asked.
        size: how many are drawn.
        rng: the generator.
    """
    if workload.paired:
        place = below(workload.queries, size, rng=rng)
        return [_some(axis, place) for axis in workload.axes]
    return [
        _any_ranges(axis.cells, size, rng) if axis.every else _some(axis, below(axis.queries, size, rng=rng))
        for axis in workload.axes
    ]


def _some(axis: Axis, places: Places) -> Ranges:
    """Return the ranges of one axis at these places."""
    listed = [axis.ranges(int(place), int(place) + 1) for place in places]
    return Ranges(axis.cells, np.concatenate([r.left for r in listed]), np.concatenate([r.right for r in listed]))


def _any_ranges(cells: int, size: int, rng: Generator) -> Ranges:
    """Return ranges drawn evenly from all n (n + 1) / 2: two different cuts among n + 1."""
    first = below(cells + 1, size, rng=rng)
    second = below(cells, size, rng=rng)
    second += second >= first  # any cut but the first
    return Ranges(cells, np.minimum(first, second) + 1, np.maximum(first, second))
