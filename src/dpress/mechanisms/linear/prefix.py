"""`prefix`: all prefix sums are measured; a range is the difference of two of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Ranges
from dpress.core.methods.mechanism import Card, RangeStrategy
from dpress.inference.least_squares import LeastSquares
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.prefix_map import Prefix as PrefixMap
from dpress.mechanisms.linear.product import over_axes


@dataclass(frozen=True, slots=True)
class Prefix(RangeStrategy):
    """The running sums of the cells.

    Promise: sensitivity n (L1), squared L2 n; n - 1 under replace-one; see `MatrixMechanism`.
    Error: coefficient 1 for a range that starts at the first cell, 2 for any other; mean over all ranges 2 n / (n + 1).
    Paper: ranges, "What dpress adds".

    Args:
        cells: the number of cells.

    >>> Prefix(4).average_variance([1.0])
    1.6
    """

    cells: int

    @property
    def map(self) -> PrefixMap:
        """All prefix sums."""
        return PrefixMap(self.cells)

    @property
    def decoder(self) -> LeastSquares:
        """Differences of prefix sums."""
        return LeastSquares(self.map, (self.cells,))

    def range_variances(self, ranges: Ranges, variances: Sequence[float]) -> Array:
        """Return the noise variance for a range from the first cell, else twice that."""
        return np.where(ranges.left == 1, 1.0, 2.0) * variances[0]

    def average_variance(self, variances: Sequence[float]) -> float:
        """Return 2 n / (n + 1) noise variances: n of the n (n + 1) / 2 ranges start at the first cell."""
        return 2 * self.cells / (self.cells + 1) * variances[0]

    @property
    def accuracy_index(self) -> float:
        """0: the squared sensitivity grows like n^2."""
        return 0.0


CARD = Card(
    name="prefix",
    family="linear",
    model="central",
    paper="ranges: What dpress adds (prefix sums)",
    summary="All running totals: exact differences, but every row of the data touches all of them.",
    method=Prefix,
    example=lambda loss, unit: MatrixMechanism(strategy=Prefix(8), loss=loss, unit=unit),
    strategy=lambda workload, _loss: over_axes(workload, lambda axis: Prefix(axis.cells)),
)
