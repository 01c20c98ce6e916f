"""`identity`: every cell is measured. The histogram of the foundations, and the baseline of ranges."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpress.core.claim import Loss
from dpress.core.linear import Identity as IdentityMap
from dpress.core.mechanism import Card
from dpress.core.workload import AllRanges, Range, Workload
from dpress.estimate.least_squares import LeastSquares
from dpress.mechanisms.matrix_mechanism import MatrixMechanism

LARGEST_TABLE = 1 << 26  # cells that one machine counts and publishes in memory


@dataclass(frozen=True, slots=True)
class Identity:
    """One noisy count per cell.

    Promise: sensitivity 1 (add-remove), 2 (replace-one); see `MatrixMechanism`.
    Error: coefficient of a query w: sum of w_i^2; mean over all ranges (n + 2) / 3.
    Paper: foundations, histogram.

    Args:
        shape: the number of cells along every axis; a single number for one axis.

    >>> Identity((1024,)).average_coefficient()
    342.0
    """

    shape: tuple[int, ...]
    shares: ClassVar[tuple[Fraction, ...]] = ()

    @property
    def map(self) -> IdentityMap:
        """The identity over all cells."""
        return IdentityMap(math.prod(self.shape))

    @property
    def decoder(self) -> LeastSquares:
        """Sums of noisy cells."""
        return LeastSquares(self.map, self.shape)

    def range_coefficient(self, asked: Range) -> float:
        """Return the number of cells in the range."""
        return float(asked.right - asked.left + 1)

    def average_coefficient(self) -> float:
        """Return (n + 2) / 3: a range of length s adds up s cells, and n + 1 - s ranges have that length."""
        return (self.map.cells + 2) / 3

    @property
    def accuracy_index(self) -> float:
        """0: the error grows linearly in n."""
        return 0.0


def _strategy(workload: Workload, _loss: Loss) -> Identity | None:
    if isinstance(workload, AllRanges):
        return Identity((workload.cells,))
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
