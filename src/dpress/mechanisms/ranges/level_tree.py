"""`level_tree`: every user reports the node of one level of a tree over the cells; least squares over all levels.

cell -> node of the drawn level -> oracle -> tallies -> counts of the nodes of every level, everybody's being known.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import Axis, Ranges
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Card
from dpress.core.reports.encoders import Run
from dpress.core.reports.oracle import Oracle, Tally
from dpress.inference.least_squares import LeastSquares, flat
from dpress.inference.normal import normal
from dpress.inference.tree_ranges import tree_variances
from dpress.mechanisms.linear.hierarchy import mean_variance
from dpress.mechanisms.linear.level_shares import best_shares
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import MANY, Part, ReportType, largest, per_user, rest
from dpress.mechanisms.protocol.short_reports import short_oracle, steps_of
from dpress.mechanisms.protocol.sum_form import SumForm, sum_form

BRANCHINGS = (*range(2, 17), 20, 24, 32, 48, 64)
KNOWN = 1.0  # the variance of everybody's number, in counts squared: nothing beside a level's, and not 0
WHOLE = 1000  # of sampling weights: what the levels' add up to, about
OF_CELLS = 50  # the least weight of the cells themselves: of 300 users none is asked about them once in 10^6


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelTree(Estimator):
    """A tree of any branching over one ordered attribute, whose levels are asked of different users.

    Promise: pure epsilon between any two cells, local model, that of the level's oracle; the level is drawn without
        the value. Proven.
    Error: a range's answer is sum over levels l of g_l y_l, g_l what weighted least squares makes of the range, and
        has the variance sum_l of g_l's weighted sum (`sum_form.sum_form`: the oracle's exact noise for the shares
        as estimated, and the drawing of n_l of N users). A level's own variance is taken k / (k - 1) times, k its
        nodes: its counts add up to everybody's number, or nearly, so that what is known of the sum is not used twice.
        Not exactly unbiased: the weights of least squares are by the variances of the same counts, and a full node's
        count that is high by chance is taken for noisier than one that is low. That moves an answer by a part of its
        standard error, the smaller the more people there are, and is in no variance.
        Predicted for even shares: (N^2 / n_l) (V_l + f (1 - f)) k / (k - 1), f = 1 / k, on the tree
        (`inference.tree_ranges`).
    Paper: ranges, "What dpress adds"; after Cormode, Kulkarni and Srivastava 2019 (hierarchical histograms, with
        consistency) and HIO (Wang et al. 2019): branching, sampling weights and oracles are the best ones,
        but the cells have a weight of at least `OF_CELLS`.

    Args:
        shape: the number of cells of the only attribute.
        branching: the number of children of a node.
        oracles: over the nodes of every level, from below the root down to the cells.
        weights: the sampling weights of the levels.
    """

    shape: tuple[int, ...]
    branching: int
    oracles: tuple[Oracle, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.shape) != 1:
            raise ValueError(f"a tree is over one attribute, got {len(self.shape)}")
        if tuple(oracle.size for oracle in self.oracles) != self.map.levels[1:]:
            raise ValueError("oracles: expected one for every level, over its nodes")
        if len(self.weights) != len(self.oracles):
            raise ValueError("weights: expected one for every level")

    @property
    def claim(self) -> Claim:
        """The promise of one report: the largest of the oracles'."""
        return largest([oracle.claim for oracle in self.oracles])

    @property
    def map(self) -> Tree:
        """All nodes; the root is everybody."""
        return Tree(self.shape[0], self.branching)

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked, level by level."""
        types = []
        for place, (oracle, weight) in enumerate(zip(self.oracles, self.weights, strict=True), 1):
            run = Run(cells=self.branching ** (len(self.oracles) - place))
            types.append(ReportType(parts=(Part(axes=(0,), oracle=oracle, encoder=run),), weight=weight))
        return tuple(types)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the counts of all nodes, 0 with infinite variance where a level was not asked.

        Raises:
            ValueError: nobody reported the cells themselves.
        """
        self.check_answered(tallies)
        everybody = sum(int(tally[-1]) for tally in tallies)
        answers, variances = [np.array([float(everybody)])], [np.array([KNOWN])]
        for report_type, tally in zip(self.types, tallies, strict=True):
            size = report_type.oracles[0].size
            estimated = (np.zeros(size), np.full(size, math.inf))
            if int(tally[-1]):
                ((counts, spread),) = report_type.estimates(tally, everybody)
                estimated = counts, np.broadcast_to(spread * of_sum(size), counts.shape)
            answers.append(estimated[0])
            variances.append(estimated[1])
        return Measurement(map=self.map, answers=np.concatenate(answers), variance=np.concatenate(variances))

    def check_answered(self, tallies: Sequence[Tally]) -> None:
        """Refuse tallies that do not determine the cells.

        Raises:
            ValueError: nobody reported the cells themselves.
        """
        if not int(tallies[-1][-1]):
            raise ValueError(f"no report is about the cells themselves, level {len(self.oracles)} of the tree")

    def decoder(self, users: int) -> LeastSquares:
        """Return how ranges are answered."""
        del users  # the measurement has it
        return LeastSquares(self.map, self.shape)

    def query_variances(self, tallies: Sequence[Tally]) -> Callable[[Sequence[Array]], float]:
        """Return what gives the variance of a weighted sum of the cells, in counts squared; see the class."""
        tree, spread = self.map, self.measurement(tallies).variance
        used, forms = [int(tally[-1]) > 0 for tally in tallies], self.sum_forms(tallies)

        def variance(weights: Sequence[Array]) -> float:
            estimator = tree.apply(tree.covariance(flat(weights), spread)) / spread
            parts = [part for part, answered in zip(tree.split(estimator)[1:], used, strict=True) if answered]
            return math.fsum(form.variance(part) for form, part in zip(forms, parts, strict=True))

        return variance

    def sum_forms(self, tallies: Sequence[Tally]) -> list[SumForm]:
        """Return for every level that was answered what gives the variance of a weighted sum of its nodes."""
        everybody = sum(int(tally[-1]) for tally in tallies)
        return [
            sum_form(report_type.oracles[0], report_type.measured(tally)[0], int(tally[-1]), everybody)
            for report_type, tally in zip(self.types, tallies, strict=True)
            if int(tally[-1])
        ]

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all cells, for even shares."""
        tree = self.map
        spread = np.repeat(self._by_level(users), tree.levels)
        return float(tree.cell_variances(spread).mean())

    def range_variances(self, ranges: Ranges, users: int) -> Array:
        """Return the predicted variance of every range, in counts squared, shape (m,), for even shares."""
        return tree_variances(self.map, ranges, self._by_level(users))

    def axis_variance(self, axis: Axis, users: int) -> float:
        """Return the predicted variance of a range, averaged over a workload, for even shares."""
        return mean_variance(self.map, axis, self._by_level(users))

    def simulated(self, cells: Array, users: int, *, rng: Generator) -> Measurement:
        """Return the counts of all nodes as so many users might report them: with the noise that is predicted.

        Args:
            cells: how many users are in each.
            users: how many there are.
            rng: the generator; nothing private is drawn.
        """
        variance = np.repeat(self._by_level(users), self.map.levels)
        answers = self.map.apply(cells) + np.sqrt(variance) * normal(variance.size, rng=rng)
        return Measurement(map=self.map, answers=answers, variance=variance)

    def _by_level(self, users: int) -> list[float]:
        total = sum(self.weights)
        by_level = [users * weight / total for weight in self.weights]
        pairs = zip(self.oracles, by_level, strict=True)
        return [KNOWN, *(users**2 / n * level_variance(oracle, users, n) for oracle, n in pairs)]


def level_variance(oracle: Oracle, users: int, answering: float) -> float:
    """Return what a user who answers adds to the variance of a node's count, in shares of N^2 / n, for even shares."""
    share = 1 / oracle.size
    return (per_user(oracle, share) + share * (1 - share) * rest(users, answering)) * of_sum(oracle.size)


