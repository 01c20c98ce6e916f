"""Errors of many ranges without arrays, against the arrays; and at sizes where no array fits."""

import functools
import itertools

import numpy as np
import pytest
from papers.ranges_wavelets import wavelet_coefficient, wavelet_covariance

from dpress.core.maps.p_identity_map import PIdentity
from dpress.core.maps.ranges import Range, Ranges
from dpress.core.maps.sine import Sine
from dpress.core.maps.tree import Tree
from dpress.inference.least_squares import LeastSquares
from dpress.inference.range_error import (
    CHUNK,
    cover_answers,
    cover_sizes,
    p_identity_variances,
    wavelet_variances,
)
from dpress.inference.tree_ranges import tree_variances
from dpress.mechanisms.linear import sine_ranges
from dpress.mechanisms.linear.haar import Haar
from dpress.mechanisms.linear.sine_ranges import FEW, sine_variances

SIZES = range(1, 21)
BRANCHINGS = [2, 3, 5, 7, 20]
LARGE = 1013
HUGE = 2**60
EXACT = 1e-11


def all_ranges(cells: int) -> Ranges:
    left, right = np.triu_indices(cells)
    return Ranges(cells, left + 1, right + 1)


def drawn(seed: int) -> np.random.Generator:  # noqa: TID251
    return np.random.default_rng(seed)  # noqa: TID251  # made-up cases, no noise


def random_ranges(cells: int, size: int, seed: int = 0) -> Ranges:
    left, right = np.sort(drawn(seed).integers(1, cells, (2, size), endpoint=True), axis=0)
    return Ranges(cells, left, right)


def each(ranges: Ranges) -> list[Range]:
    return [Range(left, right) for left, right in zip(ranges.left.tolist(), ranges.right.tolist(), strict=True)]


@functools.cache
def rows(cells: int) -> np.ndarray:
    return np.array([asked.weights(cells) for asked in each(all_ranges(cells))])


