"""Least squares over a tree of regions in one space of cells: a scalar problem, once up and once down.

The cells of a table split into orthogonal spaces, one for every set of axes; children add up in each of them alone, and
every direction of a space has the same noise. So what is solved for one number a node holds for every direction.
Source: Hay et al. 2010 (two passes over a tree), Cumings-Menon 2024 (arXiv 2404.13164, over a spine).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine

BLOCK = 1 << 17
"""Numbers that are spread from parents to children at a time, so that they stay in the processor's cache."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SpaceTree:
    """One space over a spine.

    Levels below the last that measures anything of the space are left out: nothing tells their nodes apart.

    Args:
        spine: the regions.
        precisions: for every level, of a node's measurement per direction of the space: 1 / variance, in 1 / counts
            squared; infinite where it is exact, 0 where there is none. Positive at some level.
    """

    spine: Spine
    precisions: tuple[float, ...]

    @cached_property
    def deepest(self) -> int:
        """The last level that has a measurement: nodes above it and in it have a finite variance."""
        return max(level for level, precision in enumerate(self.precisions) if precision > 0)

    @cached_property
    def alone(self) -> tuple[Array, ...]:
        """The variance of every node given its subtree's measurements alone, shape (nodes,) for levels 0 to deepest.

        Formula: e = 1 / (p + 1 / v), p the node's precision, v = sum of its children's e.
        """
        return self._up[0]

    @cached_property
    def below(self) -> tuple[Array, ...]:
        """The variance v of the sum of every node's children given their subtrees, for levels 0 to deepest - 1."""
        return self._up[1]

    @cached_property
    def _up(self) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        leaf = np.float64(1 / self.precisions[self.deepest])
        alone, below = [np.broadcast_to(leaf, (self.spine.sizes[self.deepest],))], list[Array]()
        for level in reversed(range(self.deepest)):
            total, precision = self.spine.sums(alone[0], level), self.precisions[level]
            below.insert(0, total)
            alone.insert(0, np.zeros_like(total) if np.isinf(precision) else total / (1 + precision * total))
        return tuple(alone), tuple(below)

    def parts(self, level: int) -> Array:
        """Return which part of its parent's correction every node of a level (1 to deepest) takes, shape (nodes,).

        Formula: e / v, with v of the parent; they add up to 1. Where all children are exact, nothing is corrected, and
        they are equal.
        """
        counts = np.diff(self.spine.starts[level - 1])
        total = np.repeat(self.below[level - 1], counts)
        even = 1 / np.repeat(counts, counts)
        return np.divide(self.alone[level], total, out=even, where=total > 0)

    def variances(self) -> tuple[Array, ...]:
        """Return the variance of every node given all measurements, per direction, shape (nodes,), levels 0 to deepest.

        Formula: V = e at the root; below it V = e (1 - e / v) + (e / v)^2 V_parent.
        """
        levels = [self.alone[0]]
        for level in range(1, self.deepest + 1):
            part, above = self.parts(level), np.repeat(levels[-1], np.diff(self.spine.starts[level - 1]))
            levels.append(self.alone[level] * (1 - part) + part**2 * above)
        return tuple(levels)

    def estimate(self, values: list[Array | None]) -> list[Array]:
        """Return the best linear unbiased estimate of every node, children adding up to parents.

        Args:
            values: the measurements of levels 0 to deepest, shape (nodes, directions), None where there is none.
                They are overwritten.

        Returns:
            For levels 0 to deepest, shape (nodes, directions).
        """
        levels, sums = [_present(values[self.deepest])], list[Array]()
        for level in reversed(range(self.deepest)):
            sums.insert(0, self.spine.sums(levels[0], level))
            levels.insert(0, self._mean(values[level], sums[0], level))
        for level in range(1, self.deepest + 1):
            gap, part, starts = levels[level - 1] - sums[level - 1], self.parts(level), self.spine.starts[level - 1]
            for first, last in _blocks(starts, gap.shape[1]):
                children = slice(starts[first], starts[last])
                spread = np.repeat(gap[first:last], np.diff(starts[first : last + 1]), axis=0)
                levels[level][children] += spread * part[children, None]
        return levels

    def _mean(self, values: Array | None, sums: Array, level: int) -> Array:
        """Return the mean of a level's measurements and its children's sums, weighted by precision: p e and 1 - p e."""
        if values is None:
            return sums.copy()
        precision = self.precisions[level]
        values -= sums
        if np.isfinite(precision):
            values *= precision * self.alone[level][:, None]
        values += sums
        return values


def _present(values: Array | None) -> Array:
    if values is None:
        raise ValueError("the deepest level has no values, though it is measured")
    return values


def _blocks(starts: Numbers, directions: int) -> Iterator[tuple[int, int]]:
    """Yield first and last + 1 of neighbouring parents, whose children have about `BLOCK` numbers together."""
    first = 0
    while first < len(starts) - 1:
        reach = np.searchsorted(starts, starts[first] + max(1, BLOCK // directions), side="right") - 1
        last = max(first + 1, int(reach))
        yield first, last
        first = last
