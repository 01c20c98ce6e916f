"""Errors of single ranges without arrays, against the arrays; and at sizes where no array fits."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.haar import Haar
from dpress.core.tree import Tree
from dpress.core.workload import Range
from dpress.estimate.error import blocks_energy, haar_average, tree_average
from dpress.estimate.ranges import cover_size, tree_coefficient, wavelet_coefficient, wavelet_covariance
from dpress.mechanisms.linear.binary_tree import BinaryTree

SIZES = [*range(1, 14), 16, 25, 27, 33, 64]
HUGE = 2**60


def all_ranges(cells: int) -> list[Range]:
    return [Range(left, right) for left in range(1, cells + 1) for right in range(left, cells + 1)]


@pytest.mark.parametrize("cells", SIZES)
def test_algorithm_3_and_theorem_2_agree_with_the_transform(cells: int) -> None:
    covariance = np.stack([Haar(cells).covariance(cell, 1.0) for cell in np.eye(cells)])
    entries = [[wavelet_covariance(cells, i, j) for j in range(1, cells + 1)] for i in range(1, cells + 1)]
    np.testing.assert_allclose(covariance, np.array(entries, dtype=float), atol=1e-12)
    for asked in all_ranges(cells)[::3]:
        weights = asked.weights(cells)
        assert float(wavelet_coefficient(cells, asked)) == pytest.approx(weights @ covariance @ weights)


@pytest.mark.parametrize("cells", SIZES)
@pytest.mark.parametrize("branching", [2, 3, 5])
@pytest.mark.parametrize("root", [True, False])
def test_trees_agree_with_least_squares_on_arrays(cells: int, branching: int, root: bool) -> None:  # noqa: FBT001
    tree = Tree(cells, branching, root)
    for variances in ([1.0] * len(tree.levels), [0.5 + 0.3 * level for level in range(len(tree.levels))]):
        rows = np.repeat(variances, tree.levels)
        found = [tree_coefficient(tree, asked, variances) for asked in all_ranges(cells)]
        for asked, coefficient in list(zip(all_ranges(cells), found, strict=True))[::3]:
            weights = asked.weights(cells)
            assert coefficient == pytest.approx(weights @ tree.covariance(weights, rows))
        assert tree_average(tree, variances) == pytest.approx(np.mean(found))


@pytest.mark.parametrize("cells", SIZES)
def test_covers_agree_with_the_cover_on_arrays(cells: int) -> None:
    decoder = BinaryTree(cells).decoder
    for asked in all_ranges(cells):
        assert cover_size(Tree(cells), asked) == decoder.query_variance(1.0, [asked.weights(cells)])


def test_means_are_the_exact_ones_of_the_document() -> None:
    assert [haar_average(Haar(n)) for n in (2, 4, 8)] == [2 / 3, 3 / 5, 187 / 288]
    assert haar_average(Haar(1024)) == 1.695420742500119
    assert tree_average(Tree(1024)) == pytest.approx(1.9692089257248304, rel=1e-15)


def test_blocks_of_a_row_of_cells_hold_the_energy_of_all_their_ranges() -> None:
    for cells, width in ((8, 2), (9, 3), (12, 4), (7, 7)):
        total = 0
        for asked in all_ranges(cells):
            weights = asked.weights(cells).astype(int)
            total += int((weights.reshape(-1, width).sum(axis=1) ** 2).sum())
        assert blocks_energy(cells, width) == total


def test_two_to_the_sixty_cells_are_no_harder() -> None:
    asked = Range(12_345, 2**59 + 77)
    assert isinstance(wavelet_coefficient(HUGE, asked), Fraction)
    assert 0 < float(wavelet_coefficient(HUGE, asked)) < 120
    assert 0 < tree_coefficient(Tree(HUGE, 16, root=False), asked) < 2 * 15 * 15
    assert 0 < cover_size(Tree(HUGE), asked) <= 2 * 60
    assert haar_average(Haar(HUGE)) == pytest.approx(60 / 6 + 1 / 36)
    assert math.isfinite(tree_average(Tree(HUGE)))
    with pytest.raises(ValueError, match=r"needs about [\d,]+ bytes"):
        haar_average(Haar(HUGE - 1))


def test_entries_outside_the_table_are_refused() -> None:
    with pytest.raises(ValueError, match="cells are counted from 1 to 8, got 0 and 3"):
        wavelet_covariance(8, 0, 3)
