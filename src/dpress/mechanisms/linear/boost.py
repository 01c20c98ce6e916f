"""`boost`: every node of a binary tree is measured, and least squares makes the nodes agree."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpress.core.mechanism import Card
from dpress.core.tree import Tree
from dpress.core.workload import AllRanges, Range
from dpress.estimate.error import tree_average
from dpress.estimate.least_squares import LeastSquares
from dpress.estimate.ranges import tree_coefficient
from dpress.mechanisms.matrix_mechanism import MatrixMechanism


@dataclass(frozen=True, slots=True)
class Boost:
    """All dyadic counts with least-squares reconstruction.

    Promise: sensitivity h + 1, h = ceil(log2 n); 2 h under replace-one; see `MatrixMechanism`.
    Error: coefficient w (A^T A)^-1 w^T; mean over all ranges of n = 2^h cells: ranges, closed form with
    lambda_k = 2^k - 1 and lambda_T = 2n - 1.
    Paper: Hay, Rastogi, Miklau and Suciu 2010; ranges, Setting.

    Args:
        cells: the number of cells; nodes without a cell are left out.

    >>> round(Boost(1024).average_coefficient(), 9)
    1.969208926
    """

    cells: int
    shares: ClassVar[tuple[Fraction, ...]] = ()

    @property
    def map(self) -> Tree:
        """All nodes of the binary tree."""
        return Tree(self.cells, 2)

    @property
    def decoder(self) -> LeastSquares:
        """Least squares on the tree."""
        return LeastSquares(self.map, (self.cells,))

    def range_coefficient(self, asked: Range) -> float:
        """Return the coefficient by one walk down the two ends of the range, O(log n)."""
        return tree_coefficient(self.map, asked)

    def average_coefficient(self) -> float:
        """Return the mean error coefficient of all ranges, exact for every n."""
        return tree_average(self.map)

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
    strategy=lambda workload, _loss: Boost(workload.cells) if isinstance(workload, AllRanges) else None,
)
