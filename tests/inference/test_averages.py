"""Mean variances over all ranges: against dense algebra, against another exact formula, and at 2^60 cells."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.maps.linear import LinearMap
from dpress.core.maps.tree import Tree
from dpress.inference.averages import blocks_energy, cover_average, haar_average, tree_average
from dpress.mechanisms.linear.haar import Haar

Dense = Callable[[LinearMap], np.ndarray]
SIZES = range(1, 41)
BRANCHINGS = range(2, 8)
HUGE = 2**60
LARGE = [2**59 + 1, 2**59 + 2**31 + 7, 2**60 - 1, 2**60 - 3, 3**37, 3**37 - 1, 10**18]


def mean_over_ranges(covariance: np.ndarray) -> float:
    """The definition: every range's w Cov w^T, averaged."""
    cells = len(covariance)
    sums = np.pad(covariance.cumsum(axis=0).cumsum(axis=1), (1, 0))
    left, right = np.triu_indices(cells + 1, 1)
    return float(np.mean(sums[right, right] - sums[left, right] - sums[right, left] + sums[left, left]))


def test_haar_average_is_the_mean_over_all_ranges(dense: Dense) -> None:
    for cells in [*SIZES, 64, 100, 127, 200]:
        back = np.linalg.inv(dense(Haar(Haar(cells).rows)))[:cells]
        assert math.isclose(haar_average(cells), mean_over_ranges(back @ back.T), rel_tol=1e-12), cells


def test_tree_average_is_the_mean_over_all_ranges(dense: Dense, uniforms: Callable[[int, int], np.ndarray]) -> None:
    for case in itertools.product([True, False], [*itertools.product(SIZES, BRANCHINGS), (100, 3), (129, 2), (30, 99)]):
        root, (cells, branching) = case
        tree = Tree(cells, branching, root)
        matrix = dense(tree)
        levels = len(tree.levels)
        for variances in ([], [1.0] * levels, np.exp(6 * uniforms(levels, cells) - 3).tolist()):
            weights = 1 / np.repeat(variances or [1.0] * levels, tree.levels)
            expected = mean_over_ranges(np.linalg.inv(matrix.T @ (weights[:, None] * matrix)))
            assert math.isclose(tree_average(tree, variances), expected, rel_tol=1e-11), case


def cover(start: int, stop: int, first: int, width: int, tree: Tree) -> int:
    """The recursion on the tree: a measured node inside the range counts one, any other hands down."""
    last = min(first + width, tree.cells)
    if first >= tree.cells or stop <= first or last <= start:
        return 0
    measured = tree.root or width < tree.cells or tree.cells == 1
    if start <= first and last <= stop and measured:
        return 1
    below = width // tree.branching
    return sum(cover(start, stop, child, below, tree) for child in range(first, last, below))


@pytest.mark.slow
def test_cover_average_is_the_mean_size_of_the_canonical_cover() -> None:
    for case in itertools.product([True, False], BRANCHINGS):
        root, branching = case
        for cells in SIZES:
            tree = Tree(cells, branching, root)
            sizes = [
                cover(*ends, 0, branching**tree.height, tree) for ends in itertools.combinations(range(cells + 1), 2)
            ]
            assert cover_average(tree) == float(Fraction(sum(sizes), len(sizes))), case


def test_means_are_the_exact_ones_of_the_document() -> None:
    assert [haar_average(n) for n in (2, 4, 8)] == [2 / 3, 3 / 5, 187 / 288]
    assert haar_average(1024) == 1.695420742500119
    assert tree_average(Tree(1024)) == pytest.approx(1.9692089257248306, rel=3e-16)
    assert round(cover_average(Tree(1024)), 4) == 8.0137


def test_energy_of_blocks_equals_brute_force() -> None:
    for cells, width in itertools.product(range(1, 14), range(1, 16)):
        blocks = np.arange(cells) // width
        total = 0
        for left, right in itertools.combinations(range(cells + 1), 2):
            total += int((np.bincount(blocks[left:right]) ** 2).sum())
        assert blocks_energy(cells, width) == total


