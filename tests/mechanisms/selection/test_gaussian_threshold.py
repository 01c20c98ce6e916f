"""`gaussian_threshold`: what it costs, added up in another way; faults that are found; where it is the better."""

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.mechanisms.selection.weighted import UNITS, each_unit, faulty

from dpress.core.basics import rng
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.plain import plain, read
from dpress.core.methods.name_counts import NameCounts
from dpress.mechanisms.selection.gaussian_threshold import GaussianThreshold, calibrated
from dpress.mechanisms.selection.gaussian_threshold_audit import sums_loss
from dpress.mechanisms.selection.partition_selection import PartitionSelection

FALSE_ALARM = 1e-6
DRAWS = 20_000
LOSSES = [ApproxDP(epsilon=1, delta="1e-8"), ApproxDP(epsilon="0.5", delta="1e-5"), ApproxDP(epsilon=3, delta="0.01")]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)


@pytest.mark.parametrize("method", ["gaussian_threshold", "partition_selection"])
def test_released_counts_sum_to_the_variance_times_the_names_of_each_count_too_much(method: str) -> None:
    """What a page says of the rest, which is the total less these; five standard errors, a false alarm of 6e-7."""
    loss, unit = ApproxDP(epsilon=1, delta="1e-8"), Unit()
    own = {"gaussian_threshold": calibrated(loss, unit, loss.epsilon / 20)}.get(method)
    mechanism: Any = own or PartitionSelection(loss=loss, unit=unit)
    of_each, draws, generator = 20, 200, rng.seeded(36)
    counts = np.repeat(np.arange(1, 2 * mechanism.threshold + 40), of_each)
    listed = NameCounts(names=tuple(map(str, range(counts.size))), counts=counts, unnamed=0)
    sums = []
    for _ in range(draws):
        drawn = mechanism.select(listed, rng=generator)
        noisy = drawn.answers[-len(drawn.names) :]
        sums.append((noisy - mechanism.mean - counts[[*map(int, drawn.names)]]).sum())
    error = np.std(sums) / draws**0.5
    assert abs(np.mean(sums) - of_each * mechanism.variance) < 5 * error
    assert np.mean(sums) > 5 * error


@each_unit
@each_loss
def test_what_it_spends_is_what_a_convolution_gives(loss: ApproxDP, unit: Unit) -> None:
    own = calibrated(loss, unit, loss.epsilon / 20)
    found = sums_loss(own, loss)
    assert found.kept
    assert own.spent <= loss.delta
    assert float(found.delta) == pytest.approx(float(own.spent), rel=1e-12)
    assert own.spent > loss.delta / 2 or own.sigma2 < Fraction(41, 10)  # the smallest noise
    assert own.claim.proven == own.claim.published == loss
    assert own.claim.unit == unit


@each_unit
def test_planted_faults_are_found_and_cannot_be_made(unit: Unit) -> None:
    loss = LOSSES[1]
    own = calibrated(loss, unit)
    for changed in (
        {"threshold": own.threshold - 1},
        {"sigma2": own.sigma2 * Fraction(9, 10)},
        {"unit": dataclasses.replace(unit, column="uid", rows=unit.rows + 1)},
    ):
        assert not sums_loss(faulty(own, **changed), loss).kept, changed
        with pytest.raises(ValueError, match="the noise and the threshold cost more than delta"):
            dataclasses.replace(own, **changed)


def test_it_releases_from_smaller_counts_where_a_person_has_several_names() -> None:
    half = Fraction(1, 2)
    for rows, better in ((1, False), (10, True), (100, True)):
        unit = Unit(column="uid", rows=rows)
        bounded = PartitionSelection(loss=LOSSES[0], unit=unit)
        assert (calibrated(LOSSES[0], unit).count_for(half) < bounded.count_for(half)) is better


