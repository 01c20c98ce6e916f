"""The levels' shares: the smallest mean variance, of all ranges or of anything else."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.maps.tree import Tree
from dpress.inference.averages import tree_average
from dpress.mechanisms.linear.level_shares import best_shares

LEAST = 0.002  # a share this small may be held up by the lower limit


def mean(tree: Tree, shares: Sequence[float], power: int) -> float:
    return tree_average(tree, [float(share) ** -power for share in shares])


@pytest.mark.parametrize("power", [2, 1])
@pytest.mark.parametrize("tree", [Tree(1000, 11, root=False), Tree(81, 3), Tree(2**40, 16, root=False)])
def test_no_small_step_away_is_better(power: int, tree: Tree) -> None:
    shares = best_shares(tree, power)
    assert sum(shares) == 1
    assert len(shares) == len(tree.levels)
    best = mean(tree, shares, power)
    assert best <= mean(tree, [1 / len(shares)] * len(shares), power)
    for level in [level for level, share in enumerate(shares) if share > LEAST]:
        for factor in (0.9, 1.1):
            moved = np.array(shares, dtype=float)
            moved[level] *= factor
            assert mean(tree, (moved / moved.sum()).tolist(), power) > best


@pytest.mark.parametrize("power", [2, 1])
def test_any_mean_can_be_asked_for(power: int) -> None:
    """sum of a_k / s_k^p is smallest at s_k proportional to a_k^(1 / (p + 1))."""
    weights = np.array([1.0, 8.0, 27.0])
    shares = best_shares(Tree(100, 10), power, lambda variances: float(weights @ np.array(variances)))
    expected = weights ** (1 / (power + 1)) / np.sum(weights ** (1 / (power + 1)))
    assert [float(share) for share in shares] == pytest.approx(expected.tolist(), abs=1e-4)


def test_one_level_takes_all() -> None:
    assert best_shares(Tree(5, 5, root=False), 1) == (Fraction(1),)
