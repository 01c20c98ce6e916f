"""The bound of Theorem 5 for the rectangles of a map that is made of OUE reports by least squares.

release -> users of every level, noise of the tree -> rectangle -> how far its count can be off.
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.maps.grid import Rectangles
from dpress.core.maps.linear import Array
from dpress.inference.maps.density import Cells, Density, TreeNoise
from dpress.inference.maps.deviation import rectangle_bernstein
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.protocol.collection import method_of
from dpress.mechanisms.spatial.levels import Levels
from dpress.query.release import Release

BETA = 0.05  # the chance that stands beside intervals of 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviationBound:
    """How far the counts of rectangles can be from the truth, but for a chance of at most `BETA`; by Bernstein.

    Args:
        noise: by which the tree's levels, or the cells, are weighed.
        users: who answered for every level.
        epsilon: of a report.
    """

    noise: TreeNoise
    users: tuple[int, ...]
    epsilon: float

    def of(self, rectangles: Rectangles) -> Array:
        """Return the bound of every rectangle, whose ends are in cells, shape (m,)."""
        ends = np.stack([rectangles.left, rectangles.right, rectangles.bottom, rectangles.top], axis=1)
        each = (Rectangles(*place[:, None]) for place in ends)  # one at a time: each has an image of weights
        parts = [rectangle_bernstein(self.noise, self.users, self.epsilon, rectangle, beta=BETA) for rectangle in each]
        return np.concatenate(parts) if parts else np.zeros(0)


def deviation_bound(release: Release, density: Density) -> DeviationBound | None:
    """Return the bound of a map; None where it is not the document's: other reports, or no linear estimate."""
    collection, estimator = release.collection, method_of(release.mechanism)
    if collection is None or not (isinstance(estimator, Levels) and estimator.linear and isinstance(density, Cells)):
        return None
    oracle = estimator.oracles[-1]
    if estimator.root or not isinstance(oracle, Oue):
        return None
    tallies = collection.tallies_in(release.kept)
    noise = estimator.weighed_by(estimator.measurement(tallies))
    reports = {level: int(tally[-1]) for level, tally in zip(estimator.levels, tallies, strict=True)}
    levels = estimator.levels if estimator.flat else range(len(noise.levels))
    users = tuple(reports.get(level, 0) for level in levels)
    return DeviationBound(noise=noise, users=users, epsilon=float(oracle.loss.epsilon))
