"""Intervals of what only the joint of a table answers: they hold what noise does, on tables made up for this alone."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.inference.joint import bootstrap, maxent
from dpress.inference.joint.factors import dense
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.query.measured_joint import MeasuredJoint

LAPLACE, GAUSSIAN = PureDP(epsilon=0.5), ZCDP(rho=0.02)
SHAPE, ROWS = (2, 3, 2, 3), 6000
STARTS = 10**6
"""The first seed of the noise: far from that of the refits, which would else draw the same."""
GOAL, SPREAD = 0.94, 0.07
"""The least coverage of intervals of 95 %, and more than the deviation of one run: 0.03 to 0.063."""
FALSE_ALARM = 1e-6
"""The chance that a test rejects intervals whose coverage is the goal, means of runs taken as normal."""


def truth(order):
    """Return a joint of the largest entropy given its tables of so many attributes: exponents that are sums of them."""
    exponent = np.zeros(SHAPE)
    for number, axes in enumerate(itertools.combinations(range(len(SHAPE)), order)):
        kept = [size if axis in axes else 1 for axis, size in enumerate(SHAPE)]
        even = rng.seeded(500 + number).words(math.prod(kept)) * 2.0**-64
        exponent = exponent + 2 * (even.reshape(kept) - 0.5)
    table = np.exp(exponent)
    return dense(table / table.sum())


def covered(order, loss, runs, narrower):
    """Return how often intervals, and narrower ones, of a cell that no table holds hold the truth, over some runs."""
    own, every = truth(order), tuple(range(len(SHAPE)))
    sets = tuple(axes for size in range(1, order + 1) for axes in itertools.combinations(every, size))
    mechanism = MatrixMechanism(strategy=Marginals(SHAPE, sets), loss=loss)
    counts = np.concatenate([np.rint(ROWS * own.marginal(axes)).astype(np.int64).ravel() for axes in sets])
    inside = []
    for seed in range(runs):
        kept = mechanism.measure(counts, rng=rng.seeded(STARTS + seed)).answers
        found = MeasuredJoint(mechanism=mechanism, kept=kept)
        refits = found.refits(found.fit())
        share = refits.joint.marginal(every)
        variance = (refits.errors(every) * found.rows) ** 2 + share**2 * found.rows_variance
        missed = np.abs(share * found.rows - ROWS * own.marginal(every))
        inside.append([np.mean(missed <= refits.half_width(part * variance, 0.95)) for part in (1, narrower**-2)])
    return np.mean(inside, axis=0)


def least(runs):
    """Return the mean coverage of so many runs that intervals as wide as the goal fall short of by chance alone."""
    return GOAL + SPREAD / math.sqrt(runs) * NormalDist().inv_cdf(FALSE_ALARM)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize(("runs", "fits"), [(3, 10), pytest.param(24, 16, marks=pytest.mark.long)], ids=["few", "many"])
def test_intervals_of_the_joint_hold_and_narrow_ones_do_not(order, loss, runs, fits, monkeypatch):
    monkeypatch.setattr(bootstrap, "RUNS", fits)
    own, narrow = covered(order, loss, runs, narrower=3)
    assert narrow < least(runs) <= own


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "fits"), [(2, 4), pytest.param(16, 8, marks=pytest.mark.long)], ids=["few", "many"])
def test_intervals_of_latent_classes_hold_and_narrow_ones_do_not(runs, fits, monkeypatch):
    """Of a joint that counts as wide: what else is run is what a wide one runs."""
    monkeypatch.setattr(maxent, "SMALL", 1)
    monkeypatch.setattr(bootstrap, "RUNS", fits)
    own, narrow = covered(2, GAUSSIAN, runs, narrower=5)
    assert narrow < least(runs) <= own