def dense(cells: int, matrix: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """The variances of all ranges from the matrix itself, by brute force."""
    covariance = np.linalg.inv(matrix.T @ (matrix / variances[:, None]))
    return np.einsum("ai,ij,aj->a", rows(cells), covariance, rows(cells))


def columns(matrix: Tree | Haar) -> np.ndarray:
    return np.stack([matrix.apply(cell) for cell in np.eye(matrix.cells)], axis=1)


def check_against_least_squares(
    matrix: Tree | Haar | PIdentity | Sine, found: np.ndarray, ranges: Ranges, variance: float | np.ndarray
) -> None:
    decoder = LeastSquares(matrix, (ranges.cells,))
    want = [decoder.query_variance(variance, [asked.weights(ranges.cells)]) for asked in each(ranges)]
    np.testing.assert_allclose(found, want, rtol=1e-10)


def test_theorem_2_agrees_with_the_transform() -> None:
    for cells in SIZES:
        covariance = np.stack([Haar(cells).covariance(cell, 1.0) for cell in np.eye(cells)])
        entries = [[wavelet_covariance(cells, i, j) for j in range(1, cells + 1)] for i in range(1, cells + 1)]
        np.testing.assert_allclose(covariance, np.array(entries, dtype=float), atol=1e-12, err_msg=str(cells))


def test_wavelets_agree_with_algorithm_3_and_with_the_transform() -> None:
    for cells in SIZES:
        found = wavelet_variances(all_ranges(cells))
        covariance = np.stack([Haar(cells).covariance(cell, 1.0) for cell in np.eye(cells)])
        np.testing.assert_allclose(
            found,
            [float(wavelet_coefficient(cells, one)) for one in each(all_ranges(cells))],
            EXACT,
            err_msg=str(cells),
        )
        np.testing.assert_allclose(
            found, np.einsum("ai,ij,aj->a", rows(cells), covariance, rows(cells)), EXACT, err_msg=str(cells)
        )


@pytest.mark.parametrize("cells", [LARGE, 2**31 + 5, 2**40, HUGE - 12345, HUGE])
def test_wavelets_agree_with_algorithm_3_up_to_two_to_the_sixty(cells: int) -> None:
    wide = random_ranges(cells, 100)
    ends = [(1, cells), (2, cells), (1, cells - 1), (cells, cells), (cells // 2, cells // 2 + 1), (cells // 3, cells)]
    for ranges in (wide, Ranges.of(cells, [Range(*one) for one in ends])):
        want = [float(wavelet_coefficient(cells, one)) for one in each(ranges)]
        np.testing.assert_allclose(wavelet_variances(ranges), want, rtol=1e-14 * 60)


def test_trees_agree_with_brute_force() -> None:
    for case in itertools.product(SIZES, BRANCHINGS, [True, False]):
        cells, branching, root = case
        tree = Tree(cells, branching, root)
        noise = drawn(cells).uniform(0.01, 10, len(tree.levels))
        for variances in ([], noise.tolist()):
            spread = np.repeat(variances or [1.0] * len(tree.levels), tree.levels)
            found = tree_variances(tree, all_ranges(cells), variances)
            np.testing.assert_allclose(found, dense(cells, columns(tree), spread), rtol=1e-10, err_msg=str(case))


def test_trees_agree_with_least_squares_on_arrays() -> None:
    for case in itertools.product([LARGE, 1024], [2, 3, 16, 31, 2000]):
        cells, branching = case
        ranges, tree = random_ranges(cells, 40), Tree(cells, branching, root=False)
        noise = np.geomspace(0.01, 100, len(tree.levels))
        check_against_least_squares(tree, tree_variances(tree, ranges), ranges, 1.0)
        check_against_least_squares(
            tree, tree_variances(tree, ranges, noise.tolist()), ranges, np.repeat(noise, tree.levels)
        )


def test_a_tree_whose_levels_are_swapped_or_whose_ranges_are_shifted_is_told_apart() -> None:
    tree, ranges = Tree(20, 3), all_ranges(20)
    right = tree_variances(tree, ranges, [1.0, 2.0, 3.0, 4.0])
    inner = ranges.right < 20
    shifted = Ranges(20, ranges.left[inner] + 1, ranges.right[inner] + 1)
    assert not np.allclose(right, tree_variances(tree, ranges, [4.0, 3.0, 2.0, 1.0]), rtol=0.01)
    assert not np.allclose(right[inner], tree_variances(tree, shifted, [1.0, 2.0, 3.0, 4.0]), rtol=0.01)
    with pytest.raises(ValueError, match="expected 4 variances, one for each level, got 3"):
        tree_variances(tree, ranges, [1.0, 2.0, 3.0])


def brute_cover(tree: Tree, asked: Range) -> list[int]:
    """The nodes within the range whose parent is not, or is not measured; numbered as the answers."""
    matrix = columns(tree)
    inside = (matrix @ asked.weights(tree.cells)) == matrix.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(tree.levels)])
    found = []
    for level, size in enumerate(tree.levels):
        for place in range(size):
            parent = starts[level - 1] + place // tree.branching if level else None
            if inside[starts[level] + place] and (parent is None or not inside[parent]):
                found.append(starts[level] + place)
    return found


@pytest.mark.slow
def test_covers_agree_with_brute_force() -> None:
    for case in itertools.product(SIZES, [(2, True), (3, True), (3, False), (7, True), (20, False)]):
        cells, (branching, root) = case
        tree, ranges = Tree(cells, branching, root), all_ranges(cells)
        answers = drawn(2).integers(-1000, 1000, tree.rows)
        covers = [brute_cover(tree, one) for one in each(ranges)]
        assert cover_sizes(tree, ranges).tolist() == [len(nodes) for nodes in covers], case
        assert cover_answers(tree, answers, ranges).tolist() == [answers[nodes].sum() for nodes in covers], case
        np.testing.assert_allclose(
            cover_answers(tree, answers / 3, ranges),
            [answers[nodes].sum() / 3 for nodes in covers],
            atol=1e-9,
            err_msg=str(case),
        )


def test_the_answers_of_a_cover_without_noise_are_the_counts() -> None:
    counts = drawn(4).integers(0, 50, LARGE)
    running = np.concatenate([[0], np.cumsum(counts)])
    for tree in (Tree(LARGE), Tree(LARGE, 5, root=False)):
        ranges = random_ranges(LARGE, CHUNK + 5)
        want = running[ranges.right] - running[ranges.left - 1]
        np.testing.assert_array_equal(cover_answers(tree, tree.apply(counts), ranges), want)


def p_identity(cells: int, sums: int) -> PIdentity:
    return PIdentity.from_theta(drawn(cells).random((sums, cells)) * 0.5)


def test_p_identity_agrees_with_brute_force() -> None:
    for cells in SIZES:
        matrix = p_identity(cells, 3)
        whole = np.vstack([np.diag(matrix.diagonal.astype(float)), matrix.sums.astype(float)])
        want = dense(cells, whole, np.full(matrix.rows, 7.0))
        np.testing.assert_allclose(
            p_identity_variances(matrix, all_ranges(cells), 7.0), want, rtol=1e-10, err_msg=str(cells)
        )


def test_p_identity_agrees_with_least_squares_on_arrays() -> None:
    matrix, ranges = p_identity(LARGE, 11), random_ranges(LARGE, 40)
    check_against_least_squares(matrix, p_identity_variances(matrix, ranges, 2.5), ranges, 2.5)


def test_the_sine_strategy_agrees_with_brute_force() -> None:
    for cells in SIZES:
        matrix = Sine((cells,))
        covariance = np.stack([matrix.covariance(cell, 3.0) for cell in np.eye(cells)])
        want = np.einsum("ai,ij,aj->a", rows(cells), covariance, rows(cells))
        np.testing.assert_allclose(sine_variances(matrix, all_ranges(cells), 3.0), want, EXACT, err_msg=str(cells))


@pytest.mark.parametrize("size", [5, FEW + 8, 2000])
def test_the_sine_strategy_agrees_with_least_squares_on_arrays(size: int) -> None:
    ranges, matrix = random_ranges(LARGE, size), Sine((LARGE,))
    found = sine_variances(matrix, ranges, 2.5)[:50]
    check_against_least_squares(matrix, found, Ranges(LARGE, ranges.left[:50], ranges.right[:50]), 2.5)


@pytest.mark.parametrize("shared", ["first", "last", "neither"])
def test_sharing_an_end_changes_nothing(shared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sine_ranges, "BLOCK", 3 * LARGE)  # several blocks of transforms
    ends = random_ranges(LARGE, 300, seed=8)
    left = np.minimum(ends.left, 1 + ends.left % 7) if shared == "first" else ends.left
    right = np.maximum(ends.right, LARGE - ends.right % 7) if shared == "last" else ends.right
    ranges, matrix = Ranges(LARGE, left, right), Sine((LARGE,))
    found = sine_variances(matrix, ranges, 1.0)
    alone = [sine_variances(matrix, Ranges.of(LARGE, [one]), 1.0)[0] for one in each(ranges)[::10]]
    np.testing.assert_allclose(found[::10], alone, EXACT)


def test_a_sine_strategy_over_several_axes_is_refused() -> None:
    with pytest.raises(ValueError, match="over one axis of 6 cells"):
        sine_variances(Sine((2, 3)), all_ranges(6), 1.0)


def test_two_to_the_sixty_cells_are_no_harder() -> None:
    ranges = random_ranges(HUGE, 500)
    assert ((wavelet_variances(ranges) > 0) & (wavelet_variances(ranges) < 60)).all()
    for branching in (2, 3, 16, 2**30, HUGE):
        tree = Tree(HUGE, branching, root=False)
        found, sizes = tree_variances(tree, ranges), cover_sizes(tree, ranges)
        assert (found > 0).all()
        assert (found <= sizes * (1 + EXACT)).all()  # least squares beats the cover, which is one of its rivals
    assert (cover_sizes(Tree(HUGE), ranges) <= 2 * 60).all()


def test_a_tree_of_one_level_is_the_length_and_a_measured_root_bounds_it() -> None:
    ranges = random_ranges(HUGE, 500)
    length = (ranges.right - ranges.left + 1).astype(float)
    np.testing.assert_allclose(tree_variances(Tree(HUGE, HUGE, root=False), ranges), length, EXACT)
    want = length * ((HUGE - length) + 1) / (HUGE + 1.0)  # L - L^2 / (n + 1), without cancelling
    np.testing.assert_allclose(tree_variances(Tree(HUGE, HUGE), ranges), want, EXACT)
    whole = Ranges.of(HUGE, [Range(1, HUGE)])
    assert tree_variances(Tree(HUGE, HUGE), whole)[0] == pytest.approx(1.0, rel=EXACT)


def test_a_range_and_its_mirror_image_have_one_variance_on_a_complete_tree() -> None:
    ranges = random_ranges(3**37, 300)
    mirrored = Ranges(3**37, 3**37 + 1 - ranges.right, 3**37 + 1 - ranges.left)
    tree = Tree(3**37, 3)
    np.testing.assert_allclose(tree_variances(tree, ranges), tree_variances(tree, mirrored), EXACT)


def test_no_ranges_and_more_than_a_chunk_of_them() -> None:
    none, many = Ranges(LARGE, np.empty(0, np.int64), np.empty(0, np.int64)), random_ranges(LARGE, 2 * CHUNK + 3)
    tree = Tree(LARGE, 3)
    for price in (wavelet_variances, lambda ranges: tree_variances(tree, ranges), lambda r: cover_sizes(tree, r)):
        assert price(none).shape == (0,)
        found = price(many)
        np.testing.assert_array_equal(found[-5:], price(Ranges(LARGE, many.left[-5:], many.right[-5:])))
    assert sine_variances(Sine((LARGE,)), none, 1.0).shape == (0,)


def test_entries_outside_the_table_are_refused() -> None:
    with pytest.raises(ValueError, match="cells are counted from 1 to 8, got 0 and 3"):
        wavelet_covariance(8, 0, 3)
