"""`psda`: every user states a safe region, a node of the quadtree, and is hidden within it: PCEP, region by region.

cell -> region of the user's own level -> one sign of a random projection over the region -> counts of the region's
cells, made to add up to the region's users -> added up over the regions.
"""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from msgspec import Meta

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import as_pure
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid
from dpress.core.maps.linear import Array, Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Tally
from dpress.inference.maps.density import Cells, Density
from dpress.inference.normal import normal
from dpress.mechanisms.protocol.report_type import ReportType
from dpress.mechanisms.spatial.grids import ByHeight
from dpress.mechanisms.spatial.map_decoder import MapCollector, node_type
from dpress.mechanisms.spatial.report_noise import Layer, ReportNoise, Term, independent
from dpress.mechanisms.spatial.safe_regions import LARGEST_SIDE, LEVELS, SafeRegions


@dataclass(frozen=True, slots=True, kw_only=True)
class Psda(MapCollector):
    """Counts of all cells: every region's, by PCEP and with the region's number of users, which is public; their sum.

    The users of different regions are different people, so that the counts of a cell within all regions around it add
    up. All that is known of the taxonomy beside them is how many users each region has: each region's counts are moved
    alike to add up to it. That is least squares for counts of equal variance, and makes all nodes of the tree agree.
    Error: within a region of n users, n_v of them in the cell v, a sum with weights w, less their mean over the region,
        has the variance sum over v of (n c^2 g - n_v) w_v^2, c = (e^epsilon + 1) / (e^epsilon - 1), g the mean of the
        diagonal of G^-1 (`Pcep`): `ReportNoise`, exact for the counts as estimated but for the projection's own
        correlations, about 1 / sqrt(rows).
    Paper: Chen, Li, Qin, Kasiviswanathan, Jin 2016 (PSDA); with the unbiased estimate of `Pcep`.

    Args:
        oracle: what devices send.
    """

    oracle: SafeRegions

    @property
    def grid(self) -> Grid:
        """The cells, of side 2^h, at most 32."""
        return self.oracle.grid

    @property
    def region_levels(self) -> tuple[int, ...]:
        """The levels whose nodes are safe regions."""
        return self.oracle.region_levels

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked."""
        return (node_type(self.grid, 0, self.oracle),)

    @property
    def claim(self) -> Claim:
        """The promise of one report, within a safe region."""
        return self.oracle.claim

    @property
    def map(self) -> Identity:
        """The cells' counts among the users of regions of the first level, then of the next: a cell has one for each.

        A cell's count is their sum.
        """
        return Identity(len(self.region_levels) * self.grid.cells)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the cells' counts, level by level of the regions; those of a region add up to its users.

        Raises:
            ValueError: nobody reported.
        """
        (tally,) = tallies
        if not int(tally[-1]):
            raise ValueError("there is no report")
        pcep = self.oracle.pcep
        table = tally[:-1].reshape(self.oracle.starts[-1], len(pcep.levels), pcep.rows + 1)
        counts = []
        for first, last in itertools.pairwise(self.oracle.starts):
            alone = np.zeros_like(table)
            alone[first:last] = table[first:last]
            counts.append(pcep.estimate(alone.ravel(), int(tally[-1])).answers)
        return self._measurement(counts, table[:, :, -1].astype(np.float64))

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return counts as they would be measured, were these the true ones; every choice gets its expected users."""
        del users  # the counts have them
        each, chosen = self._expected(counts)
        truth = [each] * len(self.region_levels)
        noise = np.sqrt(self._spread(truth, chosen)) * normal(self.map.rows, rng=rng)
        return self._measurement(list(noise.reshape(-1, self.grid.cells) + each), chosen)

    def decoded(self, measurement: Measurement, users: int) -> Density:
        """Return the sums over the levels, with their noise."""
        del users  # the measurement has them
        levels = np.asarray(measurement.answers, dtype=np.float64).reshape(-1, self.grid.cells)
        spread = np.broadcast_to(measurement.variance, (self.map.rows,)).reshape(-1, self.grid.cells)
        pairs = zip(spread, self.region_levels, strict=True)
        layers = tuple(self._layer(variances, level) for variances, level in pairs)
        noise = ReportNoise(grid=self.grid, layers=layers)
        return Cells(grid=self.grid, counts=self.grid.image(levels.sum(axis=0)), noise=noise)

    def mean_variance(self, users: int) -> float:
        """Return the variance of a cell's count with even shares."""
        each, chosen = self._expected(np.full(self.grid.cells, users / self.grid.cells))
        measurement = self._measurement([each] * len(self.region_levels), chosen)
        return float(self.decoded(measurement, users).cell_variances().mean())

    def _expected(self, counts: Array) -> tuple[Array, Array]:
        """Return the counts among the users of regions of one level, and the users by region and epsilon."""
        each, losses = counts / len(self.region_levels), len(self.oracle.losses)
        inside = np.concatenate([each.reshape(4**level, -1).sum(axis=1) for level in self.region_levels])
        return each, np.repeat(inside[:, None] / losses, losses, axis=1)

    def _measurement(self, counts_by_level: Sequence[Array], chosen: Array) -> Measurement:
        """Return what the counts of every level make once regions have their totals, shape (regions, epsilons)."""
        answers = []
        for counts, totals in zip(counts_by_level, self._totals(chosen), strict=True):
            families = counts.reshape(len(totals), -1)
            answers.append((families + (totals / families.shape[1] - families.mean(axis=1))[:, None]).ravel())
        return Measurement(map=self.map, answers=np.concatenate(answers), variance=self._spread(answers, chosen))

    def _totals(self, chosen: Array) -> list[Array]:
        """Return how many users chose every region, level by level, from the users by region and epsilon."""
        return np.split(chosen.sum(axis=1), self.oracle.starts[1:-1])

    def _spread(self, counts: Sequence[Array], chosen: Array) -> Array:
        """Return the variance of every cell's count before the totals, level by level: n c^2 g - n_v."""
        noise, variances = self._totals(chosen * _noise(self.oracle)), []
        for level_counts, totals, spread in zip(counts, self._totals(chosen), noise, strict=True):
            families = level_counts.reshape(len(totals), -1)
            variances.append((spread[:, None] - np.clip(families, 0, totals[:, None])).ravel())
        return np.maximum(np.concatenate(variances), 0)

    def _layer(self, variances: Array, level: int) -> Layer:
        """Return the noise of the counts among the users of regions of one level: a region's total is known."""
        terms = Term(factor=-1.0, width=self.grid.side >> level), Term(factor=1.0, width=1)
        return Layer(width=1, noisy=independent(variances), terms=terms)


