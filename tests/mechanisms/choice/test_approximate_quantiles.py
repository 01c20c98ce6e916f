"""`approximate_quantiles`: who is in which choice, the exact distribution, and claims that planted faults break.

False alarms: 1e-6 for the file.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles, gaps, scattered
from dpress.mechanisms.choice.approximate_quantiles_audit import outcomes, quantiles_loss

QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
NINE = tuple(Fraction(place, 10) for place in range(1, 10))
LOSSES = [PureDP(epsilon=1), ZCDP(rho="0.5")]
DRAWN, BEYOND = 20_000, 6.0  # a normal deviate this large has probability 2e-9


def test_levels_are_the_quantiles_where_noise_is_small() -> None:
    counts = np.array([np.bincount(np.arange(99) ** 2 % 50, minlength=50), np.r_[np.full(49, 1), 1000]])
    own = ApproximateQuantiles(loss=PureDP(epsilon=900), quantiles=NINE, places=64)
    levels = own.choose(counts, rng=rng.seeded(1))
    below = np.concatenate([np.zeros((2, 1)), counts.cumsum(axis=1)], axis=1)
    for group, place in itertools.product(range(2), range(9)):
        target, level = float(NINE[place]) * below[group, -1], levels[group, place]
        assert below[group, level] - 4 <= target <= below[group, level + 1] + 4
    assert levels[1].tolist() == [49] * 9  # a level with most rows is most quantiles


@pytest.mark.parametrize("loss", LOSSES)
def test_quantiles_never_cross_and_every_row_is_in_one_choice_of_a_depth(loss: Any) -> None:
    own = ApproximateQuantiles(loss=loss, quantiles=NINE, places=4)
    draw = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    counts = np.concatenate([draw.integers(0, 3, (60, 30)), np.zeros((3, 30), dtype=np.int64)])
    levels = own.choose(counts, rng=rng.seeded(2))
    assert (np.diff(levels, axis=1) >= 0).all()
    assert levels.min() >= 0
    assert levels.max() < 30
    nodes = list(own.nodes())
    assert sorted(node.place for node in nodes) == list(range(9))
    depth = {-1: 0, 9: 0}
    for node in nodes:
        depth[node.place] = 1 + max(depth[node.left], depth[node.right])
    assert max(depth.values()) == own.depth == math.ceil(math.log2(10))
    for one in range(1, own.depth + 1):
        spans = sorted((node.left, node.right) for node in nodes if depth[node.place] == one)
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


@pytest.mark.parametrize("loss", LOSSES)
def test_draws_have_the_exact_distribution(loss: Any) -> None:
    table = (2, 0, 3, 1)
    own = ApproximateQuantiles(loss=loss, quantiles=QUARTERS)
    chances = {levels: float(chance.high) for levels, chance in outcomes(own, table).items()}
    assert sum(chances.values()) == pytest.approx(1)
    drawn = own.choose(np.tile(np.array(table), (DRAWN, 1)), rng=rng.seeded(3))
    found = {levels: int((drawn == levels).all(axis=1).sum()) for levels in chances}
    assert sum(found.values()) == DRAWN
    for levels, chance in chances.items():
        assert abs(found[levels] - DRAWN * chance) < BEYOND * math.sqrt(DRAWN * chance) + BEYOND
    other = {levels: float(chance.high) for levels, chance in outcomes(own, (2, 1, 3, 0)).items()}
    beyond = [
        abs(found[levels] - DRAWN * other[levels]) > BEYOND * math.sqrt(DRAWN * other[levels]) for levels in found
    ]
    assert any(beyond)  # a table that differs in one row is told apart


def test_a_score_is_how_far_the_rank_is_from_a_level_or_how_deep_within() -> None:
    below = np.array([[0, 4, 4, 5, 10]])
    ends = np.array([0]), np.array([0]), np.array([3])
    assert gaps(below, *ends, part=Fraction(1, 2)).tolist() == [2, 2, 0, 0]  # in halves of a row
    assert gaps(below, *ends, part=Fraction(9, 10)).tolist() == [60, 60, 50, 0]
    scores = [max(9 * low - 7 * 9, 7 * 9 - 9 * high) for low, high in ((0, 4), (4, 4), (4, 5), (5, 10))]  # of ninths
    below = np.array([[0, 4, 4, 5, 10], [0, 4, 4, 5, 9]])
    found = gaps(below, *(np.repeat(end, 2) for end in ends), part=Fraction(7, 9)).tolist()
    assert found[4:] == [score - min(scores) for score in scores]


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(2, 7)])
def test_a_row_changes_a_score_by_at_most_the_larger_part(q: Fraction) -> None:
    def scores(table: tuple[int, ...]) -> list[Fraction]:
        ends = np.cumsum([0, *table]).tolist()
        rank = q * ends[-1]
        return [max(low - rank, rank - high) for low, high in itertools.pairwise(ends)]

    moved = set()
    for table in itertools.product(range(3), repeat=3):
        for to in range(3):
            more = tuple(count + (place == to) for place, count in enumerate(table))
            moved |= {abs(own - new) for own, new in zip(scores(table), scores(more), strict=True)}
    assert max(moved) == max(q, 1 - q)


def test_rows_of_a_level_are_scattered_evenly() -> None:
    found = scattered(np.array([[1000, 0], [7, 8000]]), 4, rng=rng.seeded(4)).reshape(2, 2, 4)
    assert found.sum(axis=2).tolist() == [[1000, 0], [7, 8000]]
    assert np.abs(found[1, 1] - 2000).max() < BEYOND * math.sqrt(8000 * 3 / 16)


def test_the_claim_is_that_of_the_choices() -> None:
    persons = Unit(relation=Relation.REPLACE_ONE, column="uid", rows=3)
    pure = ApproximateQuantiles(loss=PureDP(epsilon=1), unit=persons, quantiles=NINE)
    assert pure.claim.proven == PureDP(epsilon=1)
    assert (pure.epsilon, pure.moved, pure.rate(Fraction(1, 3))) == (Fraction(1, 4), 6, Fraction(1, 96))
    rho = ApproximateQuantiles(loss=ZCDP(rho="0.5"), quantiles=NINE).claim.proven
    assert isinstance(rho, ZCDP)
    assert 0.4999999 < rho.rho <= Fraction(1, 2)


@pytest.mark.parametrize("loss", [PureDP(epsilon="0.5"), ZCDP(rho="0.02")])
@pytest.mark.parametrize("quantiles", [(Fraction(1, 2),), QUARTERS])
def test_ranks_miss_by_what_is_predicted_and_by_no_more_than_the_bound(loss: Any, quantiles: Any) -> None:
    own = ApproximateQuantiles(loss=loss, quantiles=quantiles)
    rows, cells, beta = 1000, 2000, 0.05
    counts = np.zeros((600, cells), dtype=np.int64)
    counts[:, 300 : 300 + rows] = 1
    found = own.choose(counts, rng=rng.seeded(5)) - 299.5  # the middle of a row
    errors = np.clip(found, 0, rows) - rows * np.array(quantiles, dtype=float)
    measured = (errors**2).mean(axis=0)
    assert measured == pytest.approx(np.array(own.rank_variances(rows)), rel=0.4)
    assert measured != pytest.approx(np.array(own.rank_variances(rows)) / 2, rel=0.4)
    missed = (np.abs(errors) > np.array(own.rank_errors(cells, beta)) + 1).any(axis=1).mean()
    assert missed <= beta


@dataclass(frozen=True, slots=True, kw_only=True)
class Bold(ApproximateQuantiles):
    """Draws as if a row were in one choice of all depths together."""

    def rate(self, part: Fraction) -> Fraction:
        return self.depth * ApproximateQuantiles.rate(self, part)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRow(ApproximateQuantiles):
    """Draws as if one row came or went, whatever the unit."""

    @property
    def moved(self) -> int:
        return 1


@pytest.mark.parametrize("loss", [PureDP(epsilon=1), ZCDP(rho="0.05")])
@pytest.mark.parametrize(
    ("faulty", "unit"), [(Bold, Unit()), (OneRow, Unit(column="uid", rows=2)), (OneRow, Unit(relation="replace-one"))]
)
def test_faults_are_found(faulty: Any, unit: Unit, loss: Any) -> None:
    bound = loss.epsilon if isinstance(loss, PureDP) else loss.rho
    assert quantiles_loss(ApproximateQuantiles(loss=loss, unit=unit, quantiles=QUARTERS), bound).kept
    assert not quantiles_loss(faulty(loss=loss, unit=unit, quantiles=QUARTERS), bound).kept


def test_what_are_no_quantiles_is_refused() -> None:
    for quantiles in ((), (Fraction(1),), (Fraction(1, 2), Fraction(1, 4))):
        with pytest.raises(ValueError, match="increasing and lie strictly between 0 and 1"):
            ApproximateQuantiles(loss=LOSSES[0], quantiles=quantiles)
    with pytest.raises(ValueError, match="common denominator"):
        ApproximateQuantiles(loss=LOSSES[0], quantiles=(Fraction(1, 1 << 21),))
    with pytest.raises(NotSupported, match="calibrated to epsilon or rho"):
        ApproximateQuantiles(loss=ApproxDP(epsilon=1, delta="1e-6"))  # type: ignore[arg-type]
