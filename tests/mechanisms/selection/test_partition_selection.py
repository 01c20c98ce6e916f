"""`partition_selection`: optimal chances, noise that costs what is claimed, and faults that the audit finds."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.plain import plain, read
from dpress.core.methods.name_counts import NameCounts
from dpress.mechanisms.selection import partition_selection
from dpress.mechanisms.selection.partition_selection import PartitionSelection
from dpress.mechanisms.selection.partition_selection_audit import names_loss
from dpress.noise.laplace import DiscreteLaplace
from dpress.noise.tabulated import WHOLE, Tabulated

FALSE_ALARM = 1e-6
DRAWS = 20_000
LOSSES = [(1, "1e-8"), ("0.1", "1e-6"), (3, "1e-3"), ("0.5", "1e-12"), (1, "0.3")]
MOVED = Relation.REPLACE_ONE
UNITS = [Unit(), Unit(relation=MOVED), Unit(column="uid", rows=3), Unit(relation=MOVED, column="uid", rows=3)]
each_loss = pytest.mark.parametrize(("epsilon", "delta"), LOSSES)
each_unit = pytest.mark.parametrize("unit", UNITS, ids=str)


def made(epsilon: object = 1, delta: object = "1e-8", **fields: object) -> PartitionSelection:
    return PartitionSelection(loss=ApproxDP(epsilon=epsilon, delta=delta), **fields)  # type: ignore[arg-type]


def names(**counts: int) -> NameCounts:
    return NameCounts(names=tuple(counts), counts=np.array([*counts.values()], dtype=np.int64), unnamed=0)


def optimal(epsilon: float, delta: float, most: int) -> list[float]:
    """pi(1), ..., pi(most) by the recursion of the paper."""
    grown, chance, found = math.exp(epsilon), 0.0, []
    for _ in range(most):
        chance = min(grown * chance + delta, 1 - (1 - chance - delta) / grown, 1.0)
        found.append(chance)
    return found


@each_loss
def test_a_name_is_released_as_likely_as_any_method_may(epsilon: object, delta: str) -> None:
    own = made(epsilon, delta)
    expected = optimal(float(Fraction(str(epsilon))), float(delta), len(own.noise.weights))
    found = [float(own.chance(count)) for count in range(1, len(own.noise.weights) + 1)]
    assert np.allclose(found, expected, rtol=1e-9, atol=0)
    assert own.chance(0) == 0
    assert found[-1] == 1.0
    half, nearly = (own.count_for(chance) for chance in (Fraction(1, 2), Fraction(99, 100)))
    assert own.chance(half - 1) < Fraction(1, 2) <= own.chance(half)
    assert own.chance(nearly - 1) < Fraction(99, 100) <= own.chance(nearly)


@each_unit
@each_loss
def test_the_noise_costs_what_is_claimed_and_no_less(epsilon: object, delta: str, unit: Unit) -> None:
    own = made(epsilon, delta, unit=unit)
    spent = own.noise.excess(own.ratio) * own.steps
    assert own.loss.delta * (1 - Fraction(1, 10**6)) < spent <= own.loss.delta
    assert float(own.ratio) == pytest.approx(math.exp(float(own.loss.epsilon) / own.steps), rel=1e-12)
    assert own.claim.proven == own.claim.published == own.loss
    assert own.claim.unit == unit


def test_steps_are_the_counts_that_a_unit_changes() -> None:
    assert [made(unit=unit).steps for unit in UNITS] == [1, 2, 3, 6]


def test_where_delta_fits_the_noise_is_the_truncated_geometric() -> None:
    """Desfontaines, Voss, Gipson 2022, Definition 2: P(X = x) = c exp(-epsilon |x|) up to |x| = k."""
    k, epsilon = 7, 0.5
    weights = np.exp(-epsilon * np.abs(np.arange(-k, k + 1)))
    weights /= weights.sum()
    noise = made("0.5", float(weights[-1]) * (1 + 1e-12)).noise
    chances = np.array(noise.weights) / WHOLE
    assert (noise.lowest, noise.highest) in {(-k, k), (-k - 1, k)}  # a last value of next to no chance
    assert np.allclose(chances[-2 * k - 1 :].astype(float), weights, rtol=1e-6)


@pytest.mark.parametrize("total", [Fraction(0), Fraction(1, 20)])
@each_unit
def test_outputs_of_neighbours_keep_the_claim_exactly(unit: Unit, total: Fraction) -> None:
    own = made(1, "1e-4", unit=unit, total=total)
    found = names_loss(own, own.loss)
    assert found.kept
    assert found.delta > own.loss.delta / 4
    if unit.relation is not MOVED:
        assert found.delta > own.loss.delta * Fraction(999, 1000)


class LowerThreshold(PartitionSelection):
    """Releases one count too early."""

    threshold = property(lambda self: self.noise.highest)  # type: ignore[assignment]


class OneStep(PartitionSelection):
    """Forgets how many counts a unit changes."""

    noise = property(lambda self: made(self.loss.epsilon, self.loss.delta).noise)  # type: ignore[assignment]


class PlainLaplace(PartitionSelection):
    """Cuts discrete Laplace noise at the paper's k without what is left over."""

    @property
    def noise(self) -> Tabulated:  # type: ignore[override]
        reach = super().noise.highest - 1
        chances = DiscreteLaplace(scale=Fraction(1) / self.loss.epsilon).pmf(np.arange(-reach, reach + 1))
        weights = [int(own * 2.0**100) << 28 for own in chances / chances.sum()]
        return Tabulated(lowest=-reach, weights=(*weights[:-1], WHOLE - sum(weights[:-1])))