@functools.lru_cache(maxsize=4)
def _noise(regions: SafeRegions) -> Array:
    """Return c^2 g for every region and epsilon: the variance that one user of it adds to the region's cells."""
    pcep, starts = regions.pcep, regions.starts
    spreads = []
    for (first, last), level in zip(itertools.pairwise(starts), regions.region_levels, strict=True):
        tally = np.zeros((starts[-1], len(pcep.levels), pcep.rows + 1), dtype=np.int64)
        tally[first:last, 0, -1] = 1  # a user whose sign says nothing: what is left is the noise
        spread = np.asarray(pcep.estimate(tally.ravel(), last - first).variance)
        spreads.append(spread.reshape(4**level, -1).mean(axis=1))
    factors = np.array([1 / float(2 * pcep.p(level) - 1) ** 2 for level in range(len(pcep.levels))])
    return np.asarray(np.concatenate(spreads)[:, None] * factors / factors[0])


def psda(
    grid: Grid, loss: Loss, region_levels: Sequence[int] = (), epsilons: Sequence[check.Number] = ()
) -> Psda | None:
    """Return PSDA over a grid; None where the loss is no epsilon, or the grid no quadtree or too fine.

    Args:
        grid: of side 2^h, from 2 to 32.
        loss: the largest epsilon.
        region_levels: left out, those of 0, 1 and 2 that lie above the cells.
        epsilons: left out, all users have the largest.
    """
    if (pure_loss := as_pure(loss)) is None or not grid.height or grid.side > LARGEST_SIDE:
        return None
    levels = tuple(region_levels) or tuple(level for level in LEVELS if level < grid.height)
    given = tuple(check.exact("epsilon", epsilon) for epsilon in epsilons)
    return Psda(oracle=SafeRegions(grid=grid, loss=pure_loss, region_levels=levels, epsilons=given))


def _example(loss: Loss) -> Psda:
    method = psda(Grid(4), loss)
    if method is None:
        raise NotSupported("a sign is calibrated to epsilon")
    return method


class Settings(ByHeight, frozen=True):
    """The quadtree, and what users state."""

    region_levels: (
        Annotated[
            list[Annotated[int, Meta(ge=0)]],
            Meta(
                description="the levels of the users' safe regions; left out, those of 0, 1, 2 that lie above the cells"
            ),
        ]
        | None
    ) = None
    epsilons: (
        Annotated[
            list[Fraction],
            Meta(description="the users' epsilons, each at most the spec's; left out, all have that one"),
        ]
        | None
    ) = None


CARD = Card(
    name="psda",
    family="spatial",
    model="local",
    paper="spatial: PSDA (Chen, Li, Qin, Kasiviswanathan, Jin 2016)",
    summary="Users name a safe region and are hidden only within it, not between any two positions; PCEP in each.",
    method=Psda,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=psda,
    parameters=Settings,
)
