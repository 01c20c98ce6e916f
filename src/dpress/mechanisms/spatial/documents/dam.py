"""`dam`: the device reports a cell near its own, or any other one: a disk in place of a single cell.

cell -> a uniform cell of the disk around it with probability P, else a uniform one outside -> its number in the fewest
bytes -> how often each was reported -> the map of greatest likelihood.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.basics import rng as generators
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import as_pure, pure
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Tally
from dpress.inference.maps.density import Cells, Density, Reach
from dpress.inference.poisson import poisson
from dpress.mechanisms.protocol.report_type import ReportType
from dpress.mechanisms.spatial.documents.disk import Blur, likeliest
from dpress.mechanisms.spatial.documents.disk_reach import DiskReach
from dpress.mechanisms.spatial.documents.disk_reports import DiskReports
from dpress.mechanisms.spatial.grids import ByGrid
from dpress.mechanisms.spatial.map_decoder import SEED, MapCollector, node_type

MOST_CELLS = 1 << 13  # of a grid: the likeliest map of a larger one takes minutes, and a plan makes many
RUNS = 4  # simulated collections behind a mean variance


@dataclass(frozen=True, slots=True, kw_only=True)
class Dam(MapCollector):
    """The map under which the reports are likeliest.

    Error: biased where it is rough and never below zero; no formula, a parametric bootstrap (`maps.MapDecoder`).
    Intervals are by the reports around a rectangle, as people within a disk cannot be distinguished (`DiskReach`). A
    finer grid costs time, and gains little but where most people are in few places.
    Paper: Du et al. 2024, DAM with EM, here accelerated and run until no likelihood is to be gained.

    Args:
        oracle: what devices send.
    """

    oracle: DiskReports

    @property
    def grid(self) -> Grid:
        """The cells, of any side."""
        return self.oracle.grid

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked."""
        return (node_type(self.grid, 0, self.oracle),)

    @property
    def claim(self) -> Claim:
        """The promise of one report."""
        return self.oracle.claim

    @property
    def linear(self) -> bool:
        """The estimate is not linear in the reports."""
        return False

    @property
    def map(self) -> Blur:
        """The counts of all cells, blurred."""
        return self.oracle.blur

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the numbers of reports.

        Raises:
            ValueError: nobody reported.
        """
        (tally,) = tallies
        if not int(tally[-1]):
            raise ValueError("there is no report")
        return self.oracle.estimate(tally[:-1], int(tally[-1]))

    def decoded(self, measurement: Measurement, users: int) -> Density:
        """Return the likeliest map; its error is not known before a bootstrap, and infinite until then."""
        shares = likeliest(self.map, np.asarray(measurement.answers, dtype=np.float64))
        return Cells(grid=self.grid, counts=shares * users, noise=_UnknownError(side=self.grid.side))

    def reach(self, tallies: Sequence[Tally]) -> Reach:
        """Return between which counts rectangles lie, by the reports around them."""
        (tally,) = tallies
        return DiskReach(blur=self.map, reports=tally[:-1].astype(np.float64), users=int(tally[-1]))

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return reports as they would be, were these the true counts: independent Poisson numbers, or nearly so."""
        held = np.maximum(counts, 0)
        expected = self.map.apply(held * (users / held.sum()))
        return self.oracle.estimate(np.asarray(poisson(expected, rng=rng)), users)

    def mean_variance(self, users: int) -> float:
        """Return the mean squared error of a cell over a few simulated collections with even shares."""
        even, rng = np.full(self.grid.cells, users / self.grid.cells), generators.seeded(SEED)
        images = [self.decoded(self.simulated(even, users, rng=rng), users).counts for _ in range(RUNS)]
        return float(((np.stack(images) - even[0]) ** 2).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnknownError:
    """An error that only a bootstrap tells.

    Args:
        side: of the grid.
    """

    side: int

    def variances(self, rectangles: Rectangles) -> Array:
        """Return infinities, shape (m,)."""
        return np.full(len(rectangles.left), math.inf)

    def cells(self) -> Array:
        """Return infinities, shape (side, side)."""
        return np.full((self.side, self.side), math.inf)


def dam(grid: Grid, loss: Loss) -> Dam | None:
    """Return the disk mechanism over a grid; None where the loss is no epsilon.

    Raises:
        NotSupported: the grid is too fine.
    """
    if grid.cells > MOST_CELLS:
        raise NotSupported(
            f"dam: {grid.side} x {grid.side} cells are {grid.cells:,}, more than 2^13: their likeliest map takes "
            "minutes; set side = 90 or less"
        )
    pure_loss = as_pure(loss)
    return None if pure_loss is None else Dam(oracle=DiskReports(grid=grid, loss=pure_loss))


def _example(loss: Loss) -> Dam:
    """Return a tiny instance; its radius is stated, for the best one takes a while to find."""
    loss = pure(loss, "a disk's reports are calibrated to epsilon")
    return Dam(oracle=DiskReports(grid=Grid(4), loss=loss, radius=2))


CARD = Card(
    name="dam",
    family="spatial",
    model="local",
    paper="spatial: DAM (Du et al. 2024)",
    summary="Reports a cell within a disk around the own one; the likeliest map by EM, best for smooth maps.",
    method=Dam,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=dam,
    parameters=ByGrid,
)
