"""`ahead`: a quadtree that grows in rounds, and only where the people are.

position -> a user group: one round, one report type of it -> leaf of its partition -> oracle -> shares of the leaves
-> which of them to split -> next round; in the end the inverse-variance mean of all rounds, none below 0, from the top.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP, as_pure
from dpress.core.basics.parameters import PLACE
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid
from dpress.core.maps.leaves import Leaves, named, nodes_above, root
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Card
from dpress.core.reports.encoders import Leaf
from dpress.core.reports.oracle import Oracle, Tally
from dpress.inference.maps.density import Cells, Noise, Reach, TreeNoise
from dpress.inference.normal import normal
from dpress.mechanisms.protocol.growing import split, whole_counts
from dpress.mechanisms.protocol.report_type import Part, ReportType, largest, per_user, rest
from dpress.mechanisms.protocol.rounds import InRounds
from dpress.mechanisms.protocol.short_reports import STEPS, Steps, short_oracle, steps_of
from dpress.mechanisms.spatial.grids import Height
from dpress.mechanisms.spatial.grown_tree import nonnegative
from dpress.mechanisms.spatial.leaf_noise import LeafNoise
from dpress.mechanisms.spatial.leaf_reach import LeafReach, nested
from dpress.mechanisms.spatial.map_decoder import MapCollector
from dpress.mechanisms.spatial.report_noise import noisy

ROUNDS = 4  # unless the specification says how many
SPLIT = 1.5  # standard deviations of a share that a node must hold to be split


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """The estimated shares of the leaves of one report type, weighed as if all had one variance, the mean of theirs."""

    leaves: Leaves
    shares: Array
    variance: float
    users: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafEstimate:
    """What came out of one report type of an earlier round; public.

    Args:
        leaves: that were asked about, as paths (`core.maps.leaves`).
        counts: how many of those who answered are estimated to be in each.
        users: how many answered.
        by: the oracle that they answered by.
    """

    leaves: tuple[str, ...]
    counts: tuple[int, ...]
    users: int
    by: Oracle

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.leaves) or self.by.size != len(self.leaves) or self.users < 0:
            raise ValueError(f"expected a count for each of {len(self.leaves)} leaves, and users >= 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead(MapCollector):
    """A quadtree grown in rounds (AHEAD).

    A round has one to several report types, each for its own group of users and one level deeper than the one before:
    in which leaf are you? The first round's are whole levels. Between rounds the shares of all leaves are estimated
    from all answers so far, and a leaf is split where its share exceeds 1.5 sqrt(v), v the variance of a share that
    the next type would estimate; for a second level at once, where half of its share does. A leaf that is not
    split is asked about again, and gets better known.

    Promise: pure epsilon between any two positions of one user, local model: whoever reports a round once reports
        once in all, in one round; types depend on earlier rounds' published estimates, of other people. Proven.
    Error: each estimated share f has the variance (v + f (1 - f) (N - n) / (N - 1)) / n, v of the oracle for one user
        and that share, n those asked, N all; a type's leaves are weighed by their mean. What noise, splitting and
        correction make of a rectangle is found by a parametric bootstrap over all rounds (`maps`); its interval is by
        whole leaves, wherever people are in them (`LeafReach`).
    Paper: spatial; Du et al. 2021, AHEAD, with a threshold of its own, several levels a round and the best oracle.

    Args:
        grid: of side 2^h.
        loss: epsilon.
        depths: how many levels each round goes down, and report types it has; they add up to h.
        leaves: that this round's types are about.
        oracles: of this round's types, over their leaves.
        steps: which oracle later rounds ask by, from the number of their leaves; see `short_oracle`.
        earlier: what came out of each type of earlier rounds.
        last: whether no round follows, as is known of one that has ended.
    """

    grid: Grid
    loss: PureDP
    depths: tuple[int, ...]
    leaves: tuple[tuple[str, ...], ...]
    oracles: tuple[Oracle, ...]
    steps: Steps = STEPS
    earlier: tuple[LeafEstimate, ...] = ()
    last: bool = False
    linear: ClassVar[bool] = False

    def __post_init__(self) -> None:
        starts = [sum(self.depths[:number]) for number in range(len(self.depths))]
        if len(self.earlier) not in starts:
            raise ValueError(f"earlier: expected one of {starts} answered types, got {len(self.earlier)}")
        if not len(self.leaves) == len(self.oracles) == self.depths[self.round]:
            raise ValueError(f"leaves: expected those of {self.depths[self.round]} types, got {len(self.leaves)}")
        if any(leaves.size != oracle.size for leaves, oracle in zip(self.partitions, self.oracles, strict=True)):
            raise ValueError("oracles: expected one value for every leaf")
        if any(oracle.claim.proven != self.loss for oracle in self.oracles):
            raise ValueError("oracles: expected those of the stated loss")
        for estimate in self.earlier:
            named(estimate.leaves, self.height)

    @property
    def height(self) -> int:
        """The number of levels below the root."""
        return sum(self.depths)

    @property
    def rounds(self) -> tuple[int, ...]:
        """How many levels every round asks about."""
        return self.depths

    @property
    def partitions(self) -> tuple[Leaves, ...]:
        """The leaves of each type of this round."""
        return tuple(named(leaves, self.height) for leaves in self.leaves)

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked in this round."""
        pairs = zip(self.leaves, self.oracles, strict=True)
        encoders = [(Leaf(side=self.grid.side, leaves=leaves), oracle) for leaves, oracle in pairs]
        return tuple(ReportType(parts=(Part(axes=(0, 1), oracle=oracle, encoder=leaf),)) for leaf, oracle in encoders)

    @property
    def claim(self) -> Claim:
        """The promise of one report, which is all that a user sends."""
        return largest([oracle.claim for oracle in self.oracles])

    @property
    def map(self) -> Tree:
        """All nodes of the tree; those that were not asked about have infinite variance."""
        return Tree(self.grid.cells, 4)

    def ended(self) -> "Ahead":
        """Return the estimator of what there is after this round."""
        return replace(self, last=True)

    def following(self, tallies: Sequence[Tally]) -> "Ahead | None":
        """Return the next round; None after the last."""
        if self.round == len(self.depths) - 1:
            return None
        answered = self._answered(tallies)
        everybody = sum(estimate.users for estimate in answered)
        shares = [self._shares(estimate, everybody) for estimate in answered if estimate.users]
        grown = self._grown(shares, self.depths[self.round + 1])
        oracles = tuple(short_oracle(leaves.size, self.loss, self.steps) for leaves in grown)
        return replace(self, earlier=answered, leaves=tuple(part.names for part in grown), oracles=oracles, last=False)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the counts of all nodes that any round asked about.

        Raises:
            ValueError: nobody reported in this round.
        """
        if not any(int(tally[-1]) for tally in tallies):
            raise ValueError(f"nobody reported in round {self.round}")
        answered = self._answered(tallies)
        everybody = sum(estimate.users for estimate in answered)
        return self._measurement([self._shares(some, everybody) for some in answered if some.users], everybody)

    def decoded(self, measurement: Measurement, users: int) -> Cells:
        """Return the estimate; a leaf larger than a cell is spread evenly."""
        answers = np.asarray(measurement.answers, dtype=np.float64)
        levels = self._consistent(answers, _precisions(measurement), self.height, float(users))
        noise = TreeNoise(grid=self.grid, levels=(0.0,))  # replaced: the estimate is not linear
        return Cells(grid=self.grid, counts=self.grid.image(levels[-1]), noise=noise)

    def reach(self, tallies: Sequence[Tally]) -> Reach:
        """Return between which counts rectangles lie, by whole leaves of the last partition."""
        answered = [estimate for estimate in self._answered(tallies) if estimate.users]
        everybody = sum(estimate.users for estimate in answered)
        parts = [named(estimate.leaves, self.height) for estimate in answered]
        spread = [everybody**2 * self._shares(estimate, everybody).variance for estimate in answered]
        counts = [np.array(estimate.counts, dtype=np.float64) for estimate in answered]
        scaled = [numbers * (everybody / estimate.users) for numbers, estimate in zip(counts, answered, strict=True)]
        noises = [noisy(some.by, held, some.users, everybody) for held, some in zip(counts, answered, strict=True)]
        partitions = nested(parts, self.height, spread)
        return LeafReach(
            grid=self.grid,
            partitions=partitions,
            noises=tuple(noises),
            counts=partitions.estimate(scaled, float(everybody)),
            leaves=parts[-1],
        )

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return answers as all rounds would measure them, were these the true counts; up to this one if it ended."""
        return self._measurement(self._collected(counts / users, users, rng), users)

    def with_leaves(self, noise: Noise, measurement: Measurement, counts: Array) -> Noise:
        """Return the noise, and what leaves larger than a cell hide on top."""
        precisions, images = _by_level(_precisions(measurement), self.height), list[Array]()
        split = np.zeros(self.grid.cells, dtype=np.bool_)  # into nodes that are known
        for level in reversed(range(self.height)):
            split = np.asarray((split | (precisions[level + 1] > 0)).reshape(-1, 4).any(axis=1), dtype=np.bool_)
            whole = counts.reshape(4**level, -1).sum(axis=1)
            images.insert(0, Grid(1 << level).image(np.where((precisions[level] > 0) & ~split, whole, 0.0)))
        return LeafNoise(noise=noise, images=images)

    def mean_variance(self, users: int) -> float:
        """Return the variance of a cell's count with even shares, from the noise of its leaf."""
        even = np.full(self.grid.cells, 1 / self.grid.cells)
        collected = self._collected(even, users, None)
        leaves, precisions = collected[-1].leaves, self._summed(collected)[1]
        cells = 4.0 ** (self.height - leaves.levels)
        return float((users**2 / precisions[leaves.rows] / cells).sum() / self.grid.cells)

    def _collected(self, shares: Array, users: int, rng: Generator | None) -> list[_Shares]:
        """Return what every report type finds from the first round on; without a generator its mean."""
        levels = [shares]
        while levels[0].size > 1:
            levels.insert(0, levels[0].reshape(-1, 4).sum(axis=1))
        truth, collected = np.concatenate(levels), list[_Shares]()
        depths = self.depths[: self.round + 1] if self.last else self.depths
        for depth in depths:
            for leaves in self._grown(collected, depth) if collected else _whole_levels(depth):
                held, group = truth[leaves.rows], users / sum(depths)
                variances = self._variances(held, self._oracle(held.size), group, users)
                noise = 0.0 if rng is None else np.sqrt(variances) * normal(leaves.size, rng=rng)
                collected.append(_Shares(leaves, held + noise, float(variances.mean()), group))
        return collected

    def _grown(self, collected: Sequence[_Shares], depth: int) -> list[Leaves]:
        """Return the partitions of the next round: each splits the leaves of the one before that are large enough."""
        leaves, grown = max((part.leaves for part in collected), key=lambda leaves: leaves.size), list[Leaves]()
        deepest = int(leaves.levels.max())
        levels = self._consistent(*self._summed(collected), deepest, 1.0)
        shares = np.concatenate(levels)[leaves.rows]
        users = sum(group.users for group in collected) / len(collected)
        for _ in range(depth):
            oracle, divisible = self._oracle(leaves.size), leaves.levels < self.height
            which, shares = split(shares, divisible, oracle, users, sure=SPLIT, children=4)
            leaves = leaves.split(which)
            grown.append(leaves)
        return grown

    def _answered(self, tallies: Sequence[Tally]) -> tuple[LeafEstimate, ...]:
        """Return what came out of all report types so far, in whole counts."""
        now = []
        for leaves, oracle, tally in zip(self.leaves, self.oracles, tallies, strict=True):
            whole = tuple(map(int, whole_counts(oracle, tally).tolist()))
            now.append(LeafEstimate(leaves=leaves, counts=whole, users=int(tally[-1]), by=oracle))
        return (*self.earlier, *now)

    def _shares(self, estimate: LeafEstimate, everybody: int) -> _Shares:
        shares = np.array(estimate.counts, dtype=np.float64) / estimate.users
        leaves = named(estimate.leaves, self.height)
        variances = self._variances(shares, estimate.by, estimate.users, everybody)
        return _Shares(leaves, shares, float(variances.mean()), estimate.users)

    def _oracle(self, size: int) -> Oracle:
        return short_oracle(size, self.loss, self.steps)

    @staticmethod
    def _variances(shares: Array, oracle: Oracle, users: float, everybody: int) -> Array:
        """Return the variance of every leaf's share: the oracle's, and that of who is asked."""
        held = np.clip(shares, 0, 1)
        most, least = per_user(oracle, 1.0), per_user(oracle, 0.0)
        return np.asarray((least + held * (most - least) + held * (1 - held) * rest(everybody, users)) / users)

    def _measurement(self, collected: Sequence[_Shares], everybody: int) -> Measurement:
        shares, precisions = self._summed(collected)
        variance = np.full(precisions.size, math.inf)
        measured = precisions > 0
        variance[measured] = everybody**2 / precisions[measured]
        shares[0], variance[0] = 1.0, 0.0
        return Measurement(map=self.map, answers=shares * everybody, variance=variance)

    def _summed(self, collected: Sequence[_Shares]) -> tuple[Array, Array]:
        """Return every node's inverse-variance mean of its shares and its precision, 0 where it was not asked about."""
        rows = int(nodes_above(np.array(self.height + 1)))
        total, precisions = np.zeros(rows), np.zeros(rows)
        for shares in collected:
            total[shares.leaves.rows] += shares.shares / shares.variance
            precisions[shares.leaves.rows] += 1 / shares.variance
        return total / np.where(precisions > 0, precisions, 1.0), precisions

    @staticmethod
    def _consistent(answers: Array, precisions: Array, deepest: int, total: float) -> list[Array]:
        return nonnegative(_by_level(answers, deepest), _by_level(precisions, deepest), total)


