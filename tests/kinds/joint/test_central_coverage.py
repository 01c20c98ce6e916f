"""Intervals of what only the joint of a table answers: they hold what noise does, on tables made up for this alone."""

import itertools
import math

import numpy as np
import pytest

from dpress.core import rng
from dpress.core.claim import ZCDP, PureDP
from dpress.inference.joint import bootstrap, maxent
from dpress.inference.joint.factors import dense
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.measured_joint import MeasuredJoint

LAPLACE, GAUSSIAN = PureDP(epsilon=0.5), ZCDP(rho=0.02)
SHAPE, ROWS = (2, 3, 2, 3), 6000
STARTS = 10**6
"""The first seed of the noise: far from that of the refits, which would else draw the same."""


def truth(order):
    """Return a joint of the largest entropy given its tables of so many attributes: exponents that are sums of them."""
    exponent = np.zeros(SHAPE)
    for number, axes in enumerate(itertools.combinations(range(len(SHAPE)), order)):
        kept = [size if axis in axes else 1 for axis, size in enumerate(SHAPE)]
        even = rng.seeded(500 + number).words(math.prod(kept)) * 2.0**-64
        exponent = exponent + 2 * (even.reshape(kept) - 0.5)
    table = np.exp(exponent)
    return dense(table / table.sum())


def covered(order, loss, runs, narrower=1.0):
    """Return how often the interval of a cell of all attributes, which no table holds, holds the truth."""
    own, every = truth(order), tuple(range(len(SHAPE)))
    sets = tuple(axes for size in range(1, order + 1) for axes in itertools.combinations(every, size))
    mechanism = MatrixMechanism(strategy=Marginals(SHAPE, sets), loss=loss)
    counts = np.concatenate([np.rint(ROWS * own.marginal(axes)).astype(np.int64).ravel() for axes in sets])
    inside = []
    for seed in range(runs):
        found = MeasuredJoint(
            mechanism=mechanism, kept=mechanism.measure(counts, rng=rng.seeded(STARTS + seed)).answers
        )
        refits = found.refits(found.fit())
        share = refits.joint.marginal(every)
        variance = (refits.errors(every) * found.rows) ** 2 + share**2 * found.rows_variance
        half = refits.half_width(narrower**2 * variance, 0.95)
        inside.append(np.mean(np.abs(share * found.rows - ROWS * own.marginal(every)) <= half))
    return float(np.mean(inside))


@pytest.mark.slow
@pytest.mark.parametrize("loss", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("order", [2, 3])
def test_intervals_of_the_joint_hold_and_narrow_ones_do_not(order, loss):
    assert covered(order, loss, 12) >= 0.94
    assert covered(order, loss, 4, narrower=1 / 3) < 0.8


@pytest.mark.slow
def test_intervals_of_latent_classes_hold_and_narrow_ones_do_not(monkeypatch):
    """Of a joint that counts as wide, with fewer refits: what else is run is what a wide one runs."""
    monkeypatch.setattr(maxent, "SMALL", 1)
    monkeypatch.setattr(bootstrap, "RUNS", 6)
    assert covered(2, GAUSSIAN, 4) >= 0.94
    assert covered(2, GAUSSIAN, 2, narrower=1 / 5) < 0.8
