"""What every way to estimate a map has in common: one estimate, its error, and the error that is to be expected.

answers -> density; density + fresh noise of the known variance -> answers -> density: that is the error.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpress.core.basics import rng as generators
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid, Rectangles, running_totals
from dpress.core.maps.linear import Array, LinearMap
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.encoders import Node
from dpress.core.reports.oracle import Oracle, Tally
from dpress.inference.maps.density import Cells, Deferred, Density, Noise, Reach, Replicates, Wider, clustering
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import Part, ReportType

RUNS = 24  # replicates: a relative error of the standard error of 1 / sqrt(48), 14 %
MOST_CELLS = 1 << 23  # of all replicates of a map, seconds and 64 MB; of a map of 2^20 cells that is 8, 25 %
MOVED = 0.25  # of the people that fresh noise moves, where an unbiased map stands beside
SEED = 20261121  # of simulated noise: nothing private is drawn with it, and answers repeat themselves


class MapEstimator(Protocol):
    """How a map is estimated from what devices sent, or from what a curator measured.

    A base of every such method, which states what it knows better than the defaults.
    """

    __slots__ = ()
    if TYPE_CHECKING:  # a field of many, whose default a property would be

        @property
        def grid(self) -> Grid:
            """The cells of the map."""

    @property
    def linear(self) -> bool:
        """Whether `decoded` is linear in the answers, so that its own noise is exact."""
        return True

    def decoded(self, measurement: Measurement, users: int) -> Density:
        """Return the estimate. Where it is not linear its noise may be that of a linear one, and is replaced."""
        ...

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return answers as they would be measured, were these the true counts, shape (cells,), in cell order.

        Normal noise of the variance that the mechanism has; nothing private is drawn.
        """
        ...

    def with_leaves(self, noise: Noise, measurement: Measurement, counts: Array) -> Noise:
        """Return noise with the error on top that it leaves out where people are spread evenly over more than a cell.

        Args:
            noise: of the estimate.
            measurement: that it was made from.
            counts: the estimate, shape (cells,), in cell order.
        """
        del measurement, counts
        return noise

    def noise(self, tallies: Sequence[Tally]) -> Noise | None:
        """Return the error of rectangles, as unbiased estimates have it, where reports tell more than the answers."""
        del tallies
        return None

    def reach(self, tallies: Sequence[Tally]) -> Reach | None:
        """Return between which counts rectangles lie, where reports tell larger areas than cells apart."""
        del tallies
        return None

    def least_squares(self, measurement: Measurement) -> Cells | None:
        """Return an unbiased map with its exact noise, where the answers also give one."""
        del measurement
        return None


