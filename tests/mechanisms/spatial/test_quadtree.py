"""The quadtree: all nodes but the root, the height, and how counts are made of them."""

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid
from dpress.core.methods.mechanism import Strategy
from dpress.mechanisms.spatial.quadtree import Quadtree, best_height, quadtree


def test_all_nodes_below_the_root_are_measured_with_the_same_noise() -> None:
    own = Quadtree(grid=Grid(8))
    assert isinstance(own, Strategy)
    assert own.map.levels == (4, 16, 64)
    assert own.decoder.shape == (64,)
    scales = [
        quadtree(Grid(8), PureDP(epsilon=1), unit=Unit(relation=relation)).matrix.noises[0].scale  # type: ignore[union-attr]
        for relation in Relation
    ]
    assert scales == [3, 6]


@pytest.mark.parametrize("side", [1, 3, 12])
def test_a_grid_without_a_quadtree_is_not_served(side: int) -> None:
    assert quadtree(Grid(side), PureDP(epsilon=1), unit=ROW) is None
    with pytest.raises(ValueError, match=f"a quadtree needs a grid of side 2\\^h, h >= 1, got side={side}"):
        Quadtree(grid=Grid(side))


def test_the_height_grows_with_points_and_budget() -> None:
    cases = [(643_212, 1), (643_212, "0.1"), (138_957, "0.1"), (68_858, "0.1"), (10, "0.001"), (10**9, 1)]
    assert [best_height(users, PureDP(epsilon=epsilon), ROW) for users, epsilon in cases] == [10, 10, 9, 8, 1, 10]
    replaced = Unit(relation=Relation.REPLACE_ONE)
    assert best_height(80_000, PureDP(epsilon="0.2"), replaced) == best_height(40_000, PureDP(epsilon="0.2"), ROW)


def test_without_noise_to_speak_of_the_map_is_the_truth_either_way() -> None:
    counts = (rng.seeded(2).words(64) % 9).astype(np.int64)
    for made in ("nonnegative", "least_squares"):
        one = quadtree(Grid(8), PureDP(epsilon=900), unit=ROW, reconstruction=made)
        assert one is not None
        assert one.linear is (made == "least_squares")
        found = one.decoded(one.noisy(one.exact(counts), rng=rng.seeded(1)), 0).counts
        assert np.allclose(one.grid.flat(found), counts, atol=1e-9)


def test_the_input_is_left_alone() -> None:
    one = quadtree(Grid(4), PureDP(epsilon=1), unit=ROW)
    assert one is not None
    counts = np.arange(16)
    one.noisy(one.exact(counts), rng=rng.seeded(1))
    assert counts.tolist() == list(range(16))
