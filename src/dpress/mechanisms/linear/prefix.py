"""`prefix`: all prefix sums are measured; a range is the difference of two of them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpress.core.mechanism import Card
from dpress.core.prefix import Prefix as PrefixMap
from dpress.core.workload import AllRanges, Range
from dpress.estimate.least_squares import LeastSquares
from dpress.mechanisms.matrix_mechanism import MatrixMechanism


@dataclass(frozen=True, slots=True)
class Prefix:
    """The running sums of the cells.

    Promise: sensitivity n (L1), squared L2 n; n - 1 under replace-one; see `MatrixMechanism`.
    Error: coefficient 1 for a range that starts at the first cell, 2 for any other; mean over all ranges 2 n / (n + 1).
    Paper: ranges, "What dpress adds".

    Args:
        cells: the number of cells.

    >>> Prefix(4).average_coefficient()
    1.6
    """

    cells: int
    shares: ClassVar[tuple[Fraction, ...]] = ()

    @property
    def map(self) -> PrefixMap:
        """All prefix sums."""
        return PrefixMap(self.cells)

    @property
    def decoder(self) -> LeastSquares:
        """Differences of prefix sums."""
        return LeastSquares(self.map, (self.cells,))

    def range_coefficient(self, asked: Range) -> float:
        """Return 1 for a range from the first cell, else 2."""
        return 1.0 if asked.left == 1 else 2.0

    def average_coefficient(self) -> float:
        """Return 2 n / (n + 1): n of the n (n + 1) / 2 ranges start at the first cell."""
        return 2 * self.cells / (self.cells + 1)

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
    strategy=lambda workload, _loss: Prefix(workload.cells) if isinstance(workload, AllRanges) else None,
)
