"""`adaptive_grid`: a coarse grid of noisy counts, every block of which is cut the finer the more people it holds.

exact cells -> noisy blocks -> tiles by the noisy blocks -> noisy tiles -> least squares in every block -> cells.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.kind import Participants
from dpress.core.basics.losses.any_loss import composed, part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import LARGEST_SIDE, Grid, running_totals
from dpress.core.maps.linear import Array, Numbers, Stack
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.partition import Partition, even
from dpress.core.methods.mechanism import Card, Draw, Drawn
from dpress.core.methods.table_sums import Rows
from dpress.inference.interval import Tail
from dpress.inference.maps.block_noise import BlockNoise, TileDensity
from dpress.inference.maps.density import Density
from dpress.inference.normal import normal
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.spatial.central_map import fourth_root, precision
from dpress.mechanisms.spatial.grids import Side
from dpress.mechanisms.spatial.map_decoder import MapDecoder, MapEstimator
from dpress.mechanisms.spatial.uniform_grid import PER_CELL, UniformGrid
from dpress.noise.distribution import Noise

FEWEST_BLOCKS = 10
SHARE = Fraction(1, 2)
"""alpha of the paper: the blocks' share of the loss."""
PER_TILE = Fraction(PER_CELL, 2)
"""c_2 of the paper: a tile should hold about c_2 / ((1 - alpha) epsilon) points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveGrid(MapEstimator):
    """AG: two levels of counts, the second cut by what the first one's noisy counts say.

    A block of noisy count N' is cut in m_2 x m_2 tiles, m_2 = ceil(sqrt(N' (1 - alpha) epsilon / c_2)), and in one
    where N' <= 0; blocks and tiles have whole cells, so that m_2 is at most the block's width.
    Promise: blocks are a histogram with the share alpha of the loss, tiles one with the rest; the second is chosen by
    the first's noisy answers, and the two compose. Proven.
    Error: given the tiles, whole ones have the exact variance of least squares, and a cut one adds what an uneven
    spread may do (`inference.maps.block_noise`). Nearly unbiased only: the block's noise also cuts its tiles, and so
    weighs itself where N' is about c_2 / ((1 - alpha) epsilon).
    Paper: Qardaji, Yang and Li 2013, AG; alpha = 1/2, c_2 = 5.

    Args:
        grid: the cells that are counted; a fine one.
        blocks: along each axis, m_1; at most the grid's side.
        loss: pure epsilon or zCDP.
        unit: whom the promise protects.
        share: alpha, the blocks' share of the loss.
        per_tile: c_2 of the paper.
    """

    grid: Grid
    blocks: int
    loss: Loss
    unit: Unit = ROW
    share: Fraction = SHARE
    per_tile: Fraction = PER_TILE

    def __post_init__(self) -> None:
        if check.count("blocks", self.blocks) > self.grid.side:
            raise ValueError(f"blocks must be at most the grid's side {self.grid.side}, got blocks={self.blocks}")
        check.probability("share", self.share)
        if self.per_tile <= 0:
            raise ValueError(f"per_tile must be > 0, got per_tile={self.per_tile}")
        _ = self.levels  # refuses a loss

    @property
    def levels(self) -> tuple[MatrixMechanism, MatrixMechanism]:
        """The mechanisms of both levels, over all cells: a block or a tile changes as a cell does, or less."""
        losses = part_of(self.loss, self.share), part_of(self.loss, 1 - self.share)
        first, second = (
            MatrixMechanism(strategy=UniformGrid(grid=self.grid), loss=loss, unit=self.unit) for loss in losses
        )
        return first, second

    @property
    def noises(self) -> tuple[Noise, Noise]:
        """The noise of a block and of a tile."""
        first, second = self.levels
        return first.noises[0], second.noises[0]

    @property
    def claim(self) -> Claim:
        """The promise, composed of what both levels' noise gives."""
        claims = [level.claim for level in self.levels]
        loss = composed([claim.proven for claim in claims if claim.proven is not None])
        basis = f"blocks: {claims[0].basis}; tiles, by the blocks' noisy counts: {claims[1].basis}"
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    @property
    def tail(self) -> Tail:
        """How heavy the noise's tail is."""
        return self.levels[0].tail

    @property
    def map(self) -> Partition:
        """The blocks; a measurement's map has their tiles, too, which its own answers cut."""
        return even(self.grid, self.blocks)

    @property
    def variance(self) -> float:
        """The variance of a block's noise, in counts squared; a tile's has the other share of the loss."""
        return self.noises[0].variance

    @property
    def decoder(self) -> MapDecoder:
        """How the map is made of what was measured."""
        return MapDecoder(self, 0)

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the noise; see `CuratorMechanism`."""
        exact = self.counted(rows)
        return lambda rng: Drawn(output=self.noisy(exact, rng=rng))

    def numbers_held(self, rows: int) -> int:
        """Return how many numbers are in memory: those of both levels, over all cells."""
        return 2 * self.levels[0].numbers_held(rows)

    def counted(self, rows: Rows) -> Numbers:
        """Return the answers without noise."""
        return self.exact(self.grid.flat(rows.tables(self.decoder.tables).reshape(self.grid.side, -1)))

    def exact(self, counts: Numbers) -> Numbers:
        """Return the exact counts of all cells, private, as a copy: tiles are sums of them.

        Args:
            counts: exact integers, shape (cells,), in the grid's order.
        """
        return self.levels[0].exact(counts)

    def noisy(self, exact: Numbers, *, rng: Generator) -> Measurement:
        """Return the noisy counts of all blocks, then of all tiles; `exact` is left alone."""
        blocks, tiles = self.noises
        totals = running_totals(self.map.grid.image(exact))
        first = self.map.between(totals) + blocks.sample(self.map.rows, rng=rng)
        cut = self.map.split(self.parts(first))
        second = cut.between(totals) + tiles.sample(cut.rows, rng=rng)
        return self.measured(np.concatenate([first, second]))

    def parts(self, blocks: Numbers) -> Numbers:
        """Return into how many tiles along each axis every block is to be cut, by their noisy counts; exact.

        The fourth root of c^2 f, f the fineness, rounded up: above k for c^2 > k^4 / f, that is for integers c above
        isqrt(k^4 / f), so that the roots of many counts are looked up among a few such ends.
        """
        fineness = precision(self.noises[1]) / self.per_tile**2
        largest = fourth_root(max(int(blocks.max(initial=0)), 0) ** 2 * fineness)
        ends = [math.isqrt(k**4 * fineness.denominator // fineness.numerator) for k in range(1, largest)]
        return 1 + np.searchsorted(np.array(ends, dtype=np.int64), blocks, side="left")

    def measured(self, answers: Numbers) -> Measurement:
        """Return the measurement that has these noisy answers; the blocks' say how the tiles were cut.

        Raises:
            ValueError: there are not as many tiles as that.
        """
        blocks, (first, second) = self.map, self.noises
        cut = blocks.split(self.parts(answers[: blocks.rows]))
        variance = np.repeat([first.variance, second.variance], [blocks.rows, cut.rows])
        return Measurement(map=Stack((blocks, cut)), answers=answers, variance=variance)

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return answers as they would be measured, were these the true counts: normal noise, rounded in blocks."""
        del users  # the noise does not depend on it
        deviations = [np.sqrt(noise.variance) for noise in self.noises]
        totals = running_totals(self.map.grid.image(counts))
        first = np.rint(self.map.between(totals) + deviations[0] * normal(self.map.rows, rng=rng))
        cut = self.map.split(self.parts(first))
        second = cut.between(totals) + deviations[1] * normal(cut.rows, rng=rng)
        return self.measured(np.concatenate([first, second]))

    def decoded(self, measurement: Measurement, users: int) -> Density:
        """Return the estimate with its error; a tile's count is spread evenly over its cells."""
        del users
        first, second = self.noises
        blocks, tiles = np.split(np.asarray(measurement.answers, dtype=np.float64), [self.map.rows])
        parts = self.parts(measurement.answers[: self.map.rows])
        cut, sizes = self.map.split(parts), self.map.sizes(parts)
        noise = BlockNoise(tiles=cut, sizes=sizes, block=first.variance, tile=second.variance)
        counts = noise.least_squares(blocks, tiles)
        return TileDensity(noise=noise.spread(counts), tiles=counts)