def ahead(grid: Grid, loss: Loss, *, rounds: int | None = None, oracle: str | None = None) -> Ahead | None:
    """Return the first round of AHEAD over a grid.

    Args:
        grid: of side 2^h, h at least 1.
        loss: epsilon.
        rounds: from 1 to h; left out, 4 at most. One round is level-sampled reports, as `gtr_top_down`.
        oracle: the name of the oracle that every leaf is asked by; left out, the best one for the number of leaves.

    Raises:
        ValueError: a parameter is wrong, named with its place.
    """
    height = grid.height
    if (pure_loss := as_pure(loss)) is None or not height:
        return None
    if rounds is not None and check.count("rounds", rounds) > height:
        raise ValueError(f"{PLACE}.rounds: expected at most {height}, the height of the quadtree, got {rounds}")
    number = rounds or min(height, ROUNDS)
    depths = tuple((height + number - 1 - place) // number for place in range(number))
    whole = _whole_levels(depths[0])
    steps = steps_of(oracle)
    oracles = tuple(short_oracle(level.size, pure_loss, steps) for level in whole)
    leaves = tuple(level.names for level in whole)
    return Ahead(grid=grid, loss=pure_loss, depths=depths, leaves=leaves, oracles=oracles, steps=steps)


def _whole_levels(depth: int) -> tuple[Leaves, ...]:
    partitions = [root()]
    for _ in range(depth):
        partitions.append(partitions[-1].split(np.ones(partitions[-1].size, dtype=np.bool_)))
    return tuple(partitions[1:])


def _precisions(measurement: Measurement) -> Array:
    """Return one over the variance of every node but the root, which is known."""
    variances = np.asarray(measurement.variance, dtype=np.float64)
    return np.append(0.0, 1 / variances[1:])


def _by_level(rows: Array, deepest: int) -> list[Array]:
    """Return what a full tree's nodes have, level by level from the root to the deepest one wanted."""
    ends = nodes_above(np.arange(1, deepest + 2))
    return np.split(rows[: ends[-1]], ends[:-1])


def example(loss: Loss) -> Ahead:
    """Return a tiny instance.

    Raises:
        NotSupported: the loss is no epsilon.
    """
    method = ahead(Grid(4), loss)
    if method is None:
        raise NotSupported("reports in rounds are calibrated to epsilon")
    return method


class Settings(InRounds, frozen=True):
    """The quadtree, and in how many rounds it grows."""

    height: Height | None = None


CARD = Card(
    name="ahead",
    family="spatial",
    model="local",
    paper="spatial: AHEAD (Du et al. 2021), What dpress adds",
    summary="Tree grown in rounds where people are, of a map or of ranges, the best oracle for every partition.",
    method=Ahead,
    example=lambda loss, unit: example(loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=ahead,
    parameters=Settings,
)
