"""`boost`: least squares on the tree, by hand and against the naive tree."""

import itertools
import math

import numpy as np
import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import AllRanges, Range
from dpress.core.maps.workload import Boxes, Marginals
from dpress.mechanisms.linear.binary_tree import BinaryTree
from dpress.mechanisms.linear.boost import CARD, Boost


def test_two_leaves_and_their_sum_share_the_disagreement_equally() -> None:
    """Root 12, leaves 4 and 5: they miss 3, of which each leaf gets a third."""
    strategy = Boost(2)
    measured = Measurement(map=strategy.map, answers=np.array([12, 4, 5]), variance=1.0)
    assert np.allclose(strategy.decoder.estimate(measured)[0], [5, 6])
    assert np.allclose(strategy.decoder.cell_variances(1.0)[0], 2 / 3)
    assert math.isclose(strategy.decoder.query_variance(1.0, [np.ones(2)]), 2 / 3)


def test_four_leaves_follow_the_two_passes_of_hay_et_al() -> None:
    """z_u = (2^(l-1) y_u + (2^(l-1) - 1) sum of z below) / (2^l - 1), then h_v = z_v + (h_u - sum of z) / 2."""
    answers = np.array([13, 3, 8, 4, 1, 2, 3])
    upper = [(2 * 3 + 5) / 3, (2 * 8 + 5) / 3]
    root = (4 * 13 + 3 * sum(upper)) / 7
    halves = [z + (root - sum(upper)) / 2 for z in upper]
    leaves = [leaf + (halves[i // 2] - 5) / 2 for i, leaf in enumerate((4, 1, 2, 3))]
    measured = Measurement(map=Boost(4).map, answers=answers, variance=1.0)
    assert np.allclose(Boost(4).decoder.estimate(measured)[0], leaves)


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8, 13])
def test_no_range_is_less_certain_than_under_the_naive_tree(cells: int) -> None:
    for left, right in itertools.combinations_with_replacement(range(1, cells + 1), 2):
        weights = [Range(left, right).weights(cells)]
        boosted, naive = (one(cells).decoder.query_variance(1.0, weights) for one in (Boost, BinaryTree))
        assert boosted <= naive + 1e-12
        assert boosted < naive or cells == 1


def test_answers_add_up_whatever_was_measured() -> None:
    strategy = Boost(5)
    measured = Measurement(map=strategy.map, answers=np.arange(20, 20 + strategy.map.rows), variance=1.0)
    parts = [strategy.decoder.answer(measured, [Range(*ends).weights(5)]) for ends in ((1, 2), (3, 5), (1, 5))]
    assert math.isclose(parts[0] + parts[1], parts[2])


def test_it_serves_ranges_only() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(Boxes((AllRanges(7),)), PureDP(epsilon=1)) == Boost(7)
    assert CARD.strategy(Marginals((7,), ((0,),)), PureDP(epsilon=1)) is None
