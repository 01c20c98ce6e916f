"""The 95 % intervals of ranges hold the truth as often as they say, over 4,000 releases of each method."""

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.ranges import Range, Ranges
from dpress.core.methods.mechanism import BoxDecoder, RangeStrategy
from dpress.inference.interval import Tail, half_width
from dpress.mechanisms.linear.dst import Dst
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.privelet import Privelet

CELLS, RELEASES, NOMINAL = 64, 4000, 0.95
ASKED = [Range(1, 64), Range(1, 1), Range(5, 8), Range(3, 41), Range(33, 64), Range(20, 20)]
FALSE_ALARM = 1e-6
LEAST = int(binom.ppf(FALSE_ALARM / len(ASKED), RELEASES, NOMINAL))
"""Hits that a range with exactly the nominal coverage falls below with a chance of a sixth of the false alarm."""
SHORTER = 0.85 * NormalDist().inv_cdf((1 + NOMINAL) / 2)
"""The control: deviations that hold Gaussian noise 90.4 % of the time, and Laplace noise 90.5 %."""
SHARED = Hierarchy(CELLS, 4, shares=(Fraction(1, 4), Fraction(1, 3), Fraction(5, 12)))
CASES: list[tuple[RangeStrategy, PureDP | ZCDP, Tail]] = [
    (SHARED, PureDP(epsilon=1), "laplace"),
    (Privelet(CELLS), PureDP(epsilon=1), "laplace"),
    (Dst(CELLS), ZCDP(rho="0.1"), "gaussian"),
    (SHARED, ZCDP(rho="0.1"), "gaussian"),
]


def errors(mechanism: MatrixMechanism, asked: Ranges) -> np.ndarray:
    """The errors of every range in every release, shape (releases, ranges)."""
    decoder, generator = mechanism.strategy.decoder, rng.seeded(23)
    assert isinstance(decoder, BoxDecoder)
    counts = np.arange(CELLS) * 7 % 50
    truth = np.array([asked.weights(place) @ counts for place in range(asked.size)])
    measured = (mechanism.measure(counts, rng=generator) for _ in range(RELEASES))
    return np.array([decoder.box_answers(one, [asked]) for one in measured]) - truth


def held_often_enough(errors: np.ndarray, widths: Sequence[float]) -> list[bool]:
    """Whether the intervals of each range hold the truth in no fewer releases than chance allows."""
    return [int(hits) >= LEAST for hits in (np.abs(errors) <= np.asarray(widths)).sum(axis=0)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "loss", "tail"), CASES, ids=["hierarchy-laplace", "privelet", "dst", "hierarchy-gaussian"]
)
def test_intervals_hold_the_truth_as_often_as_stated(strategy: RangeStrategy, loss: PureDP | ZCDP, tail: Tail) -> None:
    """A range whose intervals hold the truth 91.5 % of the time is found with power .9999, the control for certain."""
    mechanism, asked = MatrixMechanism(strategy=strategy, loss=loss), Ranges.of(CELLS, ASKED)
    variances = strategy.range_variances(asked, [noise.variance for noise in mechanism.noises])
    found = errors(mechanism, asked)
    assert all(held_often_enough(found, [half_width(float(v), NOMINAL, tail) for v in variances]))
    assert not any(held_often_enough(found, [SHORTER * math.sqrt(v) for v in variances]))  # the control


def test_the_least_number_of_hits_leaves_less_than_the_false_alarm() -> None:
    assert len(ASKED) * binom.cdf(LEAST - 1, RELEASES, NOMINAL) <= FALSE_ALARM
    assert binom.sf(LEAST - 1, RELEASES, 0.915) <= 1e-4  # what is found
