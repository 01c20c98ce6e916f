"""Exact error of many ranges at once, without forming anything as long as the table: wavelets, covers, p-Identity.

Cells are counted from 1 and both ends of a range are included. Coefficients are in units of the noise variance; levels
of a tree run from the top, as `Tree.levels`. Trees by least squares: `inference.tree_ranges`; the sine strategy:
`mechanisms.linear.sine_ranges`.
"""

from collections.abc import Callable, Iterator

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.p_identity_map import PIdentity
from dpress.core.maps.ranges import Places, Ranges
from dpress.core.maps.tree import Tree

CHUNK = 1 << 14  # ranges taken at a time, so that what is made on the way stays in cache


def by_chunks(ranges: Ranges, price: Callable[[Places, Places], Numbers], chunk: int = CHUNK) -> Array:
    """Return a function of the ranges' first cells (from 0) and the cells after their last, a chunk at a time."""
    out = np.empty(ranges.size)
    for first in range(0, ranges.size, chunk):
        part = slice(first, first + chunk)
        out[part] = price(ranges.left[part].astype(np.int64) - 1, ranges.right[part].astype(np.int64))
    return out


def wavelet_variances(ranges: Ranges) -> Array:
    """Return the error coefficient of every range under `privelet`, O(log n) a range.

    Formula: (length / 2^h)^2 + sum over heights k of (d / 2^k)^2 of the at most two nodes that hold an end, d the cells
    of the range in the node's left half less those in its right half. With c(x) = min(x mod 2^k, -x mod 2^k) the node
    of the first end has d = -c(start), that of the last c(stop), one that holds both c(stop) - c(start). Nothing
    cancels: relative error below h 2^-52. The same numbers as the paper's Algorithm 3.
    Paper: ranges, Theorem 2.

    Args:
        ranges: of a table of n <= 2^60 cells, padded to 2^h.

    >>> from dpress.core.maps.ranges import Range
    >>> wavelet_variances(Ranges.of(8, [Range(3, 7)]))
    array([0.96875])
    """
    height = (ranges.cells - 1).bit_length()

    def price(start: Places, stop: Places) -> Array:
        total = np.asarray((stop - start) * 0.5**height) ** 2
        meet = start ^ stop
        for level in range(1, height + 1):
            first, last = _triangle(start, level), _triangle(stop, level)
            shared = np.where(meet >> level == 0, first, 0)
            total += (((first - shared) * 0.5**level) ** 2) + ((last - shared) * 0.5**level) ** 2
        return total

    return by_chunks(ranges, price)


def _triangle(places: Places, level: int) -> Places:
    """Return the distance to the nearest multiple of 2^level."""
    mask = (1 << level) - 1
    return np.asarray(np.minimum(places & mask, -places & mask))


def cover_sizes(tree: Tree, ranges: Ranges) -> Places:
    """Return the number of nodes in the canonical cover of every range, O(log n) a range.

    The cover holds a measured node where the range holds all its cells but not all of a measured parent's.

    >>> from dpress.core.maps.ranges import Range
    >>> cover_sizes(Tree(8), Ranges.of(8, [Range(3, 7)]))
    array([3])
    """

    def price(start: Places, stop: Places) -> Places:
        total = np.zeros(start.size, np.int64)
        for first, before, after, last in _cover(tree, start, stop):
            total += (before - first) + (last - after)
        return total

    return by_chunks(ranges, price).astype(np.int64)


def cover_answers(tree: Tree, answers: Numbers, ranges: Ranges) -> Array:
    """Return the sum of the answers over the canonical cover of every range, by one running sum a level.

    Whole answers add up exactly (below 2^53 if they are floats); others to 2^-53 times rows times the sum of a level.

    Args:
        tree: what was measured.
        answers: of all measured nodes, level by level from the top, shape (rows,).
        ranges: of the tree's cells.
    """
    running = [np.concatenate([np.zeros(1, level.dtype), np.cumsum(level)]) for level in tree.split(answers)[::-1]]

    def price(start: Places, stop: Places) -> Numbers:
        total = np.zeros(start.size, running[0].dtype)
        for sums, (first, before, after, last) in zip(running, _cover(tree, start, stop), strict=True):
            total += (sums[before] - sums[first]) + (sums[last] - sums[after])
        return total

    return by_chunks(ranges, price)


def _cover(tree: Tree, first: Places, last: Places) -> Iterator[tuple[Places, Places, Places, Places]]:
    """Yield for every measured level, from the leaves, the cover's nodes: first..before-1 and after..last-1, from 0."""
    *above, size = tree.levels
    for parents in reversed(above):
        inner_first = -(-first // tree.branching)
        inner_last = np.where(last == size, parents, last // tree.branching)
        some = inner_first < inner_last
        before = np.where(some, inner_first * tree.branching, last)
        after = np.where(some, np.minimum(inner_last * tree.branching, size), last)
        yield first, before, after, last
        first, last, size = np.where(some, inner_first, 0), np.where(some, inner_last, 0), parents
    yield first, last, last, last


def p_identity_variances(matrix: PIdentity, ranges: Ranges, variance: float) -> Array:
    """Return the variance of every range under a p-Identity strategy, in counts squared, O(p) a range.

    Formula: v (sum of 1 / a_j^2 - |sum of z_j|^2) over the range's cells, z = C^-1 Theta diag(1 / a) with
    Theta = B diag(1 / a) and C C^T = I + Theta Theta^T (Woodbury, `PIdentity.covariance`), by running sums. The
    difference loses as many digits as it is smaller than its first term.

    Args:
        matrix: what was measured.
        ranges: of the matrix's cells.
        variance: of the noise on every answer, in the answers' units squared.
    """
    scale = 1 / matrix.diagonal.astype(np.float64)
    theta = matrix.sums * scale
    factor = np.linalg.cholesky(np.eye(len(theta)) + theta @ theta.T)
    alone = _running(scale[:, None] ** 2)[:, 0]
    shared = _running(np.asarray(np.linalg.solve(factor, theta * scale)).T)

    def price(start: Places, stop: Places) -> Array:
        common = shared[stop] - shared[start]
        return np.asarray(variance * (alone[stop] - alone[start] - np.einsum("ij,ij->i", common, common)))

    return by_chunks(ranges, price)


def _running(columns: Array) -> Array:
    """Return running sums down the columns, after a row of zeros."""
    out = np.zeros((columns.shape[0] + 1, columns.shape[1]))
    np.cumsum(columns, axis=0, out=out[1:])
    return out
