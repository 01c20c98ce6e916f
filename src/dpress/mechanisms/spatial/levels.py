"""Level-sampled reports: every user reports the node of one level of a quadtree, drawn at random, to an oracle.

cell -> node of the drawn level -> oracle -> tallies -> counts of the nodes of every level, with one variance a level.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Claim
from dpress.core.errors import NotSupported
from dpress.core.grid import Grid
from dpress.core.linear import Array, Identity
from dpress.core.measurement import Measurement
from dpress.core.oracle import Oracle, Tally
from dpress.core.rng import Generator
from dpress.core.tree import Tree
from dpress.inference.maps.density import Cells, Density, Nodes, TreeNoise
from dpress.inference.maps.population import normal
from dpress.inference.maps.top_down import consistent
from dpress.mechanisms.protocol.report_type import ReportType, largest, per_user, rest
from dpress.mechanisms.spatial.map_decoder import MapDecoder, node_type

Codes = npt.NDArray[np.int32]
Reconstruction = Literal["least_squares", "nonnegative", "top_down"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Counts of a quadtree's nodes from users of whom each reports one level; a flat grid is a tree of one level.

    Error: a node's count at level l has the variance (N / n_l)^2 V_l + N^2 f (1 - f) (N - n_l) / (N - 1) / n_l, V_l of
    the oracle for the n_l users that were drawn, averaged over the level's nodes. With least squares any rectangle's
    variance is exact for these figures (`inference.maps.density.TreeNoise`).

    Args:
        grid: of side 2^h; of any side for a flat grid.
        levels: that are asked, rising; one for a flat grid.
        oracles: over the nodes of every level that is asked.
        weights: the sampling weight of every level; empty where all have one.
        reconstruction: of the cells' counts from it: least squares; the same with no count below 0; or not at all, the
            nodes being added up from the top.
        root: whether everybody's number is taken for known.
        flat: whether the only level is the grid itself, without a tree above it.
    """

    grid: Grid
    levels: tuple[int, ...]
    oracles: tuple[Oracle, ...]
    weights: tuple[int, ...] = ()
    reconstruction: Reconstruction = "least_squares"
    root: bool = False
    flat: bool = False

    def __post_init__(self) -> None:
        if self.flat and len(self.levels) > 1:
            raise ValueError(f"a flat grid has one level, got flat with {len(self.levels)} levels")
        if self.root != (self.reconstruction == "nonnegative"):
            raise ValueError("counts without any below 0 add up to everybody's number: root goes with nonnegative")

    @property
    def claim(self) -> Claim:
        """The promise of one report: the largest of the oracles'; the level does not depend on the position."""
        return largest([oracle.claim for oracle in self.oracles])

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked, level by level."""
        last, weights = self.levels[-1], self.weights or (1,) * len(self.levels)
        triples = zip(self.levels, self.oracles, weights, strict=True)
        return tuple(node_type(self.grid, 2 * (last - level), oracle, weight) for level, oracle, weight in triples)

    def decoder(self, users: int) -> MapDecoder:
        """Return how the map is made of what was measured."""
        return MapDecoder(self, users)

    @property
    def height(self) -> int:
        """The number of levels below the root; 0 for a flat grid."""
        return 0 if self.flat else self.levels[-1]

    @property
    def linear(self) -> bool:
        """Whether the estimate is linear in the answers."""
        return self.reconstruction != "nonnegative"

    @property
    def map(self) -> Tree | Identity:
        """All nodes of the tree, or the cells."""
        return Tree(self.grid.cells, 4) if self.height else Identity(self.grid.cells)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the counts of all nodes, 0 with infinite variance where a level was not asked.

        Raises:
            ValueError: nobody reported the last level.
        """
        everybody = sum(int(tally[-1]) for tally in tallies)
        if not int(tallies[-1][-1]):
            raise ValueError(f"no report is about the cells themselves, level {self.levels[-1]}")
        found: dict[int, tuple[Array, float]] = {}
        for level, oracle, tally in zip(self.levels, self.oracles, tallies, strict=True):
            if users := int(tally[-1]):
                counts = oracle.estimate(tally[:-1], users).answers * (everybody / users)
                found[level] = np.asarray(counts), self._variance(oracle, counts / everybody, users, everybody)
        return self._measurement(found, everybody)

    def decoded(self, measurement: Measurement, users: int) -> Density:
        """Return the estimate, with the exact noise of least squares."""
        del users  # the measurement has it
        if self.reconstruction == "top_down":
            variances, levels = self._by_level(measurement)
            images = [Grid(1 << level).image(own) for level, own in enumerate(levels)]
            return Nodes(grid=self.grid, images=images, levels=variances)
        return self._estimated(measurement, nonnegative=not self.linear)

    def least_squares(self, measurement: Measurement) -> Cells:
        """Return the unbiased estimate with its exact noise."""
        return self._estimated(measurement, nonnegative=False)

    def _estimated(self, measurement: Measurement, *, nonnegative: bool) -> Cells:
        variances, levels = self._by_level(measurement)
        noise, cells = TreeNoise(grid=self.grid, levels=variances), levels[-1]
        if len(levels) > 1:
            tree, answers = Tree(self.grid.cells, 4), np.asarray(measurement.answers, dtype=np.float64)
            cells = consistent(tree, answers, variances, nonnegative=nonnegative)
        return Cells(grid=self.grid, counts=self.grid.image(cells), noise=noise)

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return answers as they would be measured, were these the true counts; levels get their expected users."""
        found: dict[int, tuple[Array, float]] = {}
        for level, oracle, asked in zip(self.levels, self.oracles, self._expected(users), strict=True):
            truth = counts.reshape(oracle.size, -1).sum(axis=1)
            variance = self._variance(oracle, truth / users, asked, users)
            found[level] = truth + math.sqrt(variance) * normal(truth.size, rng=rng), variance
        return self._measurement(found, users)

    def mean_variance(self, users: int) -> float:
        """Return the variance of a cell's count with even shares: what the noise alone makes of it."""
        measured = self._measurement(
            {
                level: (np.zeros(oracle.size), self._variance(oracle, np.full(oracle.size, 1 / oracle.size), n, users))
                for level, oracle, n in zip(self.levels, self.oracles, self._expected(users), strict=True)
            },
            users,
        )
        return float(self.decoded(measured, users).cell_variances()[0, 0])

    def _expected(self, users: int) -> list[float]:
        weights = self.weights or (1,) * len(self.levels)
        return [users * weight / sum(weights) for weight in weights]

    def _variance(self, oracle: Oracle, shares: Array, users: float, everybody: int) -> float:
        held = np.clip(shares, 0, 1)
        own, other = per_user(oracle, 1.0), per_user(oracle, 0.0)
        each = other + float(held.mean()) * (own - other)
        sampling = float((held * (1 - held)).mean()) * rest(everybody, users)
        return (each + sampling) * everybody**2 / users

    def _measurement(self, found: dict[int, tuple[Array, float]], everybody: int) -> Measurement:
        if not self.height:
            answers, variance = found[self.levels[-1]]
            return Measurement(map=self.map, answers=answers, variance=np.float64(variance))
        if self.root:
            found = {**found, 0: (np.array([float(everybody)]), 0.0)}
        parts = [found.get(level, (np.zeros(4**level), math.inf)) for level in range(self.height + 1)]
        answers = np.concatenate([own for own, _ in parts])
        spread = np.repeat([variance for _, variance in parts], [own.size for own, _ in parts])
        return Measurement(map=self.map, answers=answers, variance=spread)

    def _by_level(self, measurement: Measurement) -> tuple[tuple[float, ...], list[Array]]:
        answers = np.asarray(measurement.answers, dtype=np.float64)
        if not self.height:
            return (float(np.max(measurement.variance)),), [answers]
        sizes = [4**level for level in range(self.height + 1)]
        ends = np.cumsum([0, *sizes])
        spread = np.broadcast_to(measurement.variance, answers.shape)
        return tuple(float(spread[start]) for start in ends[:-1]), np.split(answers, ends[1:-1])


def example(make: Callable[[Grid, object], Levels | None], loss: object) -> Levels:
    """Return a tiny instance of a method.

    Raises:
        NotSupported: the loss is no epsilon.
    """
    found = make(Grid(2), loss)
    if found is None:
        raise NotSupported("level-sampled reports are calibrated to epsilon")
    return found
