"""Standard errors of a fitted joint distribution, by a parametric bootstrap: collected and fitted again.

`Refits` are of any joint; what is below is for collections. A curator's: `query.measured_joint`.

Flow: joint -> shares of every table + normal noise of the known variance -> a fit without shrinkage -> how far its
answers lie from the joint's own.
It sees the noise and what the fit makes of it. It cannot see the model's own error: how more attributes go together
than the tables hold is absent from the joint that it starts from.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from dpress.core.basics.extras import scipy
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.inference.consistency import Axes
from dpress.inference.interval import Variances, critical, half_width
from dpress.inference.joint import maxent
from dpress.inference.joint.factors import Joint
from dpress.inference.joint.fit import fit_margins
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables
from dpress.inference.joint.shrinkage import one_way
from dpress.inference.normal import normal

RUNS = 30
"""How often a joint is fitted again."""
ROUNDS = 15
"""Of fitting, at most: tables as measured contradict one another, and more rounds only circle."""
_LEAST = 1e-9  # of a cell's share were all attributes independent


@dataclass(frozen=True, slots=True, kw_only=True)
class Refits:
    """A fitted joint, and its bootstrap refits.

    Shrinkage takes away what noise could have made, and with it a part of the signal; a joint that was shrunk and is
    shrunk again shows too little of either. So the refits are not shrunk, and their errors are the root mean squared
    deviation from the fitted value, bias included. Mostly they are too large: the shrunk fit errs by less.

    Args:
        joint: the fitted distribution.
        again: the refits, one or more.
    """

    joint: Joint
    again: tuple[Joint, ...]

    def share(self, *boxes: Sequence[Array]) -> float:
        """Return the joint's answer to a sum of product queries, each one weight vector for every attribute."""
        return _shares(self.joint, boxes)

    def error(self, *boxes: Sequence[Array]) -> float:
        """Return the standard error of that answer.

        Error: relative, about 1 / sqrt(2 runs): 13 % for 30 runs.
        """
        share = self.share(*boxes)
        return math.sqrt(math.fsum((_shares(refit, boxes) - share) ** 2 for refit in self.again) / len(self.again))

    def errors(self, axes: Axes) -> Array:
        """Return the standard error of every cell of a marginal, of its shape; as `error`."""
        shares = self.joint.marginal(axes)
        total = np.zeros_like(shares)
        for refit in self.again:
            total += (refit.marginal(axes) - shares) ** 2
        return np.asarray(np.sqrt(total / len(self.again)))

    def critical(self, confidence: float) -> float:
        """Return how many standard errors are significant: Student's quantile, a degree of freedom for every refit."""
        special = scipy("special")
        gaussian, tail = critical(confidence, "gaussian"), (1 + confidence) / 2
        return gaussian * float(special.stdtrit(len(self.again), tail) / special.ndtri(tail))

    def half_width(self, variance: Variances, confidence: float) -> Variances:
        """Return the half-width, in counts, of an interval, from a variance in counts squared.

        Formula: that of `interval.half_width` for normal noise, times the quantile of Student's law with as many
        degrees of freedom as there are refits over the normal one, rounded up.
        """
        special = scipy("special")
        gaussian, tail = half_width(variance, confidence, "gaussian"), (1 + confidence) / 2
        widths: Array = np.ceil(gaussian * (special.stdtrit(len(self.again), tail) / special.ndtri(tail)))
        return widths if isinstance(variance, np.ndarray) else float(widths)


def refits(
    tables: Tables,
    joint: Joint,
    order: int,
    *,
    rng: Generator,
    runs: int = RUNS,
    progress: Callable[[int], object] | None = None,
) -> Refits:
    """Return the joint's refits, by parametric bootstrap.

    Args:
        tables: what the joint was fitted to; only their noise is used.
        joint: the fitted distribution.
        order: the attributes of the largest tables it was fitted to.
        rng: the generator; nothing private is drawn.
        runs: at least 1.
        progress: called with the number of fits done.
    """
    again = []
    for run in range(runs):
        again.append(unshrunk(resampled(tables, joint, rng=rng), order))
        if progress is not None:
            progress(run + 1)
    return Refits(joint=joint, again=tuple(again))


def resampled(tables: Tables, joint: Joint, *, rng: Generator) -> Tables:
    """Return tables as the same report types would give them, were the joint the truth; sums stay 1."""
    return Tables(shape=tables.shape, noisy=tuple(_again(table, joint, rng) for table in tables.noisy))


def unshrunk(tables: Tables, order: int) -> Joint:
    """Return the distribution of largest entropy with the tables as measured, but for their negative cells.

    Pairs, and tables of `order` attributes, get the nearest one-way shares >= 0 that add up to 1 as their margins.
    """
    axes = range(len(tables.shape))
    shares: dict[Axes, Array] = {(axis,): one_way(tables, axis) for axis in axes}
    for size in sorted({min(2, order), order} - {1}):
        for some in itertools.combinations(axes, size):
            if tables.holds(some):
                margins: dict[Axes, Array] = {(place,): shares[axis,] for place, axis in enumerate(some)}
                product = math.prod(np.ix_(*margins.values()))
                shares[some] = fit_margins(np.maximum(tables.table(some), _LEAST * product), margins).table
    if math.prod(tables.shape) > maxent.SMALL:
        return maxent.chain(tables.shape, shares)
    return maxent.full(tables.shape, shares, rounds=ROUNDS)


def _again(table: NoisyTable, joint: Joint, rng: Generator) -> NoisyTable:
    shares = joint.marginal(table.axes)
    if shares.size == 1:
        return NoisyTable(axes=table.axes, shares=shares, noise=table.noise)
    standard = normal(shares.size, rng=rng).reshape(shares.shape)
    noise = np.sqrt(cast("Noise", table.noise).before_centring(shares)) * standard
    return NoisyTable(axes=table.axes, shares=shares + noise - noise.mean(), noise=table.noise)


def _shares(joint: Joint, boxes: Sequence[Sequence[Array]]) -> float:
    return math.fsum(_share(joint, weights) for weights in boxes)


def _share(joint: Joint, weights: Sequence[Array]) -> float:
    """Return the sum of the weighted probabilities, without the table of all cells."""
    operands: list[Any] = [part for factor in joint.factors for part in (factor.table, [*factor.axes])]
    for axis, weight in enumerate(weights):
        if not np.all(weight == 1):
            operands += [weight, [axis]]
    return float(np.einsum(*operands, [], optimize="greedy"))
