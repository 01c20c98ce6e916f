"""The uniform grid: noisy cells as they are, and the paper's side."""

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.methods.mechanism import Strategy
from dpress.mechanisms.spatial.uniform_grid import UniformGrid, best_side, uniform_grid

MOVED = Unit(relation=Relation.REPLACE_ONE)


@pytest.mark.parametrize("side", [1, 3, 8])
def test_a_map_is_the_noisy_counts_of_its_cells(side: int) -> None:
    one = uniform_grid(Grid(side), PureDP(epsilon=1), unit=ROW)
    assert one is not None
    measured = one.noisy(one.exact(np.arange(side**2)), rng=rng.seeded(1))
    found = one.decoder.density(measured)
    assert np.array_equal(one.grid.flat(found.counts), measured.answers)
    assert np.allclose(found.cell_variances(), one.variance)
    whole = Rectangles(*(np.array([end]) for end in (0.0, float(side), 0.0, float(side))))
    assert np.isclose(found.variances(whole)[0], side**2 * one.variance)
    assert np.isclose(found.values(whole)[0], measured.answers.sum())


def test_the_side_is_the_papers_for_the_epsilon_that_the_noise_stands_for() -> None:
    assert [best_side(1_000_000, PureDP(epsilon=epsilon), ROW) for epsilon in ("0.1", 1)] == [100, 317]
    assert best_side(4_000_000, PureDP(epsilon=1), MOVED) == best_side(2_000_000, PureDP(epsilon=1), ROW)
    assert best_side(1_000_000, ZCDP(rho="0.25"), ROW) == 317  # sigma2 = 2, as large as 2 b^2 of epsilon = 1
    assert best_side(10**12, PureDP(epsilon=1), ROW) == 1024
    assert best_side(1, PureDP(epsilon=1), ROW) == 1


def test_the_strategy_is_that_of_a_matrix_mechanism() -> None:
    own = UniformGrid(grid=Grid(3))
    assert isinstance(own, Strategy)
    assert own.decoder.shape == (9,)
    assert own.map.cells == own.map.rows == 9
