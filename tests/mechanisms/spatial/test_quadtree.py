"""The quadtree: which nodes are measured, and how counts are made of them."""

from typing import Literal

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.plain import plain
from dpress.core.maps.grid import Grid
from dpress.core.methods.mechanism import Strategy
from dpress.mechanisms.spatial.quadtree import Quadtree, quadtree


@pytest.mark.parametrize(
    ("branching", "levels"), [(4, (4, 16, 64)), (16, (4, 64))], ids=["every level", "every second"]
)
def test_nodes_below_the_root_are_measured_with_the_same_noise(
    branching: Literal[4, 16], levels: tuple[int, ...]
) -> None:
    own = Quadtree(grid=Grid(8), branching=branching)
    assert isinstance(own, Strategy)
    assert own.map.levels == levels
    assert own.decoder.shape == (64,)


@pytest.mark.parametrize("relation", Relation)
def test_a_plan_measures_every_second_level_under_epsilon_and_all_under_rho(relation: Relation) -> None:
    """Their number stands squared in the variance of Laplace noise, and once in that of Gaussian noise."""
    changed = 1 if relation is Relation.ADD_REMOVE else 2
    for loss, measured in ((PureDP(epsilon=1), 2), (ZCDP(rho="0.5"), 3)):
        one = quadtree(Grid(8), loss, unit=Unit(relation=relation))
        assert one is not None
        assert one.claim.proven == loss
        assert f"sensitivity {measured * changed}" in one.claim.basis


def test_a_document_from_before_there_was_a_branching_is_of_all_levels() -> None:
    before = Quadtree(grid=Grid(8))
    assert plain(before) == {"method": "quadtree", "grid": {"side": 8}}
    assert plain(Quadtree(grid=Grid(8), branching=16))["branching"] == 16
    assert before.map.levels == (4, 16, 64)


@pytest.mark.parametrize("side", [1, 3, 12])
def test_a_grid_without_a_quadtree_is_not_served(side: int) -> None:
    assert quadtree(Grid(side), PureDP(epsilon=1), unit=ROW) is None
    with pytest.raises(ValueError, match=f"a quadtree needs a grid of side 2\\^h, h >= 1, got side={side}"):
        Quadtree(grid=Grid(side))


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
