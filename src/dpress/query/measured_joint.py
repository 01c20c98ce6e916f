"""The joint distribution behind a curator's noisy tables: of the largest entropy, or of latent classes if it is wide.

Measurement -> the number of rows by least squares, shares with their noise -> joint, refits.
All of it is post-processing of what was published.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from dpress.core.basics.rng import Generator, seeded
from dpress.core.maps.linear import Numbers
from dpress.inference.joint import bootstrap, maxent
from dpress.inference.joint.class_model import class_model
from dpress.inference.joint.contrast import Contrast, contrasts
from dpress.inference.joint.factors import Joint
from dpress.inference.joint.pair_tables import LevelNoise, NoisyTable, Tables
from dpress.inference.records.latent_classes import MODELS
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

SEED = 0
"""Of starts and of refits: they come from what is published, nothing private is drawn, and readers get the same."""
REFIT_MODELS = 4
"""Latent class models in a refit: fewer than in the fit, for speed, so that intervals are a little too wide."""


@dataclass(frozen=True, kw_only=True)
class MeasuredJoint:
    """A curator's noisy tables as shares of all rows.

    Args:
        mechanism: that measured, with `Marginals`.
        kept: its noisy answers.
    """

    mechanism: MatrixMechanism
    kept: Numbers

    @cached_property
    def rows(self) -> float:
        """The number of rows by least squares over all tables, 1 at least."""
        ones = [np.ones(size) for size in self._strategy.shape]
        return max(1.0, self.mechanism.decoder.answer(self.mechanism.measured(self.kept), ones))

    @cached_property
    def rows_variance(self) -> float:
        """The exact variance of that number, in counts squared."""
        ones = [np.ones(size) for size in self._strategy.shape]
        return self.mechanism.decoder.query_variance(self.mechanism.variance, ones)

    @cached_property
    def tables(self) -> Tables:
        """The shares with their noise; the number of rows is taken as known."""
        measurement, noisy = self.mechanism.measured(self.kept), []
        spread = np.broadcast_to(measurement.variance, (self.kept.size,))
        stack = self._strategy.map
        for part, counts, variance in zip(stack.parts, stack.split(self.kept), stack.split(spread), strict=True):
            order = np.argsort(part.axes)
            shares = counts.reshape(part.kept).transpose(order) / self.rows
            each = LevelNoise(each=float(variance[0]) / self.rows**2)
            noisy.append(NoisyTable(axes=tuple(sorted(part.axes)), shares=shares, noise=each))
        return Tables(shape=self._strategy.shape, noisy=tuple(noisy))

    @property
    def ways(self) -> int:
        """The attributes of the largest table."""
        return max(map(len, self._strategy.sets))

    def fit(self, *, rng: Generator | None = None, models: int = MODELS) -> Joint:
        """Return the joint of these tables; see `joint_of_tables`."""
        return joint_of_tables(self.tables, self.ways, rng=rng, models=models)

    def refits(self, joint: Joint, *, progress: Callable[[int], object] | None = None) -> bootstrap.Refits:
        """Return the joints that other noise would have given, were this one the truth.

        Every refit takes the joint's own tables, with noise of the mechanism's exact distribution, drawn from a
        seeded generator; see `bootstrap.Refits`.

        Args:
            joint: the fitted distribution.
            progress: called with the number of fits done.
        """
        rng, again = seeded(SEED), []
        expected = np.concatenate([self.rows * joint.marginal(axes).ravel() for axes in self._strategy.sets])
        for run in range(bootstrap.RUNS):
            noise = self.mechanism.noisy(np.zeros(self.kept.size, np.int64), rng=rng).answers
            again.append(replace(self, kept=expected + noise).fit(rng=rng, models=REFIT_MODELS))
            if progress is not None:
                progress(run + 1)
        return bootstrap.Refits(joint=joint, again=tuple(again))

    def contrasts(self) -> tuple[Contrast, ...]:
        """Return for every pair that was measured what its table says beyond independence."""
        return contrasts(self.tables)

    @property
    def _strategy(self) -> Marginals:
        return cast("Marginals", self.mechanism.strategy)  # see `measured_joint`


def measured_joint(mechanism: object, kept: Numbers) -> MeasuredJoint | None:
    """Return the joint's evidence; None where no marginal tables were measured, or not of every attribute."""
    if not isinstance(mechanism, MatrixMechanism) or not isinstance(mechanism.strategy, Marginals):
        return None
    strategy = mechanism.strategy
    if {axis for axes in strategy.sets for axis in axes} != set(range(len(strategy.shape))):
        return None
    return MeasuredJoint(mechanism=mechanism, kept=kept)


def joint_of_tables(tables: Tables, ways: int, *, rng: Generator | None = None, models: int = MODELS) -> Joint:
    """Return the distribution of largest entropy with the tables as measured; see `bootstrap.unshrunk`.

    A curator's noise is small: shrinking toward independence took away more than it gave, and left intervals too
    narrow. A joint that is too wide for one table is one of latent classes, fitted to all pairs (`class_model`); where
    a pair is in no table its dependence would come from the starts alone, and the largest entropy has none.

    Args:
        tables: noisy ones.
        ways: the attributes of the largest.
        rng: of the latent classes' starts; seeded alike for everybody unless given.
        models: of latent classes, at most.
    """
    pairs = itertools.combinations(range(len(tables.shape)), 2)
    if math.prod(tables.shape) > maxent.SMALL and all(map(tables.holds, pairs)):
        return class_model(tables, rng=rng or seeded(SEED), most=models)
    return bootstrap.unshrunk(tables, ways)


def count_error(rows: float, rows_variance: float, share: float, error: float) -> float:
    """Return the standard error of rows x share: both parts' noise taken as independent."""
    return math.sqrt((rows * error) ** 2 + share**2 * rows_variance)
