"""Unbiased pair tables from bits: mean and variance exactly, from the channel of a tiny `rr_ldp`."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpress.core import rng
from dpress.mechanisms.bit_joint import BitJoint
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.together import CoOccurrence

ORACLE = RrLdp(sizes=(2, 3), f=Fraction(1, 4), p=Fraction(1, 4), q=Fraction(3, 4))
ESTIMATOR = BitJoint(oracle=ORACLE)
BITS = CoOccurrence(oracle=ORACLE)


def scores() -> np.ndarray:
    """What one report alone adds to every cell, a row for every report of the channel."""
    payloads = ORACLE.channel().payloads
    return np.array([ESTIMATOR.estimate([np.append(BITS.tally(own[None]), 1)])[0][0] for own in payloads])


def test_mean_and_variance_are_those_of_the_channel() -> None:
    rows = np.array(ORACLE.channel().probabilities, dtype=float)
    own = scores()
    means = rows @ own
    assert np.allclose(means, np.eye(6))  # every user adds one to their own cell
    assert not np.allclose(means * 1.05, np.eye(6))
    variances = rows @ own**2 - means**2
    for holder, (first, second) in enumerate(itertools.product(range(2), range(3))):
        held = np.eye(6)[holder].reshape(2, 3)
        stated = ESTIMATOR._variance(held, np.eye(2)[first][:, None], np.eye(3)[second][None, :], 1)
        assert np.allclose(stated.ravel(), variances[holder])


def test_the_planned_variance_is_the_mean_over_equal_shares() -> None:
    rows = np.array(ORACLE.channel().probabilities, dtype=float)
    own = scores()
    variances = rows @ own**2 - (rows @ own) ** 2
    assert ESTIMATOR.mean_variance(600) == pytest.approx(600 * variances.mean())


def test_reports_add_up_and_the_fit_is_a_distribution() -> None:
    codes = np.array([np.arange(60) % 2, np.arange(60) % 3], dtype=np.int32)
    payloads = BITS.perturb(codes, rng=rng.seeded(2))
    tally = np.append(BITS.tally(payloads), 60)
    single = sum(ESTIMATOR.estimate([np.append(BITS.tally(own[None]), 1)])[0][0] for own in payloads)
    assert np.allclose(ESTIMATOR.estimate([tally])[0][0], single)
    table = ESTIMATOR.fit([tally], lambda: [payloads]).marginal((0, 1))
    assert table.min() >= 0
    assert table.sum() == pytest.approx(1)


def test_no_report_is_refused() -> None:
    with pytest.raises(ValueError, match="no report answers"):
        ESTIMATOR.estimate([np.zeros(26, dtype=np.int64)])