class Runs:
    """The other formula, exact: V_leaf - sum over inner nodes u of a_u a_u^T / (v_u + S_u), a_u constant in runs."""

    def __init__(self, tree: Tree, variances: Sequence[Fraction]) -> None:
        self.tree, self.cells = tree, tree.cells
        by_height: list[Fraction | None] = [*reversed(variances), None]
        self.reach = self.size = variances[-1]  # of a whole node
        self.edge: list[tuple[int, int, Fraction]] = []  # start, width, value
        self.edge_size = Fraction(0)
        self.total = variances[-1] * blocks_energy(self.cells, 1)
        for height in range(1, tree.height + 1):
            self.rise(tree.branching**height, by_height[height])

    @property
    def mean(self) -> Fraction:
        return self.total * 2 / (self.cells * (self.cells + 1))

    def rise(self, width: int, variance: Fraction | None) -> None:
        below, start = width // self.tree.branching, self.cells - self.cells % width
        many = (self.cells - start) // below
        sums, edge_sums = self.size * self.tree.branching, self.size * many + self.edge_size
        if many:
            self.edge = [(start, many * below, self.reach), *self.edge]
        if start:
            whole = blocks_energy(self.cells, width) - self.energy([(start, self.cells - start, Fraction(1))])
            self.total -= self.reach**2 * whole * self.explained(sums, variance)
        self.reach, self.size = self.reach * self.kept(sums, variance), sums * self.kept(sums, variance)
        if self.edge:
            self.total -= self.energy(self.edge) * self.explained(edge_sums, variance)
            keep = self.kept(edge_sums, variance)
            self.edge = [(at, wide, value * keep) for at, wide, value in self.edge]
            self.edge_size = edge_sums * keep

    @staticmethod
    def explained(sums: Fraction, variance: Fraction | None) -> Fraction:
        return Fraction(0) if variance is None else 1 / (variance + sums)

    @staticmethod
    def kept(sums: Fraction, variance: Fraction | None) -> Fraction:
        return Fraction(1) if variance is None else variance / (variance + sums)

    def energy(self, runs: list[tuple[int, int, Fraction]]) -> Fraction:
        """sum_ij x_i x_j min(i, j) (n + 1 - max(i, j)), run by run."""
        total, before = Fraction(0), Fraction(0)
        for start, width, value in runs:
            moment = sum_of(start + width) - sum_of(start)
            after = (self.cells + 1) * width - moment
            squares = sum_of_squares(start + width) - sum_of_squares(start)
            # sum over i, j of min(i, j): every i once, and twice times how many lie after it
            least = 2 * ((start + width) * moment - squares) + moment
            total += 2 * before * value * after + value**2 * ((self.cells + 1) * least - moment**2)
            before += value * moment
        return total


def sum_of(last: int) -> int:
    return last * (last + 1) // 2


def sum_of_squares(last: int) -> int:
    return last * (last + 1) * (2 * last + 1) // 6


def exact(tree: Tree, variances: Sequence[Fraction]) -> Fraction:
    """The mean by the other formula; where the root is not measured it is what a root of infinite variance gives."""
    return Runs(tree, variances).mean


def test_tree_average_agrees_with_exact_arithmetic() -> None:
    for case in itertools.product(
        [1, 2, 7, 40, 81, 999, 1000, 1024, 1025], [(2, True), (2, False), (3, True), (10, False), (16, True)]
    ):
        cells, (branching, root) = case
        tree = Tree(cells, branching, root)
        for variances in (
            [Fraction(1)] * len(tree.levels),
            [Fraction(1 + level % 4, 3) for level in range(len(tree.levels))],
        ):
            found = tree_average(tree, [float(v) for v in variances])
            assert math.isclose(found, exact(tree, variances), rel_tol=1e-14), case


@pytest.mark.slow
def test_tree_average_is_accurate_at_any_size() -> None:
    for case in itertools.product(LARGE, [(2, True), (3, True), (16, False), (1000, False), (2**40, True)]):
        cells, (branching, root) = case
        tree = Tree(cells, branching, root)
        levels = len(tree.levels)
        for variances in ([Fraction(1)] * levels, [Fraction(4) ** (level * 7 % 11 - 5) for level in range(levels)]):
            found = tree_average(tree, [float(v) for v in variances])
            assert math.isclose(found, exact(tree, variances), rel_tol=1e-13), case


@pytest.mark.parametrize("cells", LARGE[:4])
def test_neighbouring_sizes_have_nearly_the_same_mean(cells: int) -> None:
    assert math.isclose(haar_average(cells), haar_average(cells + 1), rel_tol=1e-15)
    assert math.isclose(cover_average(Tree(cells, 3)), cover_average(Tree(cells + 1, 3)), rel_tol=1e-15)
    # just after 2^59 the few cells of the last node are known so well that one more of them still shows
    tolerance = 1e-14 if cells > HUGE - 4 else 1e-6
    assert math.isclose(tree_average(Tree(cells)), tree_average(Tree(cells + 1)), rel_tol=tolerance)


def test_the_limits_are_those_of_the_closed_form() -> None:
    for cells in (HUGE, HUGE - 1):
        assert haar_average(cells) == pytest.approx(60 / 6 + 1 / 36, rel=1e-15)
        assert cover_average(Tree(cells)) == pytest.approx(60 - 2, abs=1e-12)
    assert tree_average(Tree(HUGE, HUGE, root=False)) == pytest.approx((HUGE + 2) / 3, rel=1e-15)


def test_levels_that_do_not_fit_the_variances_are_refused() -> None:
    with pytest.raises(ValueError, match="expected one variance for each of the 3 measured levels, got 4"):
        tree_average(Tree(8, root=False), [1.0] * 4)


def test_an_average_of_the_next_size_is_rejected(dense: Dense) -> None:
    """The control: the comparisons tell neighbouring sizes, branchings and levels apart."""
    matrix = dense(Tree(40))
    expected = mean_over_ranges(np.linalg.inv(matrix.T @ matrix))
    assert math.isclose(tree_average(Tree(40)), expected, rel_tol=1e-11)
    for wrong in (Tree(41), Tree(40, 3), Tree(40, root=False)):
        assert not math.isclose(tree_average(wrong), expected, rel_tol=1e-4)
    swapped = [1.0] * 5 + [1.001, 1.0]
    assert not math.isclose(tree_average(Tree(40), swapped), expected, rel_tol=1e-6)
    assert not math.isclose(haar_average(40), haar_average(41), rel_tol=1e-6)
    assert not math.isclose(cover_average(Tree(40)), cover_average(Tree(41)), rel_tol=1e-6)
