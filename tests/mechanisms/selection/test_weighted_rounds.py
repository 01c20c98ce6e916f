"""`weighted_rounds`: what it costs, added up in another way; faults that are found; how much more it finds."""

import dataclasses
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.mechanisms.selection.weighted import LOSSES, PERSON, UNITS, each_unit, faulty

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.plain import plain, read
from dpress.core.methods.name_counts import NameCounts
from dpress.mechanisms.selection import weighted_threshold
from dpress.mechanisms.selection.best_selection import WITHOUT_COUNTS, selections
from dpress.mechanisms.selection.names_audit import alone
from dpress.mechanisms.selection.weighted_rounds import calibrated
from dpress.mechanisms.selection.weighted_rounds_audit import rounds_loss
from dpress.mechanisms.selection.weighted_threshold_audit import COARSE
from dpress.noise.normal_profile import shift_delta

FALSE_ALARM = 1e-6
DRAWS = 20_000


@each_unit
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_what_it_spends_bounds_what_all_units_cost(loss: ApproxDP, unit: Unit) -> None:
    made = calibrated(loss, unit, length=COARSE)
    exact = rounds_loss(made, loss)
    assert exact.kept
    assert exact.delta <= made.spent <= loss.delta
    assert made.spent > loss.delta * Fraction(4, 5)
    assert exact.delta > loss.delta / 3


