"""`identity`: every cell is measured. The histogram of the foundations, and the baseline of ranges."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.linear import Array
from dpress.core.maps.linear import Identity as IdentityMap
from dpress.core.maps.ranges import Ranges
from dpress.core.maps.workload import Workload
from dpress.core.methods.mechanism import Card, RangeStrategy, Strategy
from dpress.inference.least_squares import LeastSquares
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import over_axes

LARGEST_TABLE = 1 << 26  # cells that one machine counts and publishes in memory


@dataclass(frozen=True, slots=True)
class Identity(RangeStrategy):
    """One noisy count per cell.

    Promise: sensitivity 1 (add-remove), 2 (replace-one); see `MatrixMechanism`.
    Error: coefficient of a query w: sum of w_i^2; mean over all ranges (n + 2) / 3.
    Paper: foundations, histogram.

    Args:
        shape: the number of cells along every axis; a single number for one axis.

    >>> Identity((1024,)).average_variance([1.0])
    342.0
    """

    shape: tuple[int, ...]

    @property
    def map(self) -> IdentityMap:
        """The identity over all cells."""
        return IdentityMap(math.prod(self.shape))

    @property
    def decoder(self) -> LeastSquares:
        """Sums of noisy cells."""
        return LeastSquares(self.map, self.shape)

    def range_variances(self, ranges: Ranges, variances: Sequence[float]) -> Array:
        """Return one noise variance for every cell of the range."""
        return np.asarray((ranges.right - ranges.left + 1.0) * variances[0])

    def average_variance(self, variances: Sequence[float]) -> float:
        """Return (n + 2) / 3 noise variances: n + 1 - s ranges have length s."""
        return (self.map.cells + 2) / 3 * variances[0]

    @property
    def accuracy_index(self) -> float:
        """0: the error grows linearly in n."""
        return 0.0


def _strategy(workload: Workload, _loss: Loss) -> Strategy | None:
    if workload.axes:
        return over_axes(workload, lambda axis: Identity((axis.cells,)))
    return Identity(workload.shape) if workload.cells <= LARGEST_TABLE else None


CARD = Card(
    name="identity",
    family="linear",
    model="central",
    paper="foundations: histogram (Dwork, McSherry, Nissim, Smith 2006)",
    summary="One noisy count per cell: best for single cells, poor for long ranges.",
    method=Identity,
    example=lambda loss, unit: MatrixMechanism(strategy=Identity((8,)), loss=loss, unit=unit),
    strategy=_strategy,
)