def of_sum(size: int) -> float:
    """Return k / (k - 1): what one of k counts that add up to a known number varies less than k independent ones."""
    return size / max(size - 1, 1)


def level_tree(
    cells: int, loss: PureDP, axis: Axis, *, branching: int | None = None, oracle: str | None = None
) -> LevelTree:
    """Return the tree with the least predicted variance over a workload.

    Args:
        cells: of the attribute.
        loss: epsilon.
        axis: the ranges whose error counts.
        branching: left out, the best one.
        oracle: the name of the oracle that every level is asked by; left out, the best one for its nodes.

    Raises:
        ValueError: the oracle does not serve.
    """
    offered = (branching,) if branching else sorted({*(b for b in BRANCHINGS if b < cells), max(cells, 2)})
    return min((_tree(cells, loss, axis, offer, oracle) for offer in offered), key=lambda tree: tree[0])[1]


def _tree(cells: int, loss: PureDP, axis: Axis, branching: int, named: str | None) -> tuple[float, LevelTree]:
    """Return a tree with the best sampling weights, and its predicted variance for one user."""
    full = Tree(cells, branching)
    oracles = tuple(short_oracle(size, loss, steps_of(named)) for size in full.levels[1:])
    each = [level_variance(oracle, MANY, 1.0) for oracle in oracles]

    def mean(variances: Sequence[float]) -> float:
        return mean_variance(full, axis, [KNOWN / MANY, *(v * noise for v, noise in zip(variances, each, strict=True))])

    shares = best_shares(Tree(cells, branching, root=False), 1, mean)
    *above, lowest = (max(1, round(WHOLE * share)) for share in shares)
    weights = (*above, max(lowest, OF_CELLS))
    tree = LevelTree(shape=(cells,), branching=branching, oracles=oracles, weights=weights)
    return mean([sum(weights) / weight for weight in weights]), tree


def _example(loss: Loss) -> LevelTree:
    """Return a tiny instance.

    Raises:
        NotSupported: the loss is no epsilon.
    """
    loss = pure(loss, "level-sampled reports are calibrated to epsilon")
    oracles = tuple(short_oracle(size, loss) for size in (2, 5))
    return LevelTree(shape=(5,), branching=3, oracles=oracles, weights=(1, 2))


class Settings(Parameters, frozen=True):
    """The tree, and how its levels are asked."""

    branching: Annotated[int, Meta(ge=2, description="children of a node; left out, the best")] | None = None
    oracle: (
        Annotated[str, Meta(description="the oracle that every node is asked by; left out, the best one")] | None
    ) = None


CARD = Card(
    name="level_tree",
    family="ranges",
    model="local",
    paper="ranges: What dpress adds (Cormode, Kulkarni, Srivastava 2019; HIO of Wang et al. 2019)",
    summary="A tree over one ordered attribute: one level a user, the best branching, weights and oracles.",
    method=LevelTree,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
    parameters=Settings,
)
