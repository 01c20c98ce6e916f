"""`binary_tree`: every node of a binary tree is measured; a range adds up the nodes of its canonical cover."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpress.core.linear import Array, Variance
from dpress.core.measurement import Measurement
from dpress.core.mechanism import Card
from dpress.core.tree import Tree
from dpress.core.workload import AllRanges, Range
from dpress.estimate.error import average_over_ranges, check_array
from dpress.estimate.ranges import cover_size
from dpress.mechanisms.matrix_mechanism import MatrixMechanism


@dataclass(frozen=True, slots=True)
class Cover:
    """Answers a query from the largest nodes over which its weights are constant; nothing is made consistent.

    Error: sum over these nodes of weight^2 times the node's variance, in counts squared.

    Args:
        map: the tree that was measured.
    """

    map: Tree

    @property
    def shape(self) -> tuple[int, ...]:
        """The only axis."""
        return (self.map.cells,)

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The only table."""
        return ((0,),)

    def estimate(self, measurement: Measurement) -> tuple[Array, ...]:
        """Return the noisy leaves."""
        return (np.asarray(self.map.split(measurement.answers)[-1], dtype=np.float64),)

    def cell_variances(self, variance: Variance) -> tuple[Array, ...]:
        """Return the leaves' variance."""
        rows = np.broadcast_to(np.asarray(variance, dtype=np.float64), (self.map.rows,))
        return (self.map.split(rows)[-1],)

    def answer(self, measurement: Measurement, weights: Sequence[Array]) -> float:
        """Return the sum of the cover's noisy nodes times their weights."""
        return float(self._nodes(weights[0]) @ measurement.answers)

    def query_variance(self, variance: Variance, weights: Sequence[Array]) -> float:
        """Return the sum of the cover's variances times their squared weights."""
        return float(np.sum(self._nodes(weights[0]) ** 2 * variance))

    def _nodes(self, weights: Array) -> Array:
        """Return every node's weight in the cover, shape (rows,): 0 for a node that is not in it."""
        low = high = weights
        levels: list[Array] = []
        for _ in range(self.map.height):
            starts = np.arange(0, len(low), self.map.branching)
            above_low, above_high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
            covered = self.map.spread(above_low == above_high, len(low))
            levels.append(np.where((low == high) & ~covered, low, 0.0))
            low, high = above_low, above_high
        levels.append(np.where(low == high, low, 0.0))
        return np.concatenate(levels[::-1])


@dataclass(frozen=True, slots=True)
class BinaryTree:
    """All dyadic counts, used as they are.

    Promise: sensitivity h + 1, h = ceil(log2 n); 2 h under replace-one; see `MatrixMechanism`.
    Error: the number of nodes in the canonical cover times the noise variance.
    Paper: ranges, Setting.

    Args:
        cells: the number of cells; nodes without a cell are left out.

    >>> round(BinaryTree(1024).average_coefficient(), 4)
    8.0137
    """

    cells: int
    shares: ClassVar[tuple[Fraction, ...]] = ()

    @property
    def map(self) -> Tree:
        """All nodes of the binary tree."""
        return Tree(self.cells, 2)

    @property
    def decoder(self) -> Cover:
        """The canonical cover."""
        return Cover(self.map)

    def range_coefficient(self, asked: Range) -> float:
        """Return the size of the canonical cover, O(log n)."""
        return float(cover_size(self.map, asked))

    def average_coefficient(self) -> float:
        """Return the mean size of the canonical cover: how many ranges hold a node but not its parent, O(n)."""
        check_array(self.cells)
        cells, total, above = self.cells, 0.0, np.zeros(1)
        for depth, size in enumerate(self.map.levels):
            width = 1 << (self.map.height - depth)
            starts = np.arange(size) * width
            holding = (starts + 1.0) * (cells - np.minimum(starts + width, cells) + 1.0)
            total += float(np.sum(holding - self.map.spread(above, size)))
            above = holding
        return average_over_ranges(total, cells)

    @property
    def accuracy_index(self) -> float:
        """1: the yardstick of the index."""
        return 1.0


CARD = Card(
    name="binary_tree",
    family="linear",
    model="central",
    paper="ranges: Setting (naive tree)",
    summary="A tree of counts used as it is: the yardstick that `boost` and `privelet` improve on.",
    method=BinaryTree,
    example=lambda loss, unit: MatrixMechanism(strategy=BinaryTree(8), loss=loss, unit=unit),
    strategy=lambda workload, _loss: BinaryTree(workload.cells) if isinstance(workload, AllRanges) else None,
)
