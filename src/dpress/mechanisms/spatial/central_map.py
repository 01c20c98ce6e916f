"""Maps from a curator who holds the points: exact counts of cells or nodes, exact integer noise, an estimated map.

counts of cells -> the strategy's queries -> + noise -> Measurement -> counts of cells, as from any quadtree -> Density.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid
from dpress.core.maps.linear import Array, Identity, Numbers
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Draw, Drawn, Strategy
from dpress.core.methods.table_sums import Rows
from dpress.inference.interval import Tail
from dpress.inference.maps.density import Cells, Density, TreeNoise
from dpress.inference.maps.top_down import consistent
from dpress.inference.normal import normal
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.spatial.map_decoder import MapDecoder, MapEstimator
from dpress.noise.distribution import Noise

Reconstruction = Literal["least_squares", "nonnegative"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralMap(MapEstimator):
    """The matrix mechanism over a grid: its cells, or the nodes of the quadtree over them.

    Promise: `MatrixMechanism`; proven.
    Error: of least squares any rectangle's variance is exact (`inference.maps.density.TreeNoise`). Counts >= 0 are
    biased; what is stated is then the error of least squares beside them (`inference.maps.density.Cells`).

    Args:
        grid: whose cells are counted, in its order; of side 2^h where the strategy is a quadtree.
        strategy: `Identity` or a `Tree` of branching 4 or 16 over the cells, equal noise for all answers.
        loss: pure epsilon or zCDP.
        unit: whom the promise protects.
        reconstruction: of the cells' counts from the answers: least squares; or no count below 0, family by family.
    """

    grid: Grid
    strategy: Strategy
    loss: Loss
    unit: Unit = ROW
    reconstruction: Reconstruction = "least_squares"
    blocks: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.reconstruction == "nonnegative" and not self.grid.height:
            raise ValueError(f"counts >= 0 need a grid of side 2^h, h >= 1, got side={self.grid.side}")
        _ = self.matrix  # refuses a loss

    @property
    def levels(self) -> tuple[MatrixMechanism]:
        """The mechanism of the only level; see `AdaptiveGrid`."""
        return (self.matrix,)

    @property
    def matrix(self) -> MatrixMechanism:
        """The mechanism that measures."""
        return MatrixMechanism(strategy=self.strategy, loss=self.loss, unit=self.unit)

    @property
    def claim(self) -> Claim:
        """The promise, from the noise that is drawn."""
        return self.matrix.claim

    @property
    def tail(self) -> Tail:
        """How heavy the noise's tail is."""
        return self.matrix.tail

    @property
    def map(self) -> Tree | Identity:
        """What is measured."""
        return _measured(self.strategy)

    @property
    def variance(self) -> float:
        """The variance of every answer, in counts squared."""
        return self.matrix.noises[0].variance

    @property
    def linear(self) -> bool:
        """Whether the estimate is linear in the answers."""
        return self.reconstruction == "least_squares"

    @property
    def decoder(self) -> MapDecoder:
        """How the map is made of what was measured."""
        return MapDecoder(self, 0)

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the noise; see `CuratorMechanism`."""
        exact = self.counted(rows)
        return lambda rng: Drawn(output=self.noisy(exact, rng=rng))

    def numbers_held(self, rows: int) -> int:
        """Return how many numbers are in memory: those of what is measured, with copies of the map."""
        return 2 * self.matrix.numbers_held(rows)

    def counted(self, rows: Rows) -> Numbers:
        """Return the answers without noise."""
        return self.exact(self.grid.flat(rows.tables(self.decoder.tables).reshape(self.grid.side, -1)))

    def exact(self, counts: Numbers) -> Numbers:
        """Return the answers without noise, private as the counts are.

        Args:
            counts: exact integers, shape (cells,), in the grid's order.
        """
        return self.matrix.exact(counts)

    def noisy(self, exact: Numbers, *, rng: Generator) -> Measurement:
        """Add exact integer noise to exact answers, in place, and return them."""
        return self.matrix.noisy(exact, rng=rng)

    def measured(self, answers: Numbers) -> Measurement:
        """Return the measurement that has these noisy answers, as they were published."""
        return Measurement(map=self.map, answers=answers, variance=self.variance)

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return answers as they would be measured, were these the true counts, with normal noise."""
        del users  # the noise does not depend on it
        truth = self.map.apply(counts)
        return self.measured(truth + math.sqrt(self.variance) * normal(truth.size, rng=rng))

    def decoded(self, measurement: Measurement, users: int) -> Density:
        """Return the estimate, with the exact noise of least squares."""
        del users
        return self._estimated(measurement, nonnegative=not self.linear)

    def least_squares(self, measurement: Measurement) -> Cells:
        """Return the unbiased estimate with its exact noise."""
        return self._estimated(measurement, nonnegative=False)

    def _estimated(self, measurement: Measurement, *, nonnegative: bool) -> Cells:
        answers, levels = np.asarray(measurement.answers, dtype=np.float64), self._levels()
        if len(levels) > 1:
            answers = consistent(Tree(self.grid.cells, 4), self._every(answers), levels, nonnegative=nonnegative)
        noise = TreeNoise(grid=self.grid, levels=levels)
        return Cells(grid=self.grid, counts=self.grid.image(answers), noise=noise)

    def _every(self, answers: Array) -> Array:
        """Return the answers of all levels of the quadtree from its root, 0 where a level was not measured."""
        sizes = self._measured
        parts = dict(zip(sizes, np.split(answers, np.cumsum(sizes)[:-1]), strict=True))
        return np.concatenate([parts.get(4**level, np.zeros(4**level)) for level in range(self._height + 1)])

    def _levels(self) -> tuple[float, ...]:
        """Return the noise of every level of the quadtree, infinite where it was not measured; a flat grid has one."""
        if not self._height:
            return (self.variance,)
        return tuple(self.variance if 4**level in self._measured else math.inf for level in range(self._height + 1))

    @property
    def _measured(self) -> tuple[int, ...]:
        """The number of nodes of every measured level."""
        return self.map.levels if isinstance(self.map, Tree) else (self.grid.cells,)

    @property
    def _height(self) -> int:
        """The height of the tree that the cells are estimated by; 0 where they are used as they are."""
        return self.grid.height or 0 if isinstance(self.map, Tree) or not self.linear else 0


def _measured(strategy: Strategy) -> Tree | Identity:
    """Return what the strategy measures."""
    if isinstance(strategy.map, Tree | Identity):
        return strategy.map
    raise ValueError(f"a map is made of a grid's cells or its quadtree, got {type(strategy.map).__name__}")


def precision(noise: Noise) -> Fraction:
    """Return the square of the epsilon that noise stands for: 1 / scale^2 of Laplace, 2 / sigma2 of Gaussian.

    The epsilon whose Laplace noise under add-remove of a row is as large; half of it where a row is replaced.

    >>> from dpress.noise.laplace import DiscreteLaplace
    >>> precision(DiscreteLaplace(scale=Fraction(10)))
    Fraction(1, 100)
    """
    return 2 / noise.real_variance


def fourth_root(value: Fraction) -> int:
    """Return the smallest integer of at least 1 whose fourth power is at least the value: exact, the same everywhere.

    >>> [fourth_root(Fraction(value)) for value in (0, 1, 16, 17)]
    [1, 1, 2, 3]
    """
    return math.isqrt(math.isqrt(max(math.ceil(value), 1) - 1)) + 1
