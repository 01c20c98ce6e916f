"""`group_quantiles`: what sums and choices lose together, faults that the audit finds, and what is read back."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Claim, Relation, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles
from dpress.mechanisms.statistics.group_quantiles import GroupQuantiles, example
from dpress.mechanisms.statistics.group_quantiles_audit import added_loss

LOSSES = [PureDP(epsilon=1), ZCDP(rho="0.5")]
UNITS = [Unit(), Unit(relation=Relation.REPLACE_ONE, column="uid", rows=3)]


def promised(own: Any) -> Fraction:
    loss = own.claim.proven
    return loss.epsilon if isinstance(loss, PureDP) else loss.rho


def quartiles(loss: Any) -> GroupQuantiles:
    """The example with three quantiles, and places that split its levels."""
    own = example(loss, Unit())
    (one,) = own.chosen
    choice = replace(one.choice, quantiles=(Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)), places=64)
    return replace(own, chosen=(replace(one, choice=choice),))


def codes() -> np.ndarray:
    draw = np.random.default_rng(1)  # noqa: TID251  # made-up rows
    return np.array([draw.integers(0, size, 400) for size in (2, 4, 2)], dtype=np.int32)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_all_steps_together_keep_the_claim_and_spend_nearly_all_of_it(loss: Any, unit: Unit) -> None:
    own = example(loss, unit)
    limit = loss.epsilon if isinstance(loss, PureDP) else loss.rho
    assert limit * Fraction(999_999, 1_000_000) < promised(own) <= limit
    found = added_loss(own, promised(own))
    assert found.kept
    assert found.loss is not None
    assert found.loss > limit * Fraction(8, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class SumsAlone(GroupQuantiles):
    """Claims what its sums cost."""

    @property
    def claim(self) -> Claim:
        assert self.groups is not None
        return self.groups.claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Bold(ApproximateQuantiles):
    """Draws at three times the stated loss."""

    def rate(self, part: Fraction) -> Fraction:
        return 3 * ApproximateQuantiles.rate(self, part)


@pytest.mark.parametrize("loss", LOSSES)
def test_planted_faults_are_found(loss: Any) -> None:
    own = example(loss, Unit())
    forgetful = SumsAlone(groups=own.groups, chosen=own.chosen)
    assert not added_loss(forgetful, promised(forgetful)).kept
    (one,) = own.chosen
    bold = Bold(loss=one.choice.loss, quantiles=one.choice.quantiles)
    assert not added_loss(replace(own, chosen=(replace(one, choice=bold),)), promised(own)).kept


def test_with_hardly_any_noise_sums_and_levels_are_those_of_the_rows() -> None:
    own, rows = quartiles(PureDP(epsilon=1000)), codes()
    halves = [own.decoder.sums(part) for part in (rows[:, :150], rows[:, 150:])]
    exact = own.exact(own.decoder.answers(np.sum(halves, axis=0)))
    found = own.draw(exact, rng=rng.seeded(1))
    assert own.groups is not None
    assert found.sums is not None
    sums, counts = own.split(exact)
    assert np.array_equal(sums, own.groups.exact(own.groups.decoder.answers(own.groups.decoder.sums(rows))))
    assert np.abs(found.sums.answers - sums).max() <= 1
    assert counts.tolist() == [((rows[0] == sex) & (rows[1] == level)).sum() for sex in (0, 1) for level in range(3)]
    for group, levels in enumerate(found.levels[0]):
        values = np.sort(rows[1][(rows[0] == group) & (rows[1] < 3)])
        assert levels.tolist() == [values[int(q * values.size)] for q in own.chosen[0].choice.quantiles]


@pytest.mark.parametrize("what", ["sums and levels", "levels alone"])
def test_what_was_published_is_read_back_and_anything_else_refused(what: str) -> None:
    own, alone = quartiles(PureDP(epsilon=1)), what == "levels alone"
    own = replace(own, groups=None) if alone else own
    rows = codes()
    kept = own.draw(own.exact(own.decoder.answers(own.decoder.sums(rows))), rng=rng.seeded(2)).answers
    again = own.measured(kept)
    assert np.array_equal(again.answers, kept)
    assert (again.sums is None) is alone
    for wrong in (kept[:-1], np.r_[kept, 0]):
        with pytest.raises(ValueError, match="answers must have"):
            own.measured(wrong)
    for place, level in ((-1, 3), (-1, -1), (-3, 2)):
        wrong = kept.copy()
        wrong[-3:] = 1
        wrong[place] = level
        with pytest.raises(SchemaMismatch, match="none of the attribute, or cross"):
            own.measured(wrong)


def test_steps_that_do_not_fit_are_refused() -> None:
    own = example(PureDP(epsilon=1), Unit())
    (one,) = own.chosen
    with pytest.raises(ValueError, match="at least one attribute"):
        replace(own, chosen=())
    for loss, unit in ((PureDP(epsilon=1), UNITS[1]), (ZCDP(rho=1), Unit())):
        with pytest.raises(ValueError, match="the same unit by losses of one kind"):
            replace(own, chosen=(replace(one, choice=replace(one.choice, loss=loss, unit=unit)),))
    with pytest.raises(ValueError, match="the same groups"):
        replace(own, chosen=(replace(one, by=(2,)),))
    with pytest.raises(ValueError, match="must be different axes"):
        replace(one, by=(1,))
    with pytest.raises(ValueError, match="at most as many cells"):
        replace(one, cells=4)
