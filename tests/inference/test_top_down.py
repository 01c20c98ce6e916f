"""Counts of a quadtree's cells: least squares is the tree's, families land on their simplex, totals are kept."""

import itertools
import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.tree import Tree
from dpress.inference.maps.top_down import consistent, on_simplex
from dpress.inference.normal import normal


def noisy(tree: Tree, levels: tuple[float, ...], seed: int) -> np.ndarray:
    counts = (rng.seeded(seed).words(tree.cells) % 40).astype(float)
    spread = np.repeat([0 if math.isinf(v) else v for v in levels], tree.levels)
    return tree.apply(counts) + np.sqrt(spread) * normal(tree.rows, rng=rng.seeded(seed))


@pytest.mark.parametrize("levels", [(1.0, 1, 1), (9.0, 4, 1), (math.inf, 2, 5), (1.0, math.inf, 3), (1.0, 7, 2)])
def test_least_squares_is_the_trees(levels: tuple[float, ...]) -> None:
    tree = Tree(16, 4)
    answers = noisy(tree, levels, 1)
    spread = np.repeat(levels, tree.levels)
    assert consistent(tree, answers, levels, nonnegative=False) == pytest.approx(tree.reconstruct(answers, spread))


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_known_root_is_kept(*, nonnegative: bool) -> None:
    tree = Tree(64, 4)
    answers = noisy(tree, (0.0, 50, 50, 50), 2)
    found = consistent(tree, answers, (0.0, 50, 50, 50), nonnegative=nonnegative)
    assert found.sum() == pytest.approx(answers[0])
    assert bool(found.min() >= 0) is nonnegative


def test_nothing_negative_and_every_family_adds_up_to_its_parent() -> None:
    tree = Tree(64, 4)
    answers = noisy(tree, (1.0, 900, 900, 900), 3)
    found = consistent(tree, answers, (1.0, 900, 900, 900), nonnegative=True)
    assert found.min() == 0
    assert consistent(tree, -np.abs(answers), (1.0, 9, 9, 9), nonnegative=True).tolist() == [0] * 64


def test_without_negative_counts_both_are_the_same() -> None:
    tree = Tree(16, 4)
    answers = tree.apply(np.full(16, 100.0)) + 0.1 * normal(21, rng=rng.seeded(4))
    both = [consistent(tree, answers, (1.0, 1, 1), nonnegative=made) for made in (False, True)]
    assert both[0] == pytest.approx(both[1])


def brute(row: np.ndarray, total: float) -> np.ndarray:
    """The nearest point of the simplex: every set of entries that may stay above zero is tried."""
    best, found = math.inf, np.zeros(row.size)
    for kept in itertools.product((False, True), repeat=row.size):
        chosen = np.array(kept)
        if not chosen.any():
            continue
        point = np.where(chosen, row - (row[chosen].sum() - total) / chosen.sum(), 0.0)
        if point.min() >= -1e-12 and (distance := float(((point - row) ** 2).sum())) < best:
            best, found = distance, point
    return found


def test_the_nearest_point_of_the_simplex_is_that_of_brute_force() -> None:
    rows = 10 * normal(4 * 80, rng=rng.seeded(5)).reshape(80, 4)
    rows[:5] = np.round(rows[:5])  # ties
    rows[5] = 3.0
    totals = np.concatenate([np.linspace(0.01, 40, 79), [1e-9]])
    found = on_simplex(rows, totals)
    assert found == pytest.approx(np.stack([brute(*pair) for pair in zip(rows, totals, strict=True)]))
    assert found.sum(axis=1) == pytest.approx(totals)
    assert found.min() >= 0
    assert not np.allclose(found, np.maximum(rows, 0))


def test_a_family_of_nobody_is_all_zero() -> None:
    assert on_simplex(np.array([[3.0, 1, -1, 0]]), np.array([0.0])).tolist() == [[0, 0, 0, 0]]
    assert on_simplex(np.array([[3.0, 1, -1, 0]]), np.array([-2.0])).tolist() == [[0, 0, 0, 0]]
