"""`quantile_cells`: what its two steps lose, faults that the audit finds, where cells are cut, and what is refused."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpress.audit.exact import promised
from dpress.core.basics import rng
from dpress.core.basics.claim import Claim, Relation, Unit
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles
from dpress.mechanisms.discovery.quantile_cells import QuantileCells, example, flat
from dpress.mechanisms.discovery.quantile_cells_audit import both
from dpress.mechanisms.linear.group_distribution import GroupDistribution

LOSSES = [PureDP(epsilon=1), ZCDP(rho="0.5")]
UNITS = [Unit(), Unit(relation=Relation.REPLACE_ONE, column="uid", rows=3)]


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_both_steps_together_keep_the_claim(loss: Any, unit: Unit) -> None:
    made = example(loss, unit)
    claimed = promised(made.claim.proven)
    assert promised(loss) * Fraction(999_999, 1_000_000) < claimed <= promised(loss)
    exact = both(made, claimed)
    assert exact.kept
    assert exact.loss is not None
    assert exact.loss > promised(loss) * Fraction(8, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsAlone(QuantileCells):
    """Claims what its counts cost."""

    @property
    def claim(self) -> Claim:
        return self.groups.claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Bold(ApproximateQuantiles):
    """Draws at three times the stated loss."""

    def rate(self, part: Fraction) -> Fraction:
        return 3 * ApproximateQuantiles.rate(self, part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Twice(QuantileCells):
    """Counts every row in a tree over the cells that it cut, at the price of one level."""

    def cut_at(self, borders: Any) -> Any:
        cut = QuantileCells.cut_at(self, borders)
        strategy: Any = cut.groups.strategy
        (tree,) = strategy.distributions
        rooted = replace(tree, tree=replace(tree.tree, root=True))
        more = replace(strategy, distributions=(rooted,))
        noise = replace(self.groups, strategy=more, loss=part_of(self.groups.loss, Fraction(2)))
        return replace(cut, groups=noise)


@pytest.mark.parametrize("loss", LOSSES)
def test_planted_faults_are_found(loss: Any) -> None:
    made = example(loss, Unit())
    forgetful = CountsAlone(groups=made.groups, choices=made.choices, candidates=made.candidates, axes=made.axes)
    assert not both(forgetful, promised(forgetful.claim.proven)).kept
    (choice,) = made.choices
    bold = Bold(loss=choice.loss, unit=choice.unit, quantiles=choice.quantiles)
    assert not both(replace(made, choices=(bold,)), promised(made.claim.proven)).kept
    twice = Twice(groups=made.groups, choices=made.choices, candidates=made.candidates, axes=made.axes)
    assert not both(twice, promised(made.claim.proven)).kept


def test_cells_begin_after_chosen_parts_and_at_one_that_is_chosen_twice() -> None:
    made = example(PureDP(epsilon=1000), Unit())
    (choice,) = made.choices
    choice = replace(choice, quantiles=(Fraction(1, 10), Fraction(3, 10), Fraction(1, 2), Fraction(9, 10)), places=64)
    levels = 64
    (tree,) = made.cut
    wide = replace(tree, shape=(2, levels + 1, 2), levels=levels)
    groups = replace(made.groups, strategy=replace(_strategy(made), moments=(), distributions=(wide,), shares=(1,)))
    made = QuantileCells(groups=groups, choices=(choice,), candidates=(16,), axes=(1,))
    counts = np.zeros(16, dtype=np.int64)
    counts[[2, 5, 6, 12, 15]] = 150, 500, 10, 320, 20
    (borders,) = made.borders(counts, rng=rng.seeded(1))
    assert borders == (12, 20, 24, 52)  # after parts 2 and 12, and around part 5, where two quantiles are
    cut = made.cut_at((borders,))
    assert cut.done
    assert [tree.edges.tolist() for tree in cut.cut] == [[0, 12, 20, 24, 52, 64]]
    codes = np.array([[0, 1, 1, 0, 0], [0, 12, 19, 63, 64], [0, 0, 0, 0, 0]], dtype=np.int32)
    assert cut.cut[0].sums(codes).reshape(2, -1).tolist() == [[1, 0, 0, 0, 1], [0, 2, 0, 0, 0]]
    assert cut.claim.proven == made.claim.proven


def test_there_are_two_cells_whatever_is_chosen() -> None:
    made = example(PureDP(epsilon=1000), Unit())
    (choice,) = made.choices
    for quantiles in ((Fraction(1, 2),), choice.quantiles):
        of_last = replace(made, choices=(replace(choice, quantiles=quantiles),))
        for part, borders in ((0, [(1,)]), (2, [(2,)])):
            counts = np.bincount([part], minlength=3) * 1000
            assert [*of_last.borders(counts, rng=rng.seeded(1))] == borders
            assert of_last.cut_at(tuple(borders)).done


def _strategy(made: QuantileCells) -> Any:
    return made.groups.strategy


def test_what_does_not_fit_is_refused() -> None:
    made = example(PureDP(epsilon=1), Unit())
    (choice,), (tree,) = made.choices, made.cut
    with pytest.raises(ValueError, match="axes must be increasing, and of attributes with quantiles"):
        replace(made, axes=(0,))
    with pytest.raises(ValueError, match="its own choice among its own candidates"):
        replace(made, candidates=())
    with pytest.raises(ValueError, match="must protect the same unit"):
        replace(made, choices=(replace(choice, unit=UNITS[1]),))
    with pytest.raises(ValueError, match="must all have epsilon, or all rho"):
        replace(made, choices=(replace(choice, loss=ZCDP(rho=1)),))
    for parts in (1, 4):
        with pytest.raises(ValueError, match="cells are cut among at least 2 parts of the levels"):
            replace(made, candidates=(parts,))
    for borders in ((2, 1), (0, 1), (1, 3), (1,)):
        with pytest.raises(ValueError, match="borders must be increasing levels"):
            replace(tree, tree=flat(3), borders=borders)
    even: GroupDistribution = replace(tree, tree=flat(3))
    assert even.edges.tolist() == [0, 1, 2, 3]
