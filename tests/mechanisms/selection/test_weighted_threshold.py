"""`weighted_threshold`: what it costs, added up in another way; faults that are found; how much more it finds."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.mechanisms.selection.weighted import LOSSES, MOVED, PERSON, UNITS, each_unit, faulty

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.plain import plain, read
from dpress.core.methods.name_counts import NameCounts
from dpress.mechanisms.selection import gaussian_threshold
from dpress.mechanisms.selection.best_selection import WITHOUT_COUNTS, selections
from dpress.mechanisms.selection.weighted_threshold import calibrated
from dpress.mechanisms.selection.weighted_threshold_audit import COARSE, weights_loss

FALSE_ALARM = 1e-6
DRAWS = 20_000


@each_unit
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_what_it_spends_bounds_what_all_units_cost(loss: ApproxDP, unit: Unit) -> None:
    own = calibrated(loss, unit, length=COARSE)
    found = weights_loss(own, loss)
    assert found.kept
    assert found.delta <= own.spent <= loss.delta
    assert found.delta > loss.delta * Fraction(4, 5)


@each_unit
def test_planted_faults_are_found_and_cannot_be_made(unit: Unit) -> None:
    loss = LOSSES[1]
    own = calibrated(loss, unit, length=COARSE)
    for changed in (
        {"threshold": own.threshold * 19 // 20},
        {"sigma2": own.sigma2 * Fraction(9, 10)},
        {"length": COARSE + 2},
        {"unit": dataclasses.replace(unit, relation=MOVED)},
    )[: 3 if unit.relation is MOVED else 4]:
        with pytest.raises(ValueError, match="the noise and the threshold cost more than delta"):
            dataclasses.replace(own, **changed)
        assert not weights_loss(faulty(own, **changed), loss).kept, changed


@pytest.mark.parametrize("rows", [2, 40, 5000])
def test_weights_are_the_largest_that_keep_the_length(rows: int) -> None:
    own = calibrated(LOSSES[0], Unit(column="uid", rows=rows))
    assert own.claim.proven == LOSSES[0]
    assert LOSSES[0].delta * Fraction(9, 10) < own.spent <= LOSSES[0].delta
    for names, weight in enumerate(own.weights, start=1):
        assert names * weight**2 <= own.length**2 < names * (weight + 1) ** 2


def test_it_finds_names_of_fewer_people_than_counts_do() -> None:
    half = Fraction(1, 2)
    for rows in (3, 4):
        unit = Unit(column="uid", rows=rows)
        own, counts = calibrated(LOSSES[1], unit), gaussian_threshold.calibrated(LOSSES[1], unit)
        assert own.holders_for(half) <= counts.count_for(half)  # where all have as many names as they may
        assert own.count_for(half) * rows**0.5 < 1.2 * counts.count_for(half) * own.length  # where all have one
        assert next(iter(selections(LOSSES[1], unit, offered=WITHOUT_COUNTS))) == "weighted_threshold"
    assert next(iter(selections(LOSSES[1], Unit(), offered=WITHOUT_COUNTS))) == "partition_selection"


def test_released_sums_reach_the_threshold_as_often_as_stated() -> None:
    own, generator = calibrated(LOSSES[2], PERSON), rng.seeded(7)
    weight = own.threshold - own.length // 2
    names = NameCounts(names=tuple(map(str, range(DRAWS))), counts=np.full(DRAWS, weight), unnamed=0)
    found = own.select(names, rng=generator)
    assert stats.binomtest(len(found.names), DRAWS, float(own.chance(weight))).pvalue > FALSE_ALARM
    more = float(own.chance(weight + own.length // 4))
    assert stats.binomtest(len(found.names), DRAWS, more).pvalue < FALSE_ALARM  # the control
    assert found.answers.min() >= own.threshold
    assert own.chance(0) == 0
    nearly = own.count_for(Fraction(99, 100))
    assert own.chance(nearly) == pytest.approx(0.99, abs=1e-4)


def test_it_is_read_back_and_what_it_cannot_keep_is_refused() -> None:
    own = calibrated(LOSSES[0], UNITS[3])
    assert read(object, plain(own), find=catalog.find) == own
    with pytest.raises(NotSupported, match="weights, which are no counts and have no total"):
        calibrated(LOSSES[0], PERSON, Fraction(1, 20))
    with pytest.raises(NotSupported, match="no weighted threshold was found for this loss"):
        calibrated(ApproxDP(epsilon="1e-9", delta="1e-30"), PERSON)
    with pytest.raises(NotSupported, match="serves up to 1,048,576 names of a person"):
        calibrated(LOSSES[0], Unit(column="uid", rows=1 << 21))
    with pytest.raises(ValueError, match="length must be at least the root of 3 names, got length=1"):
        dataclasses.replace(own, length=1)
    with pytest.raises(NotSupported, match="on a coarse lattice only"):
        weights_loss(own, LOSSES[0])
    with pytest.raises(NotSupported, match="added up for delta >= 1e-14, got 1e-20"):
        weights_loss(own, ApproxDP(epsilon=1, delta="1e-20"))
