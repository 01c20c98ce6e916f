"""Exact error of one range, or the mean over all of them, without forming anything as long as the table.

Cells are counted from 1 and both ends of a range are included. Coefficients are in units of the noise variance; levels
of a tree run from the top, as `Tree.levels`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.tree import Tree
from dpress.core.workload import Range


def wavelet_covariance(cells: int, i: int, j: int) -> Fraction:
    """Return entry (i, j) of the covariance of `privelet`'s cells, exactly.

    Formula: 4^-h + (1 - 4^-h) / 3 on the diagonal, (2/3) (4^-h - 4^-k) off it, k the height of the lowest common
    ancestor, the bit length of (i - 1) XOR (j - 1).
    Paper: ranges, Theorem 2.

    >>> wavelet_covariance(8, 1, 1), wavelet_covariance(8, 3, 4)
    (Fraction(11, 32), Fraction(-5, 32))
    """
    if not 1 <= min(i, j) <= max(i, j) <= cells:
        raise ValueError(f"cells are counted from 1 to {cells}, got {i} and {j}")
    least = Fraction(1, 4 ** (cells - 1).bit_length())
    height = ((i - 1) ^ (j - 1)).bit_length()
    return least + (1 - least) / 3 if height == 0 else Fraction(2, 3) * (least - Fraction(1, 4**height))


def wavelet_coefficient(cells: int, asked: Range) -> Fraction:
    """Return the error coefficient of a range under `privelet`, in O(log n) steps, exactly.

    The range's cells on the diagonal, plus for every height the pairs that meet there for the first time.
    Paper: ranges, Algorithm 3.

    >>> wavelet_coefficient(8, Range(3, 7))
    Fraction(31, 32)
    """
    height = (cells - 1).bit_length()
    total = (asked.right - asked.left + 1) * wavelet_covariance(cells, 1, 1)
    least, below = Fraction(1, 4**height), 0
    for level in range(1, height + 1):
        pairs = _pairs_within(asked.left - 1, asked.right, 1 << level)
        total += 2 * (pairs - below) * Fraction(2, 3) * (least - Fraction(1, 4**level))
        below = pairs
    return total


def _pairs_within(start: int, stop: int, width: int) -> int:
    """Return how many pairs of the cells start..stop-1 (from 0) share a block of this width."""
    first, last = start // width, (stop - 1) // width
    if first == last:
        return _pairs(stop - start)
    whole = (last - first - 1) * _pairs(width)
    return _pairs((first + 1) * width - start) + whole + _pairs(stop - last * width)


def _pairs(size: int) -> int:
    return size * (size - 1) // 2


def cover_size(tree: Tree, asked: Range) -> int:
    """Return the number of nodes in the canonical cover of a range, in O(b log n) steps.

    A node counts where the range holds all its cells but not all of its parent's.

    >>> cover_size(Tree(8), Range(3, 7))
    3
    """
    start, stop, width, total = asked.left - 1, asked.right, 1, 0
    while width < tree.cells:
        parent = width * tree.branching
        total += _whole(tree.cells, start, stop, width) - sum(
            _whole(tree.cells, max(start, first), min(stop, last), width)
            for first, last in _whole_span(tree.cells, start, stop, parent)
        )
        width = parent
    return total + _whole(tree.cells, start, stop, width)


def _whole_span(cells: int, start: int, stop: int, width: int) -> list[tuple[int, int]]:
    """Return the stretch of whole blocks of this width within start..stop, if there is any."""
    first = -(-start // width) * width
    last = cells if stop == cells else stop // width * width
    return [(first, last)] if first < last else []


def _whole(cells: int, start: int, stop: int, width: int) -> int:
    """Return the number of blocks of this width that lie within start..stop; the table's last block may be short."""
    return sum(-(-(last - first) // width) for first, last in _whole_span(cells, start, stop, width))


def tree_coefficient(tree: Tree, asked: Range, variances: Sequence[float] = ()) -> float:
    """Return the variance of a range under least squares on a tree, in O(b log n) steps.

    With s_u = 1^T M_u^-1 1, t_u = 1^T M_u^-1 w, q_u = w^T M_u^-1 w over the subtree u and S, T, Q their sums over the
    children: s = S v / (v + S), t = T v / (v + S), q = Q - T^2 / (v + S); a node within the range has t = q = s.

    Args:
        tree: what was measured.
        asked: the range.
        variances: of the noise on every measured level, from the top; left out, 1.
    """
    return _Visit(tree, asked.left - 1, asked.right, tuple(variances) or (1.0,) * len(tree.levels)).answer


@dataclass(frozen=True, slots=True)
class _Visit:
    """One walk down the two ends of a range; heights run from the leaves, 0."""

    tree: Tree
    start: int
    stop: int
    variances: tuple[float, ...]

    @property
    def answer(self) -> float:
        """The variance of the range."""
        return self._node(self.tree.height, 0, self._sizes())[1]

    def _variance(self, height: int) -> float:
        level = len(self.variances) - 1 - height
        return self.variances[level] if level >= 0 else float("inf")

    def _sizes(self) -> list[tuple[float, float]]:
        """Return for every height s of a whole node, and s of the table's last node."""
        leaf = self._variance(0)
        sizes = [(leaf, leaf)]
        for height in range(1, self.tree.height + 1):
            whole, last = sizes[-1]
            children = self._children(height, self._last(height))
            both = (self.tree.branching * whole, (children - 1) * whole + last)
            sizes.append((self._keep(height, both[0]), self._keep(height, both[1])))
        return sizes

    def _keep(self, height: int, total: float) -> float:
        return total / (1 + total / self._variance(height))

    def _last(self, height: int) -> int:
        width: int = self.tree.branching**height
        return (self.tree.cells - 1) // width

    def _children(self, height: int, node: int) -> int:
        present = self._last(height - 1) + 1 - node * self.tree.branching
        return min(self.tree.branching, present)

    def _node(self, height: int, node: int, sizes: list[tuple[float, float]]) -> tuple[float, float]:
        """Return t and q of one node that the range touches."""
        width: int = self.tree.branching**height
        first, last = node * width, min((node + 1) * width, self.tree.cells)
        if self.start <= first and last <= self.stop:
            own = sizes[height][node == self._last(height)]
            return own, own
        below = width // self.tree.branching
        total, square, size = 0.0, 0.0, 0.0
        for child in range(node * self.tree.branching, node * self.tree.branching + self._children(height, node)):
            size += sizes[height - 1][child == self._last(height - 1)]
            if child * below < self.stop and self.start < (child + 1) * below:
                t, q = self._node(height - 1, child, sizes)
                total, square = total + t, square + q
        variance = self._variance(height)
        return total / (1 + size / variance), square - total**2 / (variance + size)
