"""DAWA (Li, Hay and Miklau 2014), written after the paper, for comparison: buckets that follow the data, then a tree.

Half of epsilon chooses buckets of 2^k neighbouring cells, by dynamic programming over their noisy L1 distances from
even, each with the cost of a bucket's noise; the other half counts the buckets by a tree of the best branching (in the
place of the paper's greedy tree), and every bucket is spread evenly. Floating-point noise: never for a release.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from dpress.core.maps.ranges import AllRanges
from dpress.mechanisms.linear.hierarchy import Hierarchy, best_tree

Array = npt.NDArray[np.float64]
SHARE = 0.5  # of epsilon for the buckets


@njit(cache=True)
def _uneven(counts: Array, lengths: int) -> Array:
    """Return for every cell and k the L1 distance from even of the 2^k cells that end there."""
    out = np.zeros((counts.size, lengths))
    for k in range(1, lengths):
        length = 1 << k
        for last in range(length - 1, counts.size):
            inside = counts[last - length + 1 : last + 1]
            out[last, k] = np.abs(inside - inside.mean()).sum()
    return out


@njit(cache=True)
def _starts(costs: Array) -> npt.NDArray[np.int64]:
    """Return for every cell the start of the bucket that ends there, where the buckets up to it cost least."""
    least, starts = np.zeros(len(costs) + 1), np.zeros(len(costs), np.int64)
    for last in range(len(costs)):
        least[last + 1] = np.inf
        for k in range(costs.shape[1]):
            start = last - (1 << k) + 1
            if start >= 0 and least[start] + costs[last, k] <= least[last + 1]:
                least[last + 1], starts[last] = least[start] + costs[last, k], start
    return starts


def dawa(counts: Array, epsilon: float, draws: np.random.Generator) -> Array:  # noqa: TID251  # not for a release
    """Return estimated counts of all cells.

    Args:
        counts: shape (cells,).
        epsilon: the promise, add-remove.
        draws: of Laplace noise.
    """
    first, second = SHARE * epsilon, (1 - SHARE) * epsilon
    lengths = counts.size.bit_length()
    costs = _uneven(counts, lengths)
    costs[:, 1:] += draws.laplace(0, 2 / first, costs[:, 1:].shape)  # one person moves the distance by less than 2
    starts, buckets, end = _starts(np.maximum(costs + 1 / second, 1 / second)), [counts.size], counts.size
    while end > 0:
        end = int(starts[end - 1])
        buckets.append(end)
    edges = np.array(buckets[::-1])
    sums = np.add.reduceat(counts, edges[:-1])
    widths = np.diff(edges)
    return np.repeat(_counted(sums, second, draws) / widths, widths)


def _counted(sums: Array, epsilon: float, draws: np.random.Generator) -> Array:  # noqa: TID251  # as above
    if sums.size == 1:
        return sums + draws.laplace(0, 1 / epsilon, 1)
    tree = Hierarchy(sums.size, *best_tree(AllRanges(sums.size), 2))
    levels = len(tree.map.levels)
    answers = tree.map.apply(sums) + draws.laplace(0, levels / epsilon, tree.map.rows)
    return np.asarray(tree.map.reconstruct(answers, 1.0))
