"""Sums of rectangles and their error: the tree's formula is that of its dense covariance, nothing is counted twice."""

import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.tree import Tree
from dpress.inference.maps.density import Cells, Nodes, Replicates, TreeNoise, clustering
from dpress.inference.normal import normal

SOME = ([0.0, 0.5, 1.0, 2.0, 3.1], [4.0, 3.25, 2.0, 4.0, 3.2], [0.0, 1.0, 0.2, 2.0, 0.5], [4.0, 2.5, 3.9, 4.0, 0.9])


def asked(side: int) -> Rectangles:
    return Rectangles(*(np.array(end) * side / 4 for end in SOME))


def weights(side: int) -> np.ndarray:
    """Every cell's share of every rectangle, in cell order, shape (m, cells)."""
    cells = Grid(side).image(np.eye(side**2))
    return np.stack([sums(one, asked(side)) for one in cells], axis=1)


@pytest.mark.parametrize("side", [2, 4, 8])
@pytest.mark.parametrize("known", ["all", "no root", "known root", "leaves only", "every other"])
def test_the_trees_error_is_that_of_its_dense_covariance(side: int, known: str) -> None:
    height = side.bit_length() - 1
    levels = [float(3 + 5 * level**2 % 7) for level in range(height + 1)]
    if known == "leaves only":
        levels[:-1] = [math.inf] * height
    elif known == "every other":
        levels[:-1] = [v if level % 2 else math.inf for level, v in enumerate(levels[:-1])]
    elif known != "all":
        levels[0] = math.inf if known == "no root" else 0.0
    noise, tree = TreeNoise(grid=Grid(side), levels=tuple(levels)), Tree(side**2, 4)
    spread = np.repeat([v or 1e-9 for v in levels], tree.levels)
    own = weights(side)
    dense = np.stack([tree.covariance(row, spread) for row in own])
    wanted = (own * dense).sum(axis=1)
    assert noise.variances(asked(side)) == pytest.approx(wanted, abs=1e-6)
    assert noise.cells() == pytest.approx(np.full((side, side), tree.cell_variances(spread)[0]), abs=1e-6)
    if known == "known root":
        assert noise.variances(asked(side))[0] == pytest.approx(0, abs=1e-9)


def test_a_flat_grid_is_a_tree_of_which_the_cells_alone_were_measured() -> None:
    flat = TreeNoise(grid=Grid(6), levels=(7.0,))
    assert flat.variances(asked(6)) == pytest.approx(7 * asked(6).squares(1))
    tree = TreeNoise(grid=Grid(8), levels=(math.inf, math.inf, math.inf, 7.0))
    assert tree.variances(asked(8)) == pytest.approx(7 * asked(8).squares(1))


def test_measuring_more_levels_helps_large_rectangles() -> None:
    whole, none = (1.0, 1.0, 1.0), (math.inf, math.inf, 1.0)
    with_tree, without = (TreeNoise(grid=Grid(4), levels=levels).variances(asked(4)) for levels in (whole, none))
    assert (with_tree < without).all()
    assert with_tree[0] < without[0] / 10


def test_replicates_are_mean_squares_with_the_stated_relative_error() -> None:
    """With R replicates the standard error is right to 1 / sqrt(2 R): normal sums, false alarm 1e-6."""
    side, runs = 8, 400
    deviations = normal(runs * side**2, rng=rng.seeded(1)).reshape(runs, side, side) + 0.1
    found = Replicates(deviations=deviations)
    own = asked(side)
    direct = (np.stack([sums(one, own) for one in deviations]) ** 2).mean(axis=0)
    assert found.variances(own) == pytest.approx(direct)
    assert found.cells() == pytest.approx((deviations**2).mean(axis=0))
    bias = 0.1 * sums(np.ones((side, side)), own)  # what a correction pushes all replicates by is part of the error
    wanted = own.squares(1) + bias**2
    assert (np.abs(np.sqrt(found.variances(own) / wanted) - 1) < 5.3 / math.sqrt(2 * runs)).all()
    assert (found.variances(own)[0] - bias[0] ** 2) < wanted[0] / 1.2


def test_cells_add_up_and_a_cut_cell_hides_its_people() -> None:
    counts, own = np.zeros((4, 4)), Rectangles(*(np.array([end]) for end in (0.0, 2.5, 0.0, 4.0)))
    counts[2, 1] = 100
    exact = TreeNoise(grid=Grid(4), levels=(0.0,))
    even, at_a_point = (Cells(grid=Grid(4), counts=counts, noise=exact, clustered=k) for k in (0.0, 1.0))
    assert even.values(own) == at_a_point.values(own) == 50
    assert even.variances(own) == 0
    assert at_a_point.variances(own) == pytest.approx(100**2 * 0.5 * 0.5)
    halves = Cells(grid=Grid(4), counts=counts, noise=exact, clustered=0.5)
    assert halves.variances(own) == pytest.approx(0.5 * 100**2 / 4)


def test_what_a_cut_cell_hides_is_what_people_at_points_of_it_make() -> None:
    """People of a cell at one point somewhere in it: c^2 s (1 - s), over all places of that point."""
    places = (np.arange(200) + 0.5) / 200
    x, y = np.meshgrid(places, places)
    share_across, share_up = 0.3, 0.8
    errors = 100 * ((x < share_across) & (y < share_up)) - 100 * share_across * share_up
    own = Rectangles(*(np.array([end]) for end in (0.0, share_across, 0.0, share_up)))
    noise = TreeNoise(grid=Grid(1), levels=(0.0,))
    stated = Cells(grid=Grid(1), counts=np.full((1, 1), 100.0), noise=noise, clustered=1.0).variances(own)
    assert stated == pytest.approx([(errors**2).mean()], rel=0.01)


def test_raw_nodes_are_used_from_the_top_and_never_twice() -> None:
    images = [np.array([[1000.0]]), np.array([[1.0, 2], [3, 4]]), np.arange(16.0).reshape(4, 4) * 10]
    noise = TreeNoise(grid=Grid(4), levels=(math.inf, math.inf, 11.0))
    nodes = Nodes(grid=Grid(4), images=images, noise=noise)
    ends = ([0.0, 0, 1, 0], [4.0, 2, 3, 3.5], [0.0, 0, 1, 0], [4.0, 2, 3, 2])
    own = Rectangles(*(np.array(end) for end in ends))
    middle = 50 + 60 + 90 + 100
    assert nodes.values(own).tolist() == [1000, 1, middle, 1 + 80 + 90 + 0.5 * (120 + 130)]
    assert np.array_equal(nodes.variances(own), noise.variances(own))
    assert nodes.counts is images[-1]
    assert np.array_equal(nodes.cell_variances(), np.full((4, 4), 11.0))


def test_clustering_is_one_at_a_point_nothing_where_all_is_even_and_between_otherwise() -> None:
    point, even, two = np.zeros((8, 8)), np.full((8, 8), 3.0), np.zeros((2, 2))
    point[3, 5] = 9
    two[0] = 4  # two of four quarters
    assert clustering(point) == 1
    assert clustering(even) == 0
    assert clustering(two) == pytest.approx((4 * 2**2) / (0.75 * 64))
    assert clustering(np.zeros((4, 4))) == 0
    assert clustering(np.ones((1, 1))) == 0
    assert 0 < clustering(np.kron(two, np.ones((2, 2)))) < 1
    assert clustering(np.ones((5, 5))) == 0