def faulty(kind: type[PartitionSelection], unit: Unit) -> PartitionSelection:
    """An instance that claims like an honest one; made without its own check."""
    found = object.__new__(kind)
    for field in dataclasses.fields(PartitionSelection):
        object.__setattr__(found, field.name, getattr(made(1, "1e-4", unit=unit), field.name))
    return found


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_threshold_one_lower_is_found(unit: Unit) -> None:
    found = names_loss(faulty(LowerThreshold, unit), ApproxDP(epsilon=1, delta="1e-4"))
    assert not found.kept


def test_too_little_noise_and_forgotten_names_are_found() -> None:
    claimed = ApproxDP(epsilon=1, delta="1e-4")
    assert not names_loss(faulty(PlainLaplace, Unit()), claimed).kept
    for unit in UNITS[1:]:
        assert not names_loss(faulty(OneStep, unit), claimed).kept


def test_noise_for_more_epsilon_is_found_and_cannot_be_claimed() -> None:
    wide = made("1.05", "1e-4")
    assert not names_loss(dataclasses.replace(wide), ApproxDP(epsilon=1, delta="1e-4")).kept
    assert names_loss(wide, wide.loss).kept


def test_a_mechanism_whose_table_costs_too_much_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = made("1.05", "1e-4").noise
    monkeypatch.setattr(partition_selection, "optimal_noise", lambda *_: wide)
    with pytest.raises(ValueError, match="the table of noise costs more than delta"):
        made(1, "1e-4")


def test_released_counts_are_those_of_the_table_above_the_threshold() -> None:
    own, generator = made(1, "0.05"), rng.seeded(3)
    count, expected = 3, float(made(1, "0.05").chance(3))
    drawn = [own.select(names(a=count), rng=generator) for _ in range(DRAWS)]
    released = sum(len(one.names) for one in drawn)
    assert stats.binomtest(released, DRAWS, expected).pvalue > FALSE_ALARM
    assert stats.binomtest(released, DRAWS, expected * 1.1).pvalue < FALSE_ALARM  # the control
    answers = [int(one.answers[0]) for one in drawn if one.names]
    assert min(answers) == own.threshold
    assert max(answers) <= count + own.noise.highest


def test_names_keep_their_order_and_the_total_comes_first() -> None:
    own = made(1, "1e-6", total=Fraction(1, 20))
    found = own.select(names(a=500, b=1, c=800), rng=rng.seeded(1))
    assert found.names == ("a", "c")
    assert np.abs(found.answers - [1301, 500, 800]).max() < 300
    nothing = own.select(names(), rng=rng.seeded(1))
    assert nothing.names == ()
    assert nothing.answers.shape == (1,)


def test_the_total_has_the_sensitivity_of_a_units_rows() -> None:
    own = made(unit=UNITS[2], total=Fraction(1, 10))
    assert own.total_noise == DiscreteLaplace(scale=Fraction(30))
    assert own.total_variance == DiscreteLaplace(scale=Fraction(30)).variance
    assert (made().total_noise, made().total_variance) == (None, 0.0)


def test_it_is_read_back_from_a_document() -> None:
    own = made(unit=UNITS[3], total=Fraction(1, 20))
    assert read(object, plain(own), find=lambda _: PartitionSelection) == own


def test_what_it_cannot_keep_is_refused() -> None:
    with pytest.raises(NotSupported, match="calibrated to epsilon and delta, got epsilon = 1"):
        PartitionSelection(loss=PureDP(epsilon=1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="total must lie between 0 and epsilon, got total=1"):
        made(total=Fraction(1))
    with pytest.raises(NotSupported, match="the noise spreads over more than 32,768 values"):
        made("1e-5")
    with pytest.raises(NotSupported, match="delta must be larger for so many rows"):
        made(1, "1e-31")
    with pytest.raises(ValueError, match="chance must lie between 0 and 1"):
        made().count_for(Fraction(2))
