"""`identity`: the histogram of the foundations."""

from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import AllRanges
from dpress.core.maps.workload import Boxes, Marginals
from dpress.mechanisms.linear.identity import CARD, LARGEST_TABLE, Identity
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism


@pytest.mark.parametrize(("relation", "scale"), [(Relation.ADD_REMOVE, 1), (Relation.REPLACE_ONE, 2)])
def test_histogram_noise_is_one_or_two_over_epsilon(relation: Relation, scale: int) -> None:
    mechanism = MatrixMechanism(strategy=Identity((5,)), loss=PureDP(epsilon="0.25"), unit=Unit(relation=relation))
    assert mechanism.noises[0].scale == Fraction(4 * scale)


def test_average_over_ranges_is_n_plus_two_over_three() -> None:
    assert [Identity((cells,)).average_variance([1.0]) for cells in (1, 2, 4, 1024)] == [1, 4 / 3, 2, 342]


def test_estimates_are_the_noisy_cells_and_a_table_is_flattened() -> None:
    strategy = Identity((2, 3))
    measured = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=1)).measure(np.arange(6), rng=rng.seeded(1))
    assert strategy.decoder.estimate(measured)[0].tolist() == measured.answers.tolist()
    assert strategy.decoder.tables == ((0, 1),)
    exact = Measurement(map=strategy.map, answers=np.arange(6), variance=2.0)
    weights = [np.array([0.0, 1.0]), np.array([1.0, 1.0, 0.0])]
    assert strategy.decoder.answer(exact, weights) == 3 + 4
    assert strategy.decoder.query_variance(2.0, weights) == 4
    assert strategy.decoder.cell_variances(2.0)[0].tolist() == [2.0] * 6


def test_it_serves_ranges_of_any_length_and_tables_that_fit_into_memory() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(Boxes((AllRanges(7),)), PureDP(epsilon=1)) == Identity((7,))
    assert CARD.strategy(Marginals((2, 3), ((0, 1),)), PureDP(epsilon=1)) == Identity((2, 3))
    assert CARD.strategy(Marginals((LARGEST_TABLE,), ((0,),)), PureDP(epsilon=1)) == Identity((LARGEST_TABLE,))
    assert CARD.strategy(Marginals((LARGEST_TABLE + 1,), ((0,),)), PureDP(epsilon=1)) is None
