"""How many people are in named areas: the sum over cells by the share of each that lies within, with its exact error.

density, areas -> shares of cells -> counts with intervals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.inference.interval import Tail, critical, whole_counts
from dpress.inference.maps.density import Density, unbiased
from dpress.kinds.spatial.area_shares import area_shares
from dpress.kinds.spatial.boundaries import Area
from dpress.kinds.spatial.outlines import Box
from dpress.reporting.findings import CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AreaCount:
    """The count of an area.

    Args:
        area: with its name.
        value: the estimated number of people in the part of it that is on the map.
        centre: the unbiased estimate, which error and interval are about.
        error: its standard error.
        interval: of 95 %.
    """

    area: Area
    value: float
    centre: float
    error: float
    interval: tuple[float, float]


def area_counts(density: Density, tail: Tail, box: Box, areas: Sequence[Area]) -> tuple[AreaCount, ...]:
    """Return the counts of areas, in their order.

    A cell that a border cuts counts by the share of its area within. Error: that of the noise of all cells together,
    exact where that of rectangles is, and what cut cells hide, as of rectangles; see `Density.weighted`.

    Args:
        density: the map.
        tail: the kind of noise.
        box: the map's bounds.
        areas: in the units of these.

    Raises:
        NotSupported: the map's errors are known of rectangles alone.
    """
    return tuple(_counted(density, critical(CONFIDENCE, tail), box, area) for area in areas)


def _counted(density: Density, limit: float, box: Box, area: Area) -> AreaCount:
    low, high = np.array(box).T
    side = density.grid.side
    shares = area_shares([(ring - low) / (high - low) * side for ring in area.rings], side)
    value, variance = density.weighted(shares)
    centre = value if density.beside is None else unbiased(density).weighted(shares)[0]
    half = whole_counts(variance, limit)
    return AreaCount(
        area=area, value=value, centre=centre, error=variance**0.5, interval=(centre - half, centre + half)
    )
