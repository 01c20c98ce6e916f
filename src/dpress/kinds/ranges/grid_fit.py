"""Boxes of three attributes and more from the grids of pairs: a joint distribution of the coarse tiles, fitted again.

tallies -> coarse tables, shrunk -> largest entropy -> share of a box, its tiles' people spread as by the fine tiles.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.basics.rng import seeded
from dpress.core.maps.linear import Array
from dpress.core.reports.oracle import Tally
from dpress.inference.joint import maxent
from dpress.inference.joint.bootstrap import Refits, refits
from dpress.inference.joint.shrinkage import noise, shrunk
from dpress.mechanisms.ranges.grid_counts import GridCounts
from dpress.mechanisms.ranges.hdg import Hdg

PAIRS = 2
SEED = 0  # of the refits: nothing private is drawn, and everybody gets the same
NOTE = (
    "This comes from a joint distribution that is fitted to the grids of pairs: biased; the interval covers the noise "
    "of collection and where people are in their tiles, not what pairs of attributes cannot see."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class GridFit:
    """The fitted distribution of the coarse tiles, and the grids' counts.

    Args:
        refits: of the distribution.
        counts: that spread the people of a coarse tile over its cells.
    """

    refits: Refits
    counts: GridCounts

    def count(self, *boxes: Sequence[Array]) -> tuple[float, float]:
        """Return the fitted count that weights of the cells ask for, and its variance by bootstrap, in counts squared.

        The shares of fine tiles in coarse ones are taken as known.
        """
        taken, users = [self._taken(weights) for weights in boxes], self.counts.users
        return users * self.refits.share(*taken), (users * self.refits.error(*taken)) ** 2

    def _taken(self, weights: Sequence[Array]) -> list[Array]:
        """Return the weights of the coarse tiles."""
        return [
            np.ones(column.coarse) if np.all(cells == 1) else self.counts.taken(axis, cells)
            for axis, (column, cells) in enumerate(zip(self.counts.error.axes, weights, strict=True))
        ]

    def interval(self, boxes: Sequence[Sequence[Array]], confidence: float) -> tuple[float, float]:
        """Return the ends of an interval, from the largest box of whole tiles within to the smallest one around."""
        (low, spread), (high, other) = (self.count(box) for box in boxes)
        return low - self.refits.half_width(spread, confidence), high + self.refits.half_width(other, confidence)


def grid_fit(grids: Hdg, tallies: Sequence[Tally], *, progress: Callable[[int], object] | None = None) -> GridFit:
    """Return the fit to all grids.

    Args:
        grids: that were asked about.
        tallies: of all of them.
        progress: called with the number of fits done.
    """
    tables = grids.coarse_tables(tallies)
    shrunken = shrunk(tables, PAIRS)
    joint = maxent.joint(grids.coarse, {axes: table.shares for axes, table in shrunken.items()}, noise=noise(shrunken))
    again = refits(tables, joint, PAIRS, rng=seeded(SEED), progress=progress)
    return GridFit(refits=again, counts=grids.counts(tallies))