def best_blocks(users: int, loss: Loss, unit: Unit) -> int:
    """Return the paper's m_1 = max(10, sqrt(N epsilon / c) / 4), rounded up.

    Args:
        users: N, the expected number of points; public, so that no budget is spent on it.
        loss: epsilon, or rho, which stands for the epsilon whose noise is as large.
        unit: under replace-one, and with several rows a person, epsilon is that much smaller.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> best_blocks(1_000_000, PureDP(epsilon=1), Unit())
    80
    """
    noise = MatrixMechanism(strategy=UniformGrid(grid=Grid(2)), loss=loss, unit=unit).noises[0]
    return max(FEWEST_BLOCKS, fourth_root(Fraction(users, PER_CELL) ** 2 * precision(noise) / 4**4))


def adaptive_grid(grid: Grid, loss: Loss, *, unit: Unit, users: int) -> AdaptiveGrid | None:
    """Return the adaptive grid over a fine grid; None for other losses.

    Args:
        grid: whose cells the blocks and tiles are made of; side 1024 loses nothing that a rectangle would show.
        loss: pure epsilon or zCDP.
        unit: whom the promise protects.
        users: the expected number of points; public.
    """
    if not loss.additive:
        return None
    blocks = min(best_blocks(users, loss, unit), grid.side)
    return AdaptiveGrid(grid=grid, blocks=blocks, loss=loss, unit=unit)


def _example(loss: Loss, unit: Unit) -> AdaptiveGrid:
    if not loss.additive:
        raise NotSupported("adaptive_grid is calibrated to epsilon or rho")
    return AdaptiveGrid(grid=Grid(4), blocks=2, loss=loss, unit=unit)


class Settings(Participants, frozen=True):
    """The fine grid that blocks and tiles are made of, and the number of people that they suit."""

    side: Side | None = None


CARD = Card(
    name="adaptive_grid",
    family="spatial",
    model="central",
    paper="spatial: What dpress adds (AG of Qardaji, Yang, Li 2013)",
    summary="A coarse grid whose blocks are cut the finer the more people they hold: good for any rectangle, fast.",
    method=AdaptiveGrid,
    example=_example,
    spatial=adaptive_grid,
    grids=lambda users, loss, unit: (Grid(LARGEST_SIDE),),  # noqa: ARG005  # a fine one loses nothing
    parameters=Settings,
)
