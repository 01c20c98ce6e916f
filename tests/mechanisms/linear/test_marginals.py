"""`marginals`: shares of the loss, one noise for each table, consistent answers."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.ranges import AllRanges
from dpress.core.maps.workload import Boxes
from dpress.core.maps.workload import Marginals as MarginalWorkload
from dpress.mechanisms.linear.marginals import CARD, Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

SHAPE = (2, 3, 4)
STRATEGY = Marginals(SHAPE, ((0, 1), (2, 1), ()))
SHARES = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))


def test_equal_shares_give_every_table_t_over_epsilon() -> None:
    mechanism = MatrixMechanism(strategy=STRATEGY, loss=PureDP(epsilon="0.1"))
    assert [noise.scale for noise in mechanism.noises] == [30, 30, 30]
    assert np.ndim(mechanism.variance) == 0


def test_a_total_alone_never_changes_under_replace_one_but_is_noised() -> None:
    moved = Unit(relation=Relation.REPLACE_ONE)
    mechanism = MatrixMechanism(strategy=STRATEGY, loss=PureDP(epsilon="0.1"), unit=moved)
    assert [noise.scale for noise in mechanism.noises] == [60, 60, 30]
    assert mechanism.claim.proven == PureDP(epsilon="0.1")


def test_a_larger_share_buys_a_smaller_scale_and_the_claim_stays() -> None:
    mechanism = MatrixMechanism(strategy=replace(STRATEGY, shares=SHARES), loss=PureDP(epsilon=1))
    assert [noise.scale for noise in mechanism.noises] == [2, Fraction(10, 3), 5]
    assert mechanism.claim.proven == PureDP(epsilon=1)
    by_rows = [mechanism.variance[0], mechanism.variance[6], mechanism.variance[18]]
    assert by_rows == [noise.variance for noise in mechanism.noises]
    concentrated = MatrixMechanism(strategy=replace(STRATEGY, shares=SHARES), loss=ZCDP(rho="0.5"))
    assert [noise.sigma2 for noise in concentrated.noises] == [2, Fraction(10, 3), 5]
    assert concentrated.claim.proven == ZCDP(rho="0.5")


def test_counts_are_the_tables_one_after_the_other() -> None:
    cells = np.arange(24).reshape(SHAPE)
    tables = [cells.sum(axis=2).ravel(), cells.sum(axis=0).T.ravel(), [cells.sum()]]
    assert np.array_equal(STRATEGY.map.apply(cells.ravel()), np.concatenate(tables))
    mechanism = MatrixMechanism(strategy=STRATEGY, loss=PureDP(epsilon=1000))
    measured = mechanism.measure(np.concatenate(tables), rng=rng.seeded(1))
    assert np.array_equal(measured.answers, np.concatenate(tables))
    assert np.allclose(STRATEGY.decoder.estimate(measured)[1], tables[1])
    with pytest.raises(ValueError, match="expected 19 counts, one a cell, got "):
        mechanism.measure(cells.ravel(), rng=rng.seeded(1))


def test_more_tables_make_what_they_share_more_certain_than_one() -> None:
    alone = MatrixMechanism(strategy=Marginals((2, 3), ((0, 1),)), loss=PureDP(epsilon=1))
    weights = [np.array([1.0, 0.0]), np.ones(3)]
    one = alone.strategy.decoder.query_variance(1.0, weights)
    both = Marginals((2, 3), ((0, 1), (0,))).decoder.query_variance(1.0, weights)
    assert one == pytest.approx(3)
    assert both == pytest.approx(1 / (1 / 3 + 1))


@pytest.mark.parametrize("sets", [(), ((0,), (0,)), ((0, 1), (1, 0))])
def test_no_table_or_the_same_table_twice_is_refused(sets: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match="at least one table, each over a different set of axes"):
        Marginals(SHAPE, sets)


def test_a_table_far_too_large_to_form_is_measured_by_its_marginals() -> None:
    strategy = Marginals((100,) * 12, ((0,), (3, 7)))
    mechanism = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=1))
    measured = mechanism.measure(np.ones(10_100, dtype=np.int64), rng=rng.seeded(1))
    weights = [np.ones(100)] * 12
    weights[7] = np.eye(100)[3]
    assert np.isfinite(strategy.decoder.answer(measured, weights))
    assert strategy.decoder.query_variance(mechanism.variance, weights) < 100 * mechanism.variance


def test_it_serves_tables_but_leaves_the_full_one_to_identity() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(MarginalWorkload(SHAPE, ((0, 1), (2,))), PureDP(epsilon=1)) == Marginals(SHAPE, ((0, 1), (2,)))
    assert CARD.strategy(MarginalWorkload(SHAPE, ((0, 1, 2),)), PureDP(epsilon=1)) is None
    assert CARD.strategy(Boxes((AllRanges(4),)), PureDP(epsilon=1)) is None
