"""`binary_tree`: the canonical cover, its answers and its variance."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import AllRanges, Range
from dpress.core.maps.workload import Boxes, Marginals
from dpress.core.methods.mechanism import Decoder, RangeStrategy
from dpress.mechanisms.linear.binary_tree import CARD, BinaryTree
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism


def test_the_range_3_to_7_of_8_adds_up_two_pairs_and_a_leaf() -> None:
    """Rows of the tree over 8 cells: root, 2 halves, 4 pairs, 8 leaves."""
    strategy = BinaryTree(8)
    weights = [Range(3, 7).weights(8)]
    used = [
        strategy.decoder.answer(Measurement(map=strategy.map, answers=row, variance=1.0), weights) for row in np.eye(15)
    ]
    assert np.flatnonzero(used).tolist() == [4, 5, 13]
    assert strategy.decoder.query_variance(2.0, weights) == 6


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8, 11, 16])
def test_every_range_is_answered_exactly_from_exact_counts(cells: int) -> None:
    strategy, counts = BinaryTree(cells), np.arange(1, cells + 1) ** 2
    exact = Measurement(map=strategy.map, answers=strategy.map.apply(counts), variance=1.0)
    for left, right in itertools.combinations_with_replacement(range(1, cells + 1), 2):
        weights = [Range(left, right).weights(cells)]
        assert strategy.decoder.answer(exact, weights) == counts[left - 1 : right].sum()
        assert strategy.decoder.query_variance(1.0, weights) <= max(1, 2 * strategy.map.height)


def test_queries_with_unequal_weights_use_a_node_where_the_weights_are_equal() -> None:
    strategy, counts = BinaryTree(4), np.array([1, 10, 100, 1000])
    exact = Measurement(map=strategy.map, answers=strategy.map.apply(counts), variance=1.0)
    weights = [np.array([2.0, 2.0, -1.0, 0.5])]
    assert strategy.decoder.answer(exact, weights) == 2 * 11 - 100 + 500
    assert strategy.decoder.query_variance(1.0, weights) == 4 + 1 + 0.25


def test_the_total_is_the_root_and_costs_one_node() -> None:
    strategy = BinaryTree(100)
    assert strategy.decoder.query_variance(3.0, [np.ones(100)]) == 3


def test_unequal_variances_are_those_of_the_nodes_used() -> None:
    variance = np.arange(1.0, 8.0)  # root, halves, leaves of 4 cells
    decoder = BinaryTree(4).decoder
    assert decoder.query_variance(variance, [np.array([1.0, 1, 1, 0])]) == 2 + 6
    assert decoder.cell_variances(variance)[0].tolist() == [4, 5, 6, 7]


def test_estimates_are_the_noisy_leaves_and_nothing_is_made_consistent() -> None:
    strategy = BinaryTree(8)
    measured = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=1)).measure(np.arange(8), rng=rng.seeded(1))
    assert strategy.decoder.estimate(measured)[0].tolist() == measured.answers[-8:].tolist()
    assert strategy.decoder.answer(measured, [np.ones(8)]) == measured.answers[0] != measured.answers[-8:].sum()


@pytest.mark.parametrize(("cells", "height"), [(1, 0), (2, 1), (3, 2), (8, 3), (9, 4), (1024, 10)])
def test_sensitivity_is_the_number_of_levels(cells: int, height: int) -> None:
    assert BinaryTree(cells).map.sensitivity(1, Relation.ADD_REMOVE) == height + 1
    assert BinaryTree(cells).map.sensitivity(1, Relation.REPLACE_ONE) == 2 * height


def test_it_serves_ranges_only() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(Boxes((AllRanges(7),)), PureDP(epsilon=1)) == BinaryTree(7)
    assert CARD.strategy(Marginals((2, 3), ((0,),)), PureDP(epsilon=1)) is None
    assert isinstance(BinaryTree(7), RangeStrategy)
    assert isinstance(BinaryTree(7).decoder, Decoder)
