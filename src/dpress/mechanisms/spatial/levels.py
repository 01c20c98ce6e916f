"""Level-sampled reports: every user reports the node of one level of a quadtree, drawn at random, to an oracle.

cell -> node of the drawn level -> oracle -> tallies -> counts of the nodes of every level, each with its own variance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import as_pure
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid
from dpress.core.maps.linear import Array, Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.tree import Tree
from dpress.core.reports.oracle import Oracle, Tally
from dpress.inference.maps.density import Cells, Density, Nodes, Noise, TreeNoise
from dpress.inference.maps.top_down import consistent
from dpress.inference.normal import normal
from dpress.mechanisms.protocol.report_type import ReportType, largest, per_user, rest
from dpress.mechanisms.spatial.map_decoder import MapCollector, node_type
from dpress.mechanisms.spatial.report_noise import (
    Noisy,
    ReportNoise,
    from_least_squares,
    from_the_top,
    independent,
    noisy,
)

Reconstruction = Literal["least_squares", "nonnegative", "top_down"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels(MapCollector):
    """Counts of a quadtree's nodes from users of whom each reports one level; a flat grid is a tree of one level.

    Error: a rectangle's count is sum over levels l of g_l y_l, y_l the counts of the level's nodes and g_l what least
    squares, or adding up from the top, makes of the rectangle; it has the variance sum_l of g_l's weighted sum
    (`sum_form.form_of_shares`: the oracle's noise for the shares as estimated, node by node, and the drawing of n_l of
    N users; `ReportNoise`). A full node varies more than an empty one, many times more where epsilon is large. Least
    squares weighs a level by the mean over its nodes of (N / n_l)^2 V + N^2 f (1 - f) (N - n_l) / (N - 1) / n_l, from
    the same counts: answers are unbiased but for what that moves, a small part of their standard error.

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
        self.check_answered(tallies)
        everybody = sum(int(tally[-1]) for tally in tallies)
        by_level: dict[int, tuple[Array, Array]] = {}
        for level, oracle, tally in zip(self.levels, self.oracles, tallies, strict=True):
            if users := int(tally[-1]):
                counts = oracle.estimate(tally[:-1], users).answers * (everybody / users)
                by_level[level] = np.asarray(counts), self._variances(oracle, counts / everybody, users, everybody)
        return self._measurement(by_level, everybody)

    def check_answered(self, tallies: Sequence[Tally]) -> None:
        """Refuse tallies that do not determine the cells.

        Raises:
            ValueError: nobody reported the last level.
        """
        if not int(tallies[-1][-1]):
            raise ValueError(f"no report is about the cells themselves, level {self.levels[-1]}")

    def noise(self, tallies: Sequence[Tally]) -> Noise:
        """Return the error of rectangles that the reports tell, node by node and with how counts correlate."""
        everybody, by_level = sum(int(tally[-1]) for tally in tallies), dict[int, Noisy]()
        for level, oracle, tally in zip(self.levels, self.oracles, tallies, strict=True):
            if users := int(tally[-1]):
                counts = oracle.estimate(tally[:-1], users).answers
                by_level[level] = noisy(oracle, counts, users, everybody)
        levels = self.levels if self.flat else range(self.height + 1)
        return self._noise(self.measurement(tallies), [by_level.get(level) for level in levels])

    def decoded(self, measurement: Measurement, users: int) -> Density:
        """Return the estimate, with the noise of independent nodes; see `noise` for what the reports tell."""
        del users  # the measurement has it
        if self.reconstruction == "top_down":
            spread = self._split(np.broadcast_to(measurement.variance, measurement.answers.shape))
            images = [
                Grid(1 << level).image(counts) if np.isfinite(variances[0]) else None  # nobody reported the level
                for level, (counts, variances) in enumerate(zip(self._split(measurement.answers), spread, strict=True))
            ]
            return Nodes(grid=self.grid, images=images, noise=self._independent(measurement))
        return self._estimated(measurement, nonnegative=not self.linear)

    def least_squares(self, measurement: Measurement) -> Cells:
        """Return the unbiased estimate, with the noise of independent nodes."""
        return self._estimated(measurement, nonnegative=False)

    def weighed_by(self, measurement: Measurement) -> TreeNoise:
        """Return what least squares takes every level for: as noisy as its nodes are on average."""
        variances = np.broadcast_to(measurement.variance, measurement.answers.shape)
        return TreeNoise(grid=self.grid, levels=tuple(float(level.mean()) for level in self._split(variances)))

    def _estimated(self, measurement: Measurement, *, nonnegative: bool) -> Cells:
        levels, cells = self.weighed_by(measurement).levels, np.asarray(measurement.answers, dtype=np.float64)
        if len(levels) > 1:
            cells = consistent(Tree(self.grid.cells, 4), cells, levels, nonnegative=nonnegative)
        return Cells(grid=self.grid, counts=self.grid.image(cells), noise=self._independent(measurement))

    def _independent(self, measurement: Measurement) -> ReportNoise:
        """Return the noise of nodes that do not correlate, as far as a measurement tells."""
        spread = self._split(np.broadcast_to(measurement.variance, measurement.answers.shape))
        forms = [independent(variances) if 0 < variances[0] < np.inf else None for variances in spread]
        return self._noise(measurement, forms)

    def _noise(self, measurement: Measurement, forms: Sequence[Noisy | None]) -> ReportNoise:
        if self.reconstruction == "top_down":
            return from_the_top(self.grid, forms)
        return from_least_squares(self.grid, self.weighed_by(measurement).levels, forms)

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return answers as they would be measured, were these the true counts; levels get their expected users.

        Every node has the variance that the oracle gives it for its own count.
        """
        by_level: dict[int, tuple[Array, Array]] = {}
        for level, oracle, expected in zip(self.levels, self.oracles, self._expected(users), strict=True):
            truth = counts.reshape(oracle.size, -1).sum(axis=1)
            variances = self._variances(oracle, truth / users, expected, users)
            by_level[level] = truth + np.sqrt(variances) * normal(truth.size, rng=rng), variances
        return self._measurement(by_level, users)

    def mean_variance(self, users: int) -> float:
        """Return the variance of a cell's count with even shares: what the noise alone makes of it."""
        measured = self._measurement(
            {
                level: (np.zeros(oracle.size), self._variances(oracle, np.full(oracle.size, 1 / oracle.size), n, users))
                for level, oracle, n in zip(self.levels, self.oracles, self._expected(users), strict=True)
            },
            users,
        )
        return float(self.decoded(measured, users).cell_variances()[0, 0])

    def _expected(self, users: int) -> list[float]:
        weights = self.weights or (1,) * len(self.levels)
        return [users * weight / sum(weights) for weight in weights]

    def _variances(self, oracle: Oracle, shares: Array, users: float, everybody: int) -> Array:
        """Return the variance of every node's count, by its share: the oracle's, and that of who is asked."""
        held = np.clip(shares, 0, 1)
        of_holder, of_others = per_user(oracle, 1.0), per_user(oracle, 0.0)
        each = of_others + held * (of_holder - of_others) + held * (1 - held) * rest(everybody, users)
        return np.asarray(each * everybody**2 / users)

    def _measurement(self, by_level: dict[int, tuple[Array, Array]], everybody: int) -> Measurement:
        if not self.height:
            answers, variance = by_level[self.levels[-1]]
            return Measurement(map=self.map, answers=answers, variance=variance)
        if self.root:
            by_level = {**by_level, 0: (np.array([float(everybody)]), np.zeros(1))}
        unknown = {level: (np.zeros(4**level), np.full(4**level, np.inf)) for level in range(self.height + 1)}
        parts = [{**unknown, **by_level}[level] for level in range(self.height + 1)]
        answers, spread = (np.concatenate(numbers) for numbers in zip(*parts, strict=True))
        return Measurement(map=self.map, answers=answers, variance=spread)

    def _split(self, rows: Array) -> list[Array]:
        """Return what belongs to nodes level by level from the root; a flat grid has its cells alone."""
        rows = np.asarray(rows, dtype=np.float64)
        return self.map.split(rows) if isinstance(self.map, Tree) else [rows]


Method = TypeVar("Method", bound=Levels)


def of_all_levels(
    method: type[Method],
    grid: Grid,
    loss: Loss,
    oracle: Callable[..., Oracle],
    reconstruction: Reconstruction = "least_squares",
) -> Method | None:
    """Return the method that asks about the root, every level and the cells; None for other losses and grids."""
    if (pure_loss := as_pure(loss)) is None or grid.height is None:
        return None
    levels = tuple(range(grid.height + 1))
    oracles = tuple(oracle(size=4**level, loss=pure_loss) for level in levels)
    return method(grid=grid, levels=levels, oracles=oracles, reconstruction=reconstruction)


def example(make: Callable[[Grid, Loss], Levels | None], loss: Loss) -> Levels:
    """Return a tiny instance of a method.

    Raises:
        NotSupported: the loss is no epsilon.
    """
    method = make(Grid(2), loss)
    if method is None:
        raise NotSupported("level-sampled reports are calibrated to epsilon")
    return method
