"""The sums of a p-Identity strategy that suits all ranges under epsilon: overlapping hats, by the number of cells.

cells -> the levels of the nearest size that was searched -> Theta.
Source: the search of `bench/searched_ranges.py`. Free searches (`mechanisms.linear.optimise`) end in such hats.
"""

from typing import NamedTuple

import numpy as np

from dpress.core.maps.linear import Array

GRAIN = 1 << 10  # weights are whole multiples of its inverse, so that they are the same on every machine
POINTS = np.linspace(0.0, 1.0, 20001)  # at which the places of hats are tabulated


class Level(NamedTuple):
    """Hats of one width, whose centres are evenly spaced in a coordinate u from 0 to 1.

    A cell at the part x of all cells has the u for which x = u - a sin(2 pi u) / (2 pi) - b sin(4 pi u) / (4 pi): for
    a > 0 hats are narrower towards both ends.

    Args:
        hats: how many.
        edge: from either end to the nearest centre, in distances of centres.
        width: from a hat's centre to its end, in the same distances.
        height: of a hat, where an entry of the identity is 1.
        a: the first wave of the coordinate.
        b: the second.
    """

    hats: int
    edge: float
    width: float
    height: float
    a: float
    b: float

    def theta(self, cells: int) -> Array:
        """Return the hats, shape (hats, cells)."""
        waves = self.a * np.sin(2 * np.pi * POINTS) / 2 + self.b * np.sin(4 * np.pi * POINTS) / 4
        places = np.interp((np.arange(cells) + 0.5) / cells, POINTS - waves / np.pi, POINTS)
        apart = 1 / (self.hats - 1 + 2 * self.edge)
        centres = apart * (self.edge + np.arange(self.hats))
        return self.height * np.maximum(0.0, 1 - np.abs(places - centres[:, None]) / (self.width * apart))


LEVELS = {
    23: (Level(1, 0.938, 0.868, 0.840, -0.601, -0.441),),
    32: (Level(2, 0.951, 0.850, 0.984, -0.472, -0.316),),
    45: (Level(3, 1.055, 0.926, 0.931, -0.201, -0.270),),
    64: (Level(4, 1.126, 0.940, 0.935, -0.080, -0.217),),
    91: (Level(6, 1.261, 0.956, 0.955, 0.194, -0.075),),
    128: (Level(8, 1.338, 0.970, 0.958, 0.344, -0.007),),
    181: (Level(10, 1.425, 0.989, 0.957, 0.386, 0.024),),
    256: (Level(13, 1.445, 1.001, 0.973, 0.441, 0.045),),
    362: (Level(16, 1.451, 1.014, 0.955, 0.503, 0.076),),
    512: (Level(22, 1.264, 1.029, 0.977, 0.607, 0.102),),
    724: (Level(45, 1.155, 0.972, 0.947, -0.219, -0.215), Level(3, 1.126, 0.948, 0.861, -0.210, -0.197)),
    1024: (Level(64, 1.177, 0.976, 0.970, -0.134, -0.143), Level(4, 1.149, 0.976, 0.858, -0.049, -0.184)),
    1448: (Level(92, 1.215, 0.976, 0.962, -0.041, -0.119), Level(6, 1.202, 0.990, 0.901, 0.122, -0.134)),
    2048: (Level(126, 1.287, 0.980, 0.963, 0.027, -0.051), Level(8, 1.249, 0.991, 0.919, 0.305, -0.041)),
    2896: (Level(180, 1.209, 0.984, 0.978, 0.162, -0.027), Level(11, 1.255, 0.994, 0.969, 0.461, -0.019)),
    4096: (Level(229, 1.213, 0.991, 0.972, 0.239, 0.031), Level(13, 1.276, 0.996, 0.948, 0.604, 0.001)),
}
"""By the number of cells, each that of the one before times the square root of 2."""


def hats_of(cells: int) -> Array:
    """Return Theta for so many cells: the levels of the size that was searched whose ratio to it is nearest to 1.

    >>> hats_of(1024).shape
    (68, 1024)

    Raises:
        ValueError: there are fewer than 23 cells, for which the identity is as good.
    """
    if cells < (least := min(LEVELS)):
        raise ValueError(f"hats are for {least} cells or more, got cells={cells}")
    nearest = min(LEVELS, key=lambda size: max(size, cells) / min(size, cells))
    theta = np.concatenate([level.theta(cells) for level in LEVELS[nearest]])
    return np.asarray(np.round(theta * GRAIN) / GRAIN)
