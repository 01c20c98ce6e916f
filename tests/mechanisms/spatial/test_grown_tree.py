"""Non-negative estimates of a grown tree, against definitions and against trees that are not cut."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.tree import Tree
from dpress.inference.maps.top_down import consistent, on_simplex
from dpress.inference.normal import normal
from dpress.mechanisms.spatial.grown_tree import nonnegative, on_weighted_simplex


def brute_force(row, weights, total):
    """The best of the stationary points over every set of entries that are not 0."""
    best = None
    for size in range(1, 5):
        for kept in map(list, itertools.combinations(range(4), size)):
            point = np.zeros(4)
            shift = (row[kept].sum() - total) / (1 / weights[kept]).sum()
            point[kept] = row[kept] - shift / weights[kept]
            loss = (weights * (point - row) ** 2).sum()
            if point.min() >= -1e-12 and (best is None or loss < best[0]):
                best = loss, point
    return best[1]


def test_the_weighted_projection_is_the_nearest_point_and_without_weights_the_known_one():
    generator = rng.seeded(1)
    rows, weights = 3 * normal(400, rng=generator).reshape(100, 4), np.exp(normal(400, rng=generator)).reshape(100, 4)
    totals = np.abs(normal(100, rng=generator))
    found = on_weighted_simplex(rows, weights, totals)
    wanted = [brute_force(*one) for one in zip(rows, weights, totals, strict=True)]
    assert np.allclose(found, wanted)
    assert not np.allclose(found, on_simplex(rows, totals))
    assert np.allclose(on_weighted_simplex(rows, np.full_like(rows, 7.0), totals), on_simplex(rows, totals))
    assert (on_weighted_simplex(rows[:1], weights[:1], np.zeros(1)) == 0).all()


def test_a_full_tree_of_equal_levels_is_the_usual_estimate():
    tree = Tree(64, 4)
    answers = 5 * normal(tree.rows, rng=rng.seeded(2)) + 3
    answers[0] = 100.0
    variances = [0.0, 2.0, 3.0, 5.0]
    wanted = consistent(tree, answers, variances, nonnegative=True)
    levels = tree.split(answers)
    precisions = [np.full(one.size, 1 / v if v else 0.0) for one, v in zip(levels, variances, strict=True)]
    found = nonnegative(levels, precisions, 100.0)
    assert np.allclose(found[-1], wanted)
    assert [one.sum() for one in found] == pytest.approx([100.0] * 4)


def test_a_leaf_is_spread_evenly_and_the_last_answer_about_it_counts_by_its_precision():
    answers = [np.zeros(1), np.array([2.0, 4.0, 1.0, 3.0]), np.zeros(16)]
    answers[2][4:8] = [8.0, 0.0, 0.0, 0.0]
    precisions = [np.zeros(1), np.ones(4), np.zeros(16)]
    precisions[2][4:8] = 4.0
    top, middle, cells = nonnegative(answers, precisions, 10.0)
    assert top.tolist() == [10.0]
    # the second child: 4 with precision 1 and 8 with precision 4 / 4 make 6 with precision 2; the four add up to 12
    shift = 2 / (1 + 1 / 2 + 1 + 1)
    assert middle.tolist() == pytest.approx([2 - shift, 6 - shift / 2, 1 - shift, 3 - shift])
    assert cells[:4].tolist() == pytest.approx([(2 - shift) / 4] * 4)
    assert cells[4:8].tolist() == pytest.approx([6 - shift / 2, 0, 0, 0])
