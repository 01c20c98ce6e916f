"""Exact error before any budget is spent: coefficients, averages over all ranges, and the lower bound."""

import math

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Relation
from dpress.core.haar import Haar
from dpress.core.linear import Array
from dpress.core.tree import Tree
from dpress.core.workload import Workload


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

    For n = 2^h it equals h/6 + 1/36 + 1/(2(n+1)) + 1/(2n) + 2/(9 n^2) (papers: ranges). O(n log n).
    """
    cells = matrix.cells
    total = all_ranges_energy(np.ones(cells), np.array([0])) / matrix.rows**2
    for level in range(matrix.height):
        size = matrix.rows >> level
        signs = np.where(np.arange(cells) % size < size // 2, 1.0, -1.0)
        total += all_ranges_energy(signs, np.arange(0, cells, size)) / size**2
    return average_over_ranges(total, cells)


def tree_average(matrix: Tree) -> float:
    """Return the average error coefficient of all ranges under least squares on a tree with equal noise.

    The covariance is I minus, for every inner node u, kappa_u a_u a_u^T with kappa_u = 1 / (1 + S_u), a_u the product
    of 1 / (1 + S) over the inner nodes below u on the way to the leaf, S the sum of the children's
    s = S / (1 + S) (s = 1 at a leaf). O(n log n).
    """
    cells = matrix.cells
    size, reach, width = np.ones(cells), np.ones(cells), 1
    total = all_ranges_energy(np.ones(cells), np.arange(cells))
    for _ in range(matrix.height):
        width *= matrix.branching
        sums = matrix.children(size).sum(axis=1)
        keep = 1 / (1 + sums)
        starts = np.arange(0, cells, width)
        spread = np.repeat(keep, width)[:cells]
        total -= all_ranges_energy(reach * np.sqrt(spread), starts)
        reach, size = reach * spread, sums * keep
    return average_over_ranges(total, cells)


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
