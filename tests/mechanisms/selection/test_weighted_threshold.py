"""`weighted_threshold`: what it costs, added up in another way; faults that are found; where it is the better."""

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from dpress.core import rng
from dpress.core.claim import ApproxDP, Relation, Unit
from dpress.core.errors import NotSupported
from dpress.core.listed_attribute import Categorical
from dpress.core.name_counts import NameCounts
from dpress.core.plain import plain, read
from dpress.data.count_names import name_counts
from dpress.mechanisms.selection.best_selection import METHODS, selections
from dpress.mechanisms.selection.weighted_threshold import SCALE, WeightedThreshold, calibrated, weights
from dpress.release.audit.exact_names import sums_loss

FALSE_ALARM = 1e-6
DRAWS = 20_000
LOSS = ApproxDP(epsilon=1, delta="1e-5")
THREE = Unit(column="uid", rows=3)


def faulty(honest: WeightedThreshold, **changed: Any) -> WeightedThreshold:
    """One that claims like an honest one and draws otherwise; made without its own check."""
    found = object.__new__(WeightedThreshold)
    for field in dataclasses.fields(honest):
        object.__setattr__(found, field.name, changed.get(field.name, getattr(honest, field.name)))
    return found


def test_no_person_moves_the_sums_by_more_than_the_scale_in_l2() -> None:
    norms = [weight * weight * m for m, weight in enumerate(weights(16), start=1)]
    assert max(norms) == SCALE**2
    assert min(norms) > 0.75 * SCALE**2  # little is given away to whole numbers
    assert (weights(16)[0] + 1) ** 2 > SCALE**2


@pytest.mark.parametrize("epsilon", [1, 3])
def test_what_it_spends_is_what_a_convolution_gives(epsilon: int) -> None:
    loss = ApproxDP(epsilon=epsilon, delta="1e-5")
    own = calibrated(loss, THREE)
    found = sums_loss(own, loss)
    assert found.kept
    assert float(found.delta) == pytest.approx(float(own.spent), rel=1e-12)
    assert own.spent > loss.delta * Fraction(99, 100)
    assert own.claim.proven == own.claim.published == loss


def test_planted_faults_are_found_and_cannot_be_made() -> None:
    own = calibrated(LOSS, THREE)
    for changed in ({"threshold": own.threshold - 5}, {"sigma2": own.sigma2 * Fraction(9, 10)}):
        assert not sums_loss(faulty(own, **changed), LOSS).kept, changed
        with pytest.raises(ValueError, match="the noise and the threshold cost more than delta"):
            dataclasses.replace(own, **changed)
    heavier = type("Heavier", (WeightedThreshold,), {"weights": (SCALE, SCALE, SCALE), "__slots__": ()})
    made: Any = faulty(own)
    object.__setattr__(made, "__class__", heavier)
    assert not sums_loss(made, LOSS).kept


def test_it_is_best_for_persons_with_several_names_and_refused_where_they_are_replaced() -> None:
    for rows, best in ((1, "partition_selection"), (3, "weighted_threshold"), (10, "weighted_threshold")):
        unit = Unit(column="uid", rows=rows)
        assert next(iter(selections(LOSS, unit, offered=METHODS))) == best
    with pytest.raises(NotSupported, match="persons who come or leave, relation = add-remove"):
        calibrated(LOSS, dataclasses.replace(THREE, relation=Relation.REPLACE_ONE))
    with pytest.raises(NotSupported, match="up to 16 names of a person, got 17"):
        calibrated(LOSS, Unit(column="uid", rows=17))


def test_released_weights_reach_the_threshold_as_often_as_stated() -> None:
    own, generator = calibrated(LOSS, THREE), rng.seeded(7)
    persons = own.count_for(Fraction(1, 2)) - 1
    sums = np.full(DRAWS, persons * own.weights[-1])
    found = own.select(NameCounts(names=tuple(map(str, range(DRAWS))), counts=sums, unnamed=3), rng=generator)
    assert stats.binomtest(len(found.names), DRAWS, float(own.chance(persons))).pvalue > FALSE_ALARM
    assert stats.binomtest(len(found.names), DRAWS, float(own.chance(persons + 1))).pvalue < FALSE_ALARM  # the control
    assert own.chance(persons) < own.typical_chance(persons)


def test_names_weigh_by_how_many_different_ones_a_person_has() -> None:
    texts = ["a", "b", "a", "c", "a", None, "b", "", None]
    uid = [1, 1, 1, 1, 2, 2, 3, 3, 4]
    attribute = Categorical(name="x", values="discover")
    unit = Unit(column="uid", rows=5)
    own = name_counts(attribute, pa.table({"x": texts, "uid": uid}), unit, weights=weights(5))
    assert dict(zip(own.names, own.counts.tolist(), strict=True)) == {"a": 18 + 32, "b": 18 + 32, "c": 18}
    rows = name_counts(attribute, pa.table({"x": texts}), Unit(), weights=weights(1))
    assert dict(zip(rows.names, rows.counts.tolist(), strict=True)) == {"a": 96, "b": 64, "c": 32}


def test_it_is_read_back_from_a_document() -> None:
    own = calibrated(LOSS, THREE)
    assert read(object, plain(own), find=lambda _: WeightedThreshold) == own
