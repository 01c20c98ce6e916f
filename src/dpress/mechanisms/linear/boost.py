"""`boost`: every node of a binary tree is measured, and least squares makes the nodes agree."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Ranges
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Card, RangeStrategy
from dpress.inference.averages import tree_average
from dpress.inference.least_squares import LeastSquares
from dpress.inference.tree_ranges import tree_variances
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import over_axes


@dataclass(frozen=True, slots=True)
class Boost(RangeStrategy):
    """All dyadic counts with least-squares reconstruction.

    Promise: sensitivity h + 1, h = ceil(log2 n); 2 h under replace-one; see `MatrixMechanism`.
    Error: coefficient w (A^T A)^-1 w^T; mean over all ranges of n = 2^h cells: ranges, closed form with
    lambda_k = 2^k - 1 and lambda_T = 2n - 1.
    Paper: Hay, Rastogi, Miklau and Suciu 2010; ranges, Setting.

    Args:
        cells: the number of cells; nodes without a cell are left out.

    >>> round(Boost(1024).average_variance([1.0]), 9)
    1.969208926
    """

    cells: int

    @property
    def map(self) -> Tree:
        """All nodes of the binary tree."""
        return Tree(self.cells, 2)

    @property
    def decoder(self) -> LeastSquares:
        """Least squares on the tree."""
        return LeastSquares(self.map, (self.cells,))

    def range_variances(self, ranges: Ranges, variances: Sequence[float]) -> Array:
        """Return the variances by one walk up from the two ends of every range, O(log n) each."""
        return tree_variances(self.map, ranges) * variances[0]

    def average_variance(self, variances: Sequence[float]) -> float:
        """Return the mean over all ranges, exact for every n."""
        return tree_average(self.map) * variances[0]

    @property
    def accuracy_index(self) -> float:
        """6, as `privelet`."""
        return 6.0


CARD = Card(
    name="boost",
    family="linear",
    model="central",
    paper="ranges: Setting (Hay, Rastogi, Miklau, Suciu 2010)",
    summary="A tree of counts made consistent by least squares: good for ranges of any length.",
    method=Boost,
    example=lambda loss, unit: MatrixMechanism(strategy=Boost(8), loss=loss, unit=unit),
    strategy=lambda workload, _loss: over_axes(workload, lambda axis: Boost(axis.cells)),
)
