"""`hierarchy`: the document's figures for its branching and its level shares, and what a spec may state."""

from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.parameters import arguments
from dpress.core.maps.ranges import AllRanges, Range, Ranges
from dpress.core.maps.workload import Boxes, Marginals
from dpress.mechanisms.linear.hierarchy import CARD, Hierarchy, best_tree
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

EPSILON, RHO = PureDP(epsilon=1), ZCDP(rho="0.5")


def chosen(cells: int, loss: PureDP | ZCDP, **stated: object) -> Hierarchy:
    assert CARD.strategy is not None
    strategy = CARD.strategy(Boxes((AllRanges(cells),)), loss, **stated)
    assert isinstance(strategy, Hierarchy)
    return strategy


def test_the_best_branching_at_1024_is_eleven_without_the_root() -> None:
    assert best_tree(AllRanges(1024), 2) == (11, False)
    assert 2 * 3**2 * Hierarchy(1024, 11).average_variance([1.0]) == pytest.approx(156.6388, abs=1e-4)


def test_level_shares_bring_it_to_152_9() -> None:
    strategy = chosen(1024, EPSILON)
    assert (strategy.branching, strategy.root) == (11, False)
    variances = [2 / float(share) ** 2 for share in strategy.shares]
    assert strategy.average_variance(variances) == pytest.approx(152.925, abs=1e-3)
    assert sum(strategy.shares) == 1


def test_under_rho_the_levels_matter_more_than_the_branching() -> None:
    strategy = chosen(1024, RHO)
    assert strategy.branching == 2
    mechanism = MatrixMechanism(strategy=strategy, loss=RHO)
    assert len(mechanism.noises) == len(strategy.map.levels)


def test_level_shares_are_levels_of_noise_that_compose_to_the_claim() -> None:
    strategy = Hierarchy(9, 3, shares=(Fraction(1, 3), Fraction(2, 3)))
    mechanism = MatrixMechanism(strategy=strategy, loss=EPSILON)
    assert [noise.scale for noise in mechanism.noises] == [3, Fraction(3, 2)]
    assert mechanism.claim.proven == EPSILON
    assert np.unique(mechanism.variance).size == 2


@pytest.mark.parametrize("cells", [1, 2, 5, 12])
@pytest.mark.parametrize("loss", [EPSILON, RHO])
def test_small_tables_are_served(cells: int, loss: PureDP | ZCDP) -> None:
    strategy = chosen(cells, loss)
    mechanism = MatrixMechanism(strategy=strategy, loss=loss)
    assert mechanism.claim.proven == loss
    asked = Ranges.of(cells, [Range(1, cells)])
    variances = [noise.variance for noise in mechanism.noises]
    assert strategy.range_variances(asked, variances) > 0


def test_what_the_spec_states_is_kept() -> None:
    assert chosen(64, EPSILON, branching=4, shares="equal") == Hierarchy(64, 4)
    assert chosen(64, EPSILON, branching=8, root=True, shares=["1/2", "1/4", "1/4"]).shares[0] == Fraction(1, 2)
    with pytest.raises(ValueError, match="branching must be an integer >= 2"):
        chosen(64, EPSILON, branching=1)
    with pytest.raises(ValueError, match=r'parameters.shares: expected "best", "equal", or a list .*, got 3'):
        arguments(CARD.parameters, {"shares": 3}, "hierarchy")
    assert CARD.strategy is not None
    assert CARD.strategy(Marginals((7,), ((0,),)), EPSILON) is None


def test_the_accuracy_index_is_the_limit_of_its_finite_values() -> None:
    index = Hierarchy(2, 4).accuracy_index
    cells = 4**60
    finite = (2 * 60) ** 3 / (60**2 * Hierarchy(cells, 4).average_variance([1.0]))
    assert index == pytest.approx(3 * 4 * 8 / 9)
    assert finite == pytest.approx(index, rel=0.02)