def test_chances_are_those_of_the_noise() -> None:
    own = calibrated(LOSSES[2], Unit())
    assert own.count_for(Fraction(1, 2)) == own.threshold
    nearly = own.count_for(Fraction(99, 100))
    assert own.chance(nearly - 1) < Fraction(99, 100) <= own.chance(nearly)
    assert own.chance(own.threshold - 1) < Fraction(1, 2) <= own.chance(own.threshold)
    assert own.chance(0) == 0
    with pytest.raises(ValueError, match="chance must lie between 1/2 and 1"):
        own.count_for(Fraction(1, 3))


def test_released_counts_reach_the_threshold_as_often_as_stated() -> None:
    own, generator = calibrated(LOSSES[2], Unit()), rng.seeded(7)
    count = own.threshold - 2
    names = NameCounts(names=tuple(map(str, range(DRAWS))), counts=np.full(DRAWS, count), unnamed=3)
    found = own.select(names, rng=generator)
    assert stats.binomtest(len(found.names), DRAWS, float(own.chance(count))).pvalue > FALSE_ALARM
    assert stats.binomtest(len(found.names), DRAWS, float(own.chance(count + 1))).pvalue < FALSE_ALARM  # the control
    assert found.answers.min() == own.threshold
    assert found.answers.size == len(found.names)


def test_it_is_read_back_from_a_document() -> None:
    own = calibrated(LOSSES[0], UNITS[3], Fraction(1, 20))
    assert read(object, plain(own), find=lambda _: GaussianThreshold) == own


@pytest.mark.parametrize(
    ("loss", "line"),
    [
        (PureDP(epsilon=1), "calibrated to epsilon and delta, got epsilon = 1"),
        (ApproxDP(epsilon=30, delta="1e-6"), "a Gaussian threshold serves up to epsilon = 20, got 30"),
    ],
)
def test_what_it_cannot_keep_is_refused(loss: Loss, line: str) -> None:
    with pytest.raises(NotSupported, match=line):
        calibrated(loss, Unit())  # type: ignore[arg-type]


def law(own: GaussianThreshold, count: int) -> np.ndarray:
    """The chances that a name is hidden, and of every noisy count that is released; a name of nobody is hidden."""
    reach = 60
    places = np.arange(own.threshold, own.threshold + 2 * reach)
    shown = own.noise.pmf(places - count) if count else np.zeros(places.size)
    return np.append(1 - shown.sum(), shown)


def excess(own: GaussianThreshold, epsilon: float) -> float:
    """The largest delta of two names of a person, over how many others have each of them, by all outputs."""
    counts = range(own.threshold + 8)
    laws = [law(own, count) for count in range(own.threshold + 9)]
    ratio, worst = np.exp(epsilon), 0.0
    for one in counts:
        for two in range(one + 1):
            without = np.multiply.outer(laws[one], laws[two])
            within = np.multiply.outer(laws[one + 1], laws[two + 1])
            up, down = (np.clip(p - ratio * q, 0, None).sum() for p, q in ((within, without), (without, within)))
            worst = max(worst, float(up), float(down))
    return worst


@pytest.mark.parametrize("epsilon", [0.5, 1])
def test_all_outputs_of_two_names_keep_the_claim(epsilon: float) -> None:
    """New names, moved ones and one of each: nothing is taken from the proof."""
    own = calibrated(ApproxDP(epsilon=epsilon, delta="0.001"), Unit(column="uid", rows=2))
    found = excess(own, epsilon)
    assert found <= 0.001 * (1 + 1e-9)
    assert found > 0.0003
    for changed in ({"threshold": own.threshold - 2}, {"sigma2": own.sigma2 / 2}):
        assert excess(faulty(own, **changed), epsilon) > 0.001, changed


def test_many_names_at_a_time_cost_no_less_than_each_number_of_them() -> None:
    unit = Unit(column="uid", rows=9)  # more names than are looked at one by one
    own = calibrated(LOSSES[2], unit)
    found = sums_loss(own, LOSSES[2])
    assert found.delta <= own.spent <= LOSSES[2].delta
    assert found.delta > own.spent / 2