@each_unit
def test_planted_faults_are_found_and_cannot_be_made(unit: Unit) -> None:
    loss = LOSSES[1]
    made = calibrated(loss, unit, length=COARSE)
    for changed in (
        {"certain": made.certain * 4 // 5, "doubtful": made.doubtful // 2},
        {"threshold": made.threshold * 3 // 5},
        {"sigma2": made.sigma2 * Fraction(3, 5)},
        {"first": 2 * made.first, "second": made.second + 4},
    ):
        with pytest.raises(ValueError, match="the noise and the thresholds cost more than delta"):
            dataclasses.replace(made, **changed)
        assert not rounds_loss(faulty(made, **changed), loss).kept, changed


def test_two_rounds_are_hidden_as_one_change_of_both() -> None:
    """All outcomes of two noises, the second of which moves as the first one came out, cost no more than the bound."""
    sigma2, ratio, reach = 25, Fraction(272, 100), 40
    places = np.arange(-reach, reach + 1)
    weights = np.exp(-(places**2.0) / (2 * sigma2))
    law = weights / weights.sum()

    def moved(by: int) -> np.ndarray:
        shifted = np.exp(-((places - by) ** 2.0) / (2 * sigma2))
        return shifted / weights.sum()

    worst = 0.0
    for limit in range(-10, 12, 3):  # the second moves by 4 one way where the first is above, else the other way
        second = np.where((places > limit)[:, None], moved(4)[None], moved(-4)[None])
        near, far = law[:, None] * law[None], moved(3)[:, None] * second
        worst = max(worst, float(np.maximum(near - float(ratio) * far, 0).sum()))
    bound = float(shift_delta(Fraction(sigma2), Fraction(25), 2, ratio))
    assert 0.5 * bound < worst <= bound
    assert worst > float(shift_delta(Fraction(sigma2), Fraction(16), 2, ratio))  # the control: one change alone


def test_a_second_round_is_about_doubtful_names_of_persons_who_have_them_alone() -> None:
    made = calibrated(LOSSES[2], PERSON)
    names = NameCounts(names=("a", "b", "c"), counts=np.array([40, 9, 1]) * made.certain // 10, unnamed=0)
    asked = []

    def again(weights: Any, among: Any) -> NameCounts:
        asked.append((weights, among))
        return NameCounts(names=("b",), counts=np.array([20 * made.threshold]), unnamed=0)

    released = [made.find(names, again, rng=rng.seeded(seed)) for seed in range(50)]
    assert {weights for weights, _ in asked} == {made.second_weights}
    assert all("a" not in among for _, among in asked)
    assert any(among == ("b",) for _, among in asked)
    assert all("a" in each.names and ("b" in each.names) for each in released)
    assert all("c" not in each.names or each.answers[-1] >= made.certain for each in released)
    assert all(len(each.answers) == len(each.names) for each in released)


def test_a_name_is_released_at_least_as_often_as_stated() -> None:
    made, generator = calibrated(LOSSES[2], PERSON), rng.seeded(7)
    count = made.count_for(Fraction(1, 2)) // made.weights[0] * made.weights[0]
    names = NameCounts(names=tuple(map(str, range(DRAWS))), counts=np.full(DRAWS, count), unnamed=0)
    released = made.find(names, alone(made, names), rng=generator)
    chance = float(made.chance(count))
    assert 0.2 < chance < 0.8
    assert stats.binomtest(len(released.names), DRAWS, chance).pvalue > FALSE_ALARM
    assert stats.binomtest(len(released.names), DRAWS, chance + 0.05).pvalue < FALSE_ALARM  # the control
    assert made.chance(0) == 0
    nearly = made.count_for(Fraction(99, 100))
    assert made.chance(nearly) == pytest.approx(0.99, abs=1e-4)


def zipf_persons(names: int) -> list[list[int]]:
    draw = np.random.default_rng(4)  # noqa: TID251  # made-up names
    weights = np.arange(1, 20_001) ** -1.1
    drawn = draw.choice(weights.size, (4000, names), p=weights / weights.sum())
    return [sorted({*row}) for row in drawn.tolist()]


def sums(persons: list[list[int]], weights: Any, among: Any = None) -> NameCounts:
    counted, left = Counter[int](), None if among is None else {*map(int, among)}
    for person in persons:
        kept = person if left is None else [name for name in person if name in left]
        counted.update(dict.fromkeys(kept, weights[len(kept) - 1] if kept else 0))
    names = tuple(sorted(map(str, counted)))
    return NameCounts(names=names, counts=np.array([counted[int(name)] for name in names], dtype=np.int64), unnamed=0)


def test_it_finds_more_names_than_one_round_does() -> None:
    loss, unit, persons = LOSSES[0], Unit(column="uid", rows=20), zipf_persons(20)
    one, two = weighted_threshold.calibrated(loss, unit), calibrated(loss, unit)
    once = [len(one.select(sums(persons, one.weights), rng=rng.seeded(seed)).names) for seed in range(5)]
    first = sums(persons, two.weights)
    twice = [len(two.find(first, lambda *left: sums(persons, *left), rng=rng.seeded(seed)).names) for seed in range(5)]
    assert np.mean(twice) > 1.2 * np.mean(once)
    assert next(iter(selections(loss, unit, offered=WITHOUT_COUNTS))) == "weighted_rounds"
    for rows in (1, 4):
        few = Unit(column="uid", rows=rows)
        assert next(iter(selections(loss, few, offered=WITHOUT_COUNTS))) != "weighted_rounds"


def test_a_large_delta_is_split_otherwise() -> None:
    loss = ApproxDP(epsilon=1, delta="0.05")
    made = calibrated(loss, PERSON, length=COARSE)
    assert loss.delta * Fraction(4, 5) < made.spent <= loss.delta
    assert rounds_loss(made, loss).kept


def test_it_is_read_back_and_what_it_cannot_keep_is_refused() -> None:
    made = calibrated(LOSSES[0], UNITS[3])
    assert read(object, plain(made), find=catalog.find) == made
    with pytest.raises(NotSupported, match="weights, which are no counts and have no total"):
        calibrated(LOSSES[0], PERSON, Fraction(1, 20))
    with pytest.raises(NotSupported, match="serves up to 1,048,576 names of a person"):
        calibrated(LOSSES[0], Unit(column="uid", rows=1 << 21))
    with pytest.raises(ValueError, match="the lengths must be at least the root of 3 names"):
        dataclasses.replace(made, first=1)
    with pytest.raises(ValueError, match="released at once must not be left out"):
        dataclasses.replace(made, doubtful=made.certain + 1)
    with pytest.raises(ValueError, match="chance must lie between 1/2 and 1"):
        made.count_for(Fraction(1, 4))
    with pytest.raises(NotSupported, match="on a coarse lattice only"):
        rounds_loss(made, LOSSES[0])
    with pytest.raises(NotSupported, match="added up for delta >= 1e-14, got 1e-20"):
        rounds_loss(made, ApproxDP(epsilon=1, delta="1e-20"))
