"""Theorem 5 for rectangles: the weights are those of least squares, and the bound holds in simulated collections."""

import math

import numpy as np
import pytest
from tests.inference.node_deviation import bernstein

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.tree import Tree
from dpress.inference.maps.density import TreeNoise
from dpress.inference.maps.deviation import rectangle_bernstein, tree_weights
from dpress.inference.maps.top_down import consistent
from dpress.mechanisms.oracle.oue import Oue

GRID = Grid(8)
GIVEN = Rectangles(*(np.array(ends) for ends in ([0.0, 1, 0.25], [4.0, 8, 6.5], [0.0, 2, 0.5], [8.0, 3, 7.0])))
RUNS, LEVEL_USERS = 400, (200, 200, 200, 200)


@pytest.mark.parametrize("levels", [(3.0, 2.0, 5.0, 1.0), (math.inf, 2.0, math.inf, 1.0)])
def test_weights_are_those_of_least_squares(levels: tuple[float, ...]) -> None:
    """Every node's own answer, one after the other, through the reconstruction itself."""
    noise, sizes = TreeNoise(grid=GRID, levels=levels), [4**level for level in range(4)]
    found = np.concatenate([_ordered(own, level) for level, own in enumerate(tree_weights(noise, GIVEN))], axis=1)
    for place in range(sum(sizes)):
        answers = np.zeros(sum(sizes))
        answers[place] = 1
        cells = consistent(Tree(GRID.cells, 4), answers, levels, nonnegative=False)
        wanted = sums(GRID.image(cells), GIVEN)
        assert found[:, place] == pytest.approx(wanted, abs=1e-12)


def _ordered(weights: np.ndarray, level: int) -> np.ndarray:
    """Rows of nodes in the quadtree's order."""
    side = 1 << level
    return np.asarray(Grid(side).flat(weights.reshape(-1, side, side)))


def test_weights_give_the_exact_variance() -> None:
    levels = (3.0, 2.0, 5.0, 1.0)
    noise = TreeNoise(grid=GRID, levels=levels)
    pairs = zip(tree_weights(noise, GIVEN), levels, strict=True)
    spread = sum(v * (own**2).sum(axis=1) for own, v in pairs)
    assert spread == pytest.approx(noise.variances(GIVEN))


def test_one_cell_of_a_flat_grid_is_a_node() -> None:
    """A cell that nobody needs to be in costs one user's variance more than an empty one."""
    flat, one = TreeNoise(grid=Grid(3), levels=(7.0,)), Rectangles(*(np.array([end]) for end in (1.0, 2.0, 0.0, 1.0)))
    (found,) = rectangle_bernstein(flat, (1000,), 1.0, one, beta=0.05)
    assert found == pytest.approx(bernstein(1000, 1.0, beta=0.05, held=1000))


@pytest.mark.parametrize("beta", [0.05, 0.2])
def test_it_is_exceeded_at_most_as_often_as_stated_and_is_not_loose(beta: float) -> None:
    """Exceedings are binomial with a chance of at most beta; false alarm below 1e-6."""
    levels = (1.0, 1.0, 1.0, 1.0)
    noise = TreeNoise(grid=GRID, levels=levels)
    bound, found = rectangle_bernstein(noise, LEVEL_USERS, 1.0, GIVEN, beta=beta), _deviations(levels)
    allowed = beta * RUNS + 5 * math.sqrt(beta * RUNS)
    assert ((found > bound).sum(axis=0) <= allowed).all()
    assert ((found > bound / 4).sum(axis=0) > allowed).all()  # a quarter of it would not hold


def _deviations(levels: tuple[float, ...]) -> np.ndarray:
    """How far the rectangles' sums lie from the truth, were everybody in cell 5 and as many asked of every level."""
    source, everybody, found = rng.seeded(5), sum(LEVEL_USERS), []
    oracles = [Oue(size=4**level, loss=PureDP(epsilon=1)) for level in range(4)]
    truth = np.zeros(GRID.cells)
    truth[5] = everybody
    for _ in range(RUNS):
        parts = []
        for level, (oracle, users) in enumerate(zip(oracles, LEVEL_USERS, strict=True)):
            values = np.full(users, 5 >> (2 * (3 - level)), dtype=np.int32)
            tally = oracle.tally(oracle.perturb(values, rng=source))
            parts.append(np.asarray(oracle.estimate(tally, users).answers) * everybody / users)
        cells = consistent(Tree(GRID.cells, 4), np.concatenate(parts), levels, nonnegative=False)
        found.append(np.abs(sums(GRID.image(cells - truth), GIVEN)))
    return np.array(found)


def test_bad_arguments_are_refused() -> None:
    noise = TreeNoise(grid=GRID, levels=(1.0,) * 4)
    with pytest.raises(ValueError, match="epsilon must be > 0 and beta between 0 and 1"):
        rectangle_bernstein(noise, LEVEL_USERS, 1.0, GIVEN, beta=0)
