"""`binary_tree`: every node of a binary tree is measured; a range adds up the nodes of its canonical cover."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from dpress.core.maps.kron import Kron
from dpress.core.maps.linear import Array, Numbers, Variance
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import Ranges
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Card, RangeStrategy
from dpress.inference.averages import cover_average
from dpress.inference.least_squares import flat
from dpress.inference.range_error import cover_answers, cover_sizes
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import over_axes

if TYPE_CHECKING:
    from dpress.inference.covariance import Covariance


@dataclass(frozen=True, slots=True)
class Cover:
    """Answers a query from the largest nodes over which its weights are constant; nothing is made consistent.

    Error: sum over these nodes of weight^2 times the node's variance, in counts squared.

    Args:
        map: the tree that was measured, or the product of one tree for every axis.
        shape: the number of cells along every axis.
    """

    map: Tree | Kron
    shape: tuple[int, ...]
    symmetric: ClassVar[bool] = False
    additive: ClassVar[bool] = False

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The only table: all axes."""
        return (tuple(range(len(self.shape))),)

    def estimate(self, measurement: Measurement) -> tuple[Array, ...]:
        """Return the noisy leaves."""
        return (np.asarray(self._leaves(measurement.answers), dtype=np.float64),)

    def cell_variances(self, variance: Variance) -> tuple[Array, ...]:
        """Return the leaves' variance."""
        rows = np.broadcast_to(np.asarray(variance, dtype=np.float64), (self.map.rows,))
        return (np.asarray(self._leaves(rows)),)

    def answer(self, measurement: Measurement, weights: Sequence[Array]) -> float:
        """Return the sum of the cover's noisy nodes times their weights."""
        return float(self._nodes(weights) @ measurement.answers)

    def query_variance(self, variance: Variance, weights: Sequence[Array]) -> float:
        """Return the sum of the cover's variances times their squared weights."""
        return float(np.sum(self._nodes(weights) ** 2 * variance))

    def form_covariance(self, variance: Variance, axes: tuple[int, ...]) -> "Covariance":
        """Return the exact covariance of sums of a table's leaves, each with noise of its own."""
        others = tuple(axis for axis in range(len(self.shape)) if axis not in axes)
        spread = self.cell_variances(variance)[0].reshape(self.shape).sum(axis=others).ravel()

        def covariance(forms: Array) -> Array:
            rows = forms.reshape(len(forms), -1)
            return np.asarray((rows * spread) @ rows.T)

        return covariance

    def box_answers(self, measurement: Measurement, ranges: Sequence[Ranges]) -> Array:
        """Return the answers to many boxes, shape (m,); one attribute by running sums of the levels."""
        if isinstance(self.map, Tree):
            return cover_answers(self.map, measurement.answers, ranges[0])
        boxes = ([axis.weights(place) for axis in ranges] for place in range(ranges[0].size))
        return np.array([self.answer(measurement, weights) for weights in boxes])

    @property
    def _trees(self) -> tuple[Tree, ...]:
        return (self.map,) if isinstance(self.map, Tree) else cast("tuple[Tree, ...]", self.map.factors)

    def _leaves(self, rows: Numbers) -> Numbers:
        """Return what belongs to the leaves, the last nodes of every axis."""
        table = rows.reshape([tree.rows for tree in self._trees])
        return table[tuple(slice(-tree.cells, None) for tree in self._trees)].ravel()

    def _nodes(self, weights: Sequence[Array]) -> Array:
        """Return every node's weight in the cover, shape (rows,): 0 for a node that is not in it."""
        return flat([_cover(tree, cells) for tree, cells in zip(self._trees, weights, strict=True)])


def _cover(tree: Tree, weights: Array) -> Array:
    """Return every node's weight in the cover of one axis, shape (tree.rows,)."""
    low = high = weights
    levels: list[Array] = []
    for _ in range(tree.height):
        starts = np.arange(0, len(low), tree.branching)
        above_low, above_high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
        covered = tree.spread(above_low == above_high, len(low))
        levels.append(np.where((low == high) & ~covered, low, 0.0))
        low, high = above_low, above_high
    levels.append(np.where(low == high, low, 0.0))
    return np.concatenate(levels[::-1])


@dataclass(frozen=True, slots=True)
class BinaryTree(RangeStrategy):
    """All dyadic counts, used as they are.

    Promise: sensitivity h + 1, h = ceil(log2 n); 2 h under replace-one; see `MatrixMechanism`.
    Error: the number of nodes in the canonical cover times the noise variance.
    Paper: ranges, Setting.

    Args:
        cells: the number of cells; nodes without a cell are left out.

    >>> round(BinaryTree(1024).average_variance([1.0]), 4)
    8.0137
    """

    cells: int

    @property
    def map(self) -> Tree:
        """All nodes of the binary tree."""
        return Tree(self.cells, 2)

    @property
    def decoder(self) -> Cover:
        """The canonical cover."""
        return Cover(self.map, (self.cells,))

    def range_variances(self, ranges: Ranges, variances: Sequence[float]) -> Array:
        """Return one noise variance for every node of the canonical cover, O(log n) a range."""
        return np.asarray(cover_sizes(self.map, ranges) * variances[0])

    def average_variance(self, variances: Sequence[float]) -> float:
        """Return the mean size of the canonical cover, in noise variances."""
        return cover_average(self.map) * variances[0]

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
    strategy=lambda workload, _loss: over_axes(workload, lambda axis: BinaryTree(axis.cells)),
)
