"""`privelet`: the reconstruction row of a cell, its covariance, and sizes that are padded."""

import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import AllRanges, Range
from dpress.core.maps.workload import Boxes, Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.privelet import CARD, Privelet


@pytest.mark.parametrize("height", [1, 2, 3, 5])
def test_a_cell_is_the_total_over_n_plus_or_minus_each_ancestor_over_its_size(height: int) -> None:
    cells = 2**height
    strategy = Privelet(cells)
    for cell in (0, cells // 2, cells - 1):
        row = np.zeros(cells)
        row[0] = 2.0**-height
        for k in range(1, height + 1):
            node = 2 ** (height - k) + (cell >> k)  # rows: the total, then the inner nodes in heap order
            row[node] = (-1 if cell >> (k - 1) & 1 else 1) * 2.0**-k
        weights = [np.eye(cells)[cell]]
        units = [Measurement(map=strategy.map, answers=unit, variance=1.0) for unit in np.eye(cells)]
        assert np.allclose([strategy.decoder.answer(unit, weights) for unit in units], row)
        assert math.isclose(strategy.decoder.query_variance(1.0, weights), 4.0**-height + (1 - 4.0**-height) / 3)


def test_the_wavelet_of_four_cells() -> None:
    assert Privelet(4).map.apply(np.array([9, 4, 2, 1])).tolist() == [16, 10, 5, 1]


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 6, 7, 9])
def test_padded_cells_are_empty_and_never_come_back(cells: int) -> None:
    strategy, counts = Privelet(cells), np.arange(1, cells + 1)
    exact = Measurement(map=strategy.map, answers=strategy.map.apply(counts), variance=1.0)
    assert np.allclose(strategy.decoder.estimate(exact)[0], counts)
    assert strategy.decoder.shape == (cells,)
    measured = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=1)).measure(counts, rng=rng.seeded(2))
    whole = strategy.decoder.answer(measured, [np.ones(cells)])
    assert math.isclose(whole, strategy.decoder.estimate(measured)[0].sum(), rel_tol=1e-12)


@pytest.mark.parametrize("cells", [5, 6, 7])
def test_a_padded_range_has_the_coefficient_of_the_full_tree(cells: int) -> None:
    for ends in ((1, 3), (2, 5), (4, 5)):
        got = Privelet(cells).decoder.query_variance(1.0, [Range(*ends).weights(cells)])
        assert math.isclose(got, Privelet(8).decoder.query_variance(1.0, [Range(*ends).weights(8)]), rel_tol=1e-12)


@pytest.mark.parametrize(("cells", "height"), [(1, 0), (2, 1), (3, 2), (1000, 10), (1024, 10), (1025, 11)])
def test_sensitivity_is_height_plus_one(cells: int, height: int) -> None:
    matrix = Privelet(cells).map
    assert matrix.sensitivity(1, Relation.ADD_REMOVE) == matrix.sensitivity(2, Relation.ADD_REMOVE) == height + 1
    assert matrix.sensitivity(1, Relation.REPLACE_ONE) == 2 * height
    assert matrix.sensitivity(2, Relation.REPLACE_ONE) == (min(2 * height + 2, 4 * height))


def test_it_serves_ranges_only() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(Boxes((AllRanges(7),)), PureDP(epsilon=1)) == Privelet(7)
    assert CARD.strategy(Marginals((7,), ((0,),)), PureDP(epsilon=1)) is None
