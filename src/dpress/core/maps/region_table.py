"""A marginal table of every region of one level of a spine, summed from the cells of its leaves."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, Identity, LinearMap, Marginal, Numbers
from dpress.core.maps.spine import Spine


@dataclass(frozen=True, slots=True)
class RegionTable(LinearMap):
    """The table over some attributes of every node of a level. One person is in one of its cells.

    Args:
        spine: the tree of regions.
        shape: the number of cells of the other attributes.
        level: of the nodes, 0 for everything.
        axes: the attributes that stay, increasing; none for the totals.
    """

    spine: Spine
    shape: tuple[int, ...]
    level: int
    axes: tuple[int, ...]

    @property
    def table(self) -> Marginal:
        """The table of one region."""
        return Marginal(self.shape, self.axes)

    @property
    def nodes(self) -> int:
        """The number of regions."""
        return self.spine.sizes[self.level]

    @property
    def cells(self) -> int:
        """The number of cells of all leaves."""
        return self.spine.sizes[-1] * math.prod(self.shape)

    @property
    def rows(self) -> int:
        """The number of cells of all regions' tables."""
        return self.nodes * self.table.rows

    def of_leaves(self, leaves: Numbers) -> Numbers:
        """Return the answers from leaves' cells, shape (leaves, *shape)."""
        outside = tuple(1 + axis for axis in range(len(self.shape)) if axis not in self.axes)
        tables = leaves.sum(axis=outside)
        for level in reversed(range(self.level, self.spine.depth)):
            tables = self.spine.sums(tables, level)
        return np.asarray(tables).ravel()

    def apply(self, cells: Numbers) -> Numbers:
        """Return the tables, node by node, of the leaves' cells, both flat."""
        return self.of_leaves(np.asarray(cells).reshape(self.spine.sizes[-1], *self.shape))

    def transpose(self, answers: Array) -> Array:
        """Return for every cell of every leaf the answer that it counts in."""
        tables = answers.reshape(self.nodes, self.table.rows)
        for level in range(self.level + 1, self.spine.depth + 1):
            tables = tables[self.spine.parents(level)]
        return np.concatenate([self.table.transpose(table) for table in tables])

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return 1, or 2 where a row moves from one cell to another."""
        return Identity(self.rows).sensitivity(order, relation)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyRegions:
    """The noisy tables of all levels of a spine.

    Args:
        levels: coarse to fine, by the attributes of the table, () for totals: integers, shape (nodes, *kept sizes).
    """

    levels: tuple[Mapping[tuple[int, ...], Numbers], ...]
