"""Exact error before any budget is spent: coefficients, averages over all ranges, and the lower bound."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Relation
from dpress.core.errors import NotSupported
from dpress.core.haar import Haar
from dpress.core.linear import Array
from dpress.core.tree import Tree
from dpress.core.workload import Workload

LARGEST_TABLE = 1 << 26  # cells that one machine walks through


def all_ranges_energy(values: Array, starts: npt.NDArray[np.intp]) -> float:
    """Return the sum over blocks b of sum over all ranges [l, r] of (b . 1[l..r])^2.

    The Gram matrix of all ranges is V_ij = min(i, j) (n + 1) - i j (1-based), so b V b^T needs only the block's suffix
    sums and first moment: O(n) for all blocks of one level together.

    Args:
        values: shape (n,), the blocks' entries side by side.
        starts: shape (blocks,), the 0-based start of every block, increasing from 0.
    """
    cells = len(values)
    positions = np.arange(1, cells + 1)
    lengths = np.diff(starts, append=cells)
    totals = np.add.reduceat(values, starts)
    running = np.cumsum(values)
    before = np.repeat(running[starts] - values[starts], lengths)
    suffix = np.repeat(totals, lengths) - (running - values - before)
    squares = np.add.reduceat(suffix**2, starts) + starts * totals**2
    moments = np.add.reduceat(values * positions, starts)
    return float((cells + 1) * squares.sum() - (moments**2).sum())


def average_over_ranges(total: float, cells: int) -> float:
    """Return a sum over all ranges as the mean over all n (n + 1) / 2 of them."""
    return total / (cells * (cells + 1) / 2)


def haar_average(matrix: Haar) -> float:
    """Return the average error coefficient of all ranges under `privelet`, exact for every n.

    Closed form for n = 2^h: h/6 + 1/36 + 1/(2(n+1)) + 1/(2n) + 2/(9 n^2) (papers: ranges); O(n log n) otherwise.
    """
    cells = matrix.cells
    if cells == matrix.rows:
        exact = Fraction(matrix.height, 6) + Fraction(1, 36) + Fraction(1, 2 * (cells + 1))
        return float(exact + Fraction(1, 2 * cells) + Fraction(2, 9 * cells**2))
    check_array(cells)
    total = all_ranges_energy(np.ones(cells), np.array([0])) / matrix.rows**2
    for level in range(matrix.height):
        size = matrix.rows >> level
        signs = np.where(np.arange(cells) % size < size // 2, 1.0, -1.0)
        total += all_ranges_energy(signs, np.arange(0, cells, size)) / size**2
    return average_over_ranges(total, cells)


def tree_average(tree: Tree, variances: Sequence[float] = ()) -> float:
    """Return the mean variance of all ranges under least squares on a tree, one noise variance a level.

    For n = b^h the covariance is diagonal in the contrasts between the children of every node: with E(s) the energy of
    all blocks of s cells (`blocks_energy`), lambda_k = sum_{t<k} b^t / v_t, lambda_T the same over all levels,
    mean = [ sum_k (E(s/b) / (s/b) - E(s) / s) / lambda_k + E(n) / (n lambda_T) ] / (n (n + 1) / 2), s = b^k.
    Otherwise the covariance is V_leaf - sum over inner nodes of a_u a_u^T / (v_u + S_u) (`Tree.cell_variances`),
    O(n log n).

    Args:
        tree: what was measured.
        variances: of the noise on every measured level, from the top; left out, 1.
    """
    by_height = [*reversed(variances or (1.0,) * len(tree.levels)), math.inf][: tree.height + 1]
    if tree.cells == tree.branching**tree.height:
        return average_over_ranges(_complete_tree_energy(tree, by_height), tree.cells)
    check_array(tree.cells)
    return average_over_ranges(_tree_energy(tree, by_height), tree.cells)


def _complete_tree_energy(tree: Tree, by_height: Sequence[float]) -> float:
    total, eigenvalue, width = 0.0, 0.0, 1
    for variance in by_height[:-1]:
        eigenvalue += width / variance
        parent = width * tree.branching
        contrasts = Fraction(blocks_energy(tree.cells, width), width) - Fraction(
            blocks_energy(tree.cells, parent), parent
        )
        total += float(contrasts) / eigenvalue
        width = parent
    eigenvalue += width / by_height[-1]
    return total + float(Fraction(blocks_energy(tree.cells, tree.cells), tree.cells)) / eigenvalue


def _tree_energy(tree: Tree, by_height: Sequence[float]) -> float:
    cells = tree.cells
    size, width = np.full(cells, by_height[0]), 1
    reach = size
    total = by_height[0] * blocks_energy(cells, 1)
    for variance in by_height[1:]:
        width *= tree.branching
        sums = tree.children(size).sum(axis=1)
        explained = np.repeat(np.sqrt(1 / (variance + sums)), width)[:cells]
        total -= all_ranges_energy(reach * explained, np.arange(0, cells, width))
        keep = 1 / (1 + sums / variance)
        reach, size = reach * np.repeat(keep, width)[:cells], sums * keep
    return total


def blocks_energy(cells: int, width: int) -> int:
    """Return the sum over the whole blocks of `width` cells and over all ranges of (cells of the block in the range)^2.

    Exact, for n a multiple of the width, O(1): a block after o cells has
    (n + 1) (s^2 o + s (s + 1) (2 s + 1) / 6) - (s o + s (s + 1) / 2)^2, summed over o = 0, s, ..., n - s.
    """
    s, blocks = width, cells // width
    first = s * blocks * (blocks - 1) // 2
    second = s * s * (blocks - 1) * blocks * (2 * blocks - 1) // 6
    own, half = s * (s + 1) * (2 * s + 1) // 6, s * (s + 1) // 2
    return (cells + 1) * (s * s * first + blocks * own) - (s * s * second + 2 * s * half * first + blocks * half**2)


def check_array(cells: int) -> None:
    """Refuse a table too large to walk through, naming the bytes it would take.

    Raises:
        NotSupported: more than 2^26 cells.
    """
    if cells > LARGEST_TABLE:
        raise NotSupported(
            f"the mean over all ranges of {cells} cells needs about {24 * cells:,} bytes here; "
            "it has a closed form where the number of cells is a power of the branching"
        )


def lower_bound(workload: Workload, relation: Relation) -> float:
    """Return the least mean error coefficient times squared sensitivity that any strategy can have.

    Formula: (sum of the workload's singular values)^2 / (n m), m queries. Under replace-one the number of rows is
    public, so the largest singular value may be lost, and a strategy of diameter d fits in a ball of radius
    d / sqrt(2) (Jung): 2 (sum of the other singular values)^2 / (n m).
    It holds for L2, and so for L1, which is never smaller.
    Source: Li and Miklau 2013, singular value bound.
    """
    values, times = workload.singular_values
    total = float(values @ times)
    if relation is Relation.REPLACE_ONE:
        total = math.sqrt(2) * (total - float(values[0]))
    return total**2 / workload.cells / workload.queries
