"""The error of spreading people uniformly over a leaf of many cells, beside the noise of its count.

counts of the leaves -> with a share s of a leaf within a rectangle, c^2 k s (1 - s) on top of the noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.grid import Rectangles, sums
from dpress.core.maps.linear import Array
from dpress.inference.maps.density import Noise

CLUSTERED = 0.6  # k: 0 for people evenly spread over a leaf, 1 for all at one point


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeafNoise:
    """The error of sums over rectangles, with that of leaves which a rectangle cuts.

    Error: that of `noise`, and over the leaves that are larger than a cell sum c^2 k s (1 - s), as if they were
    independent; `Cells` says the same of cut cells. k = 0.6 is an assumption about people, not a promise.

    Args:
        noise: of everything else.
        images: of every level above the cells, from the root: the counts of its leaves, 0 for nodes that are none.
    """

    noise: Noise
    images: Sequence[Array]

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the mean squared error of the sum in each rectangle, in counts squared."""
        total, height = self.noise.variances(rectangles), len(self.images)
        for level, image in enumerate(self.images):
            squares, scaled = image**2, rectangles.scaled(1 / (1 << (height - level)))
            total = total + CLUSTERED * np.maximum(sums(squares, scaled) - sums(squares, scaled.squared()), 0)
        return np.asarray(total)

    def cells(self) -> Array:
        """Return that of every cell."""
        total, height = self.noise.cells(), len(self.images)
        for level, image in enumerate(self.images):
            width = 1 << (height - level)
            hidden = CLUSTERED * image**2 * (1 - 1 / width**2) / width**2
            total = total + np.kron(hidden, np.ones((width, width)))
        return np.asarray(total)
