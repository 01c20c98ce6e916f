"""Mean variances over all n (n + 1) / 2 ranges, exact for every n, in a number of steps that grows with the height.

All whole nodes of a level share one pattern, so their sums over ranges are whole numbers in closed form; only the last
node of a level may be short, and it is followed up the right edge. Paper: ranges, "What dpress adds".
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dpress.core.maps.tree import Tree


def haar_average(cells: int) -> float:
    """Return the mean error coefficient of all ranges under `privelet`, correctly rounded, in O(log n) steps.

    With E_k the energy of all blocks of 2^k cells (`blocks_energy`), a difference has energy
    (left - right)^2 = 2 left^2 + 2 right^2 - (left + right)^2 and variance 4^-k, which telescopes: the sum over all
    ranges is E_0 / 2 - sum_{k=1..h-1} E_k / (2 4^k). For n = 2^h that is h/6 + 1/36 + 1/(2(n+1)) + 1/(2n) +
    2/(9 n^2), as a mean.

    >>> haar_average(4), haar_average(5)
    (0.6, 0.53125)
    """
    height = (cells - 1).bit_length()
    if height == 0:
        return 1.0
    total = blocks_energy(cells, 1) << 2 * height
    for level in range(1, height):
        total -= blocks_energy(cells, 1 << level) << 2 * (height - level)
    return total / (cells * (cells + 1) << 2 * height)


def tree_average(tree: Tree, variances: Sequence[float] = ()) -> float:
    """Return the mean variance of all ranges under least squares on a tree, in O(log n) steps.

    With s_u = 1^T Cov_u 1 over the subtree u and m_u the mean of the query's weights that least squares takes there,
    s_u = S v_u / (v_u + S), S the sum over the children c, the variance of a query is a sum of squares
    s_root m_root^2 + sum over inner nodes u of sum_c s_c (m_c - m_u)^2,
    so nothing cancels. Below a whole node m is the plain mean, and the mean over ranges of these squares is rational.

    Args:
        tree: what was measured.
        variances: of the noise on every measured level, from the top; left out, 1.

    Raises:
        ValueError: not one variance for every measured level.
    """
    by_height = _by_height(tree, variances)
    size, edge, total = by_height[0], _Edge(0.0, 0.0, 0.0), 0.0
    for stretch, variance in zip(_stretches(tree.cells, tree.branching), by_height[1:], strict=True):
        edge, between = edge.joined(size, stretch, variance)
        total += size * stretch.within + between
        size = _kept(tree.branching * size, variance)
    if edge.size:
        return total + edge.size * edge.energy
    return total + size * (_block_energy(tree.cells, 0, tree.cells) / (tree.cells**2 * _count(tree.cells)))


def cover_average(tree: Tree) -> float:
    """Return the mean number of measured nodes in the canonical cover of a range, correctly rounded, in O(log n) steps.

    A node is in the cover of the ranges that hold it but not its parent; (o + 1) (n - e + 1) ranges hold the node of
    the cells o + 1..e. Where the root is not measured, the range of all cells takes the root's children.

    >>> round(cover_average(Tree(1024)), 4)
    8.0137
    """
    total = sum(_holding(tree.cells, 1))
    for level in range(1, len(tree.levels)):
        below, width = tree.branching ** (level - 1), tree.branching**level
        whole, last = _holding(tree.cells, width)
        children = -(-tree.cells // below) - tree.branching * (tree.cells // width)
        total -= (tree.branching - 1) * whole + (children - 1) * last
    return total / _count(tree.cells)


def blocks_energy(cells: int, width: int) -> int:
    """Return the sum over all blocks of `width` cells and over all ranges of (cells of the block in the range)^2.

    The last block may be short. Exact, O(1).
    """
    blocks, rest = divmod(cells, width)
    return _first_blocks_energy(cells, width, blocks) + _block_energy(cells, cells - rest, rest)


def _first_blocks_energy(cells: int, width: int, blocks: int) -> int:
    """Return the sum of `_block_energy` over the starts o = 0, s, ..., (blocks - 1) s."""
    s = width
    first = s * blocks * (blocks - 1) // 2
    second = s * s * (blocks - 1) * blocks * (2 * blocks - 1) // 6
    squares, half = s * (s + 1) * (2 * s + 1) // 6, s * (s + 1) // 2
    shifted = s * s * second + 2 * s * half * first + blocks * half**2
    return (cells + 1) * (s * s * first + blocks * squares) - shifted


def _block_energy(cells: int, start: int, width: int) -> int:
    """Return, for s cells after o cells, (n + 1) (s^2 o + s (s + 1) (2 s + 1) / 6) - (s o + s (s + 1) / 2)^2."""
    squares, half = width * (width + 1) * (2 * width + 1) // 6, width * (width + 1) // 2
    return (cells + 1) * (width * width * start + squares) - (width * start + half) ** 2


def _holding(cells: int, width: int) -> tuple[int, int]:
    """Return how many pairs there are of a range and a whole block of this width in it, and of a short last block."""
    blocks, rest = divmod(cells, width)
    first = width * blocks * (blocks - 1) // 2
    second = width * width * (blocks - 1) * blocks * (2 * blocks - 1) // 6
    after = cells + 1 - width
    return (after - 1) * first - second + blocks * after, blocks * width + 1 if rest else 0


def _count(cells: int) -> int:
    return cells * (cells + 1) // 2


def _by_height(tree: Tree, variances: Sequence[float]) -> list[float]:
    """Return the variances of the levels from the leaves, infinite for a root that is not measured."""
    levels = len(tree.levels)
    if len(variances) not in {0, levels}:
        raise ValueError(f"expected one variance for each of the {levels} measured levels, got {len(variances)}")
    upward = [float(v) for v in variances][::-1] or [1.0] * levels
    return upward if levels > tree.height else [*upward, math.inf]


def _kept(total: float, variance: float) -> float:
    return total / (1 + total / variance)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The whole children of one level's last node, and what all whole children of the level add.

    Attributes:
        within: the mean over ranges of the sum of (m_c - mean m)^2 over whole siblings c.
        whole: the number of whole children of the last node; all are 0 where it has none.
        energy: the mean over ranges of m^2, m the mean weight on these children's cells.
        before: the mean of i over these cells, counted from 1, over the number of ranges.
        after: the mean of n + 1 - i.
    """

    within: float
    whole: int
    energy: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class _Edge:
    """A short last node: its s, the mean of n + 1 - i, and the mean over ranges of m^2; s = 0 where there is none."""

    size: float
    after: float
    energy: float

    def joined(self, size: float, stretch: _Stretch, variance: float) -> tuple["_Edge", float]:
        """Return the node above, and the mean over ranges of the squares between the whole children and the short one.

        (i, j) lie in i (n + 1 - j) ranges for i <= j, so the mean of the product of two neighbours' m is a product.
        """
        if not stretch.whole:
            return _Edge(_kept(self.size, variance), self.after, self.energy), 0.0
        whole = stretch.whole * size
        total = whole + self.size
        left, right = whole / total, self.size / total
        both = stretch.before * self.after
        energy = left**2 * stretch.energy + 2 * left * right * both + right**2 * self.energy
        after = left * stretch.after + right * self.after
        between = left * self.size * (stretch.energy - 2 * both + self.energy)
        return _Edge(_kept(total, variance), after, energy), between


@functools.lru_cache(maxsize=256)
def _stretches(cells: int, branching: int) -> tuple[_Stretch, ...]:
    """Return every level's stretch, from the leaves' parents to the root."""
    widths = [1]
    while widths[-1] < cells:
        widths.append(widths[-1] * branching)
    return tuple(_stretch(cells, width, parent) for width, parent in pairwise(widths))


def _stretch(cells: int, width: int, parent: int) -> _Stretch:
    """Return the stretch of the level with nodes of `parent` cells, their children of `width`; whole numbers inside."""
    branching, start = parent // width, cells - cells % parent
    whole = (cells - start) // width
    span, number, many = max(1, whole), _count(cells), whole * width
    last_energy = _block_energy(cells, start, many)
    children = _first_blocks_energy(cells, width, cells // width)
    parents = _first_blocks_energy(cells, parent, cells // parent)
    within = span * (branching * children - parents) - branching * last_energy
    return _Stretch(
        within=within / (branching * span * width**2 * number),
        whole=whole,
        energy=last_energy / ((span * width) ** 2 * number),
        before=(2 * start + many + 1) / (2 * number),
        after=(2 * (cells - start) - many + 1) / 2,
    )