class MapCollector(MapEstimator, Estimator, Protocol):
    """A map from the tallies of a collection."""

    __slots__ = ()

    def decoder(self, users: int) -> "MapDecoder":
        """Return how the map is made of what was measured."""
        return MapDecoder(self, users)

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked."""
        ...

    @property
    def map(self) -> LinearMap:
        """What the answers are about."""
        ...


@dataclass(frozen=True, slots=True)
class MapDecoder:
    """From a measurement to a map with its error.

    Args:
        estimator: of the map.
        users: how many took part.
    """

    estimator: MapEstimator
    users: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells across and up."""
        return (self.estimator.grid.side, self.estimator.grid.side)

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The only table: all cells."""
        return ((0, 1),)

    def density(self, measurement: Measurement, tallies: Sequence[Tally] | None = None) -> Density:
        """Return the estimated map: with exact noise where the estimate is linear, else by a parametric bootstrap.

        Where the answers give an unbiased map, too, that stands beside it with its exact noise, and the bootstrap says
        no more than which error is likely, to whoever asks (`Deferred`). Where they do not it is all that is known: it
        is then made from a second truth, too, that the correction took as much from as from the estimate, and widened
        (`Wider`). The bootstrap does not start from the estimate itself. What holds counts at 0 leaves fewer places
        inhabited than there are, and were they so few there would be less to get wrong. As many people as fresh noise
        moves to another cell are spread evenly first; a quarter of them where an unbiased map tells the rest: of five
        sets of points the error is then 1.0 to 1.3 times the measured one, with all of them up to 1.5. The deviations
        are taken by sqrt(n / (n - 2)), a Student t's spread, as n replicates do not tell their mean square exactly.

        Args:
            measurement: the answers.
            tallies: of the reports that gave them, which may tell more of the error than they do.
        """
        estimator = self.estimator
        noise = None if tallies is None else estimator.noise(tallies)
        density = estimator.decoded(measurement, self.users)
        if estimator.linear:
            with_noise = density if noise is None else replace(density, noise=noise)  # type: ignore[type-var]  # all have one
            if not isinstance(with_noise, Cells):
                return with_noise
            return replace(with_noise, clustered=clustering(density.counts))
        unbiased = estimator.least_squares(measurement)
        if unbiased is not None:
            likely = Deferred(make=lambda: self._bootstrapped(measurement, density.counts, alone=False))
            return replace(
                self._cells(density.counts, likely),
                beside=unbiased if noise is None else replace(unbiased, noise=noise),
            )
        cells = self._cells(density.counts, self._bootstrapped(measurement, density.counts, alone=True))
        return cells if tallies is None else replace(cells, reach=estimator.reach(tallies))

    def _cells(self, counts: Array, noise: Noise) -> Cells:
        return Cells(grid=self.estimator.grid, counts=counts, noise=noise, clustered=clustering(counts))

    def _bootstrapped(self, measurement: Measurement, counts: Array, *, alone: bool) -> Noise:
        """Return the error that the bootstrap finds, which may be all that is known of it."""
        estimator, rng = self.estimator, generators.seeded(SEED)
        first = self._again(counts, rng)
        noise: Noise = self._replicates(_partly_even(counts, first, 1.0 if alone else MOVED), rng)
        if alone:
            noise = Wider(guess=noise, other=self._replicates(_sharper(counts, first), rng))
        return estimator.with_leaves(noise, measurement, estimator.grid.flat(counts))

    def _replicates(self, truth: Array, rng: Generator) -> Replicates:
        runs = min(RUNS, MOST_CELLS // truth.size)
        again = np.stack([self._again(truth, rng) for _ in range(runs)])
        return Replicates(deviations=(again - truth) * math.sqrt(runs / (runs - 2)))

    def _again(self, image: Array, rng: Generator) -> Array:
        """Return an estimate made from fresh noise, were this image the truth."""
        estimator = self.estimator
        measurement = estimator.simulated(estimator.grid.flat(image), self.users, rng=rng)
        return estimator.decoded(measurement, self.users).counts


def _partly_even(image: Array, again: Array, share: float) -> Array:
    """Return an image with a share of the people spread evenly that are elsewhere in another one."""
    total = float(image.sum())
    moved = share * min(1.0, float(np.abs(again - image).sum()) / (2 * total)) if total > 0 else 0.0
    return np.asarray((1 - moved) * image + moved * total / image.size)


def _sharper(image: Array, again: Array) -> Array:
    """Return an image of the same total from which making it again takes what it took from this one, none below 0."""
    sharper = np.maximum(2 * image - again, 0.0)
    total = float(sharper.sum())
    return np.asarray(sharper * (max(float(image.sum()), 0.0) / total)) if total > 0 else image


def expected_error(
    estimator: MapEstimator, population: Cells, users: int, rectangles: Rectangles, *, runs: int
) -> float:
    """Return the mean squared error of rectangles over simulated collections, were people spread like a population.

    It has the noise, the correction's bias and what the estimator's cells hide; not what the population's own cells do:
    none where rectangles end on their edges.

    Args:
        estimator: of the map.
        population: on a grid at least as fine, of any total; never changed, as what it gives is kept.
        users: how many take part.
        rectangles: in shares of the box, from 0 to 1.
        runs: simulated collections.
    """
    grid, scale = estimator.grid, users / float(population.counts.sum())
    truth, counts = _truth(population, rectangles) * scale, grid.flat(_kept(population, grid.side)) * scale
    rng, total = generators.seeded(SEED), 0.0
    for _ in range(runs):
        estimate = estimator.decoded(estimator.simulated(counts, users, rng=rng), users)
        total += float(((estimate.values(rectangles.scaled(grid.side)) - truth) ** 2).mean())
    return total / runs


@functools.lru_cache(maxsize=32)
def _truth(population: Cells, rectangles: Rectangles) -> Array:
    """Return what lies in rectangles, in shares of the box."""
    return population.values(rectangles.scaled(population.grid.side))


@functools.lru_cache(maxsize=64)  # those of every side that a plan compares: at most 8 MB each, four of them
def _kept(population: Cells, side: int) -> Array:
    return population.counts if side == population.grid.side else coarser(population.counts, side)


def coarser(image: Array, side: int) -> Array:
    """Return an image over fewer cells, a cut cell counting by the share of its area."""
    edges = np.arange(side + 1) * (len(image) / side)
    totals = running_totals(image)
    low = np.clip(np.floor(edges).astype(np.int64), 0, len(image) - 1)
    part = (edges - low)[:, None]
    rows = totals[low] * (1 - part) + totals[low + 1] * part
    both = rows[:, low] * (1 - part.T) + rows[:, low + 1] * part.T
    return np.asarray(np.diff(np.diff(both, axis=0), axis=1))


def node_type(grid: Grid, shift: int, oracle: Oracle, weight: int = 1) -> ReportType:
    """Return the report type about the nodes of one level of a quadtree, or about the cells of a grid."""
    part = Part(axes=(0, 1), oracle=oracle, encoder=Node(side=grid.side, shift=shift))
    return ReportType(parts=(part,), weight=weight)
