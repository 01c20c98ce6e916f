"""`privelet`: the Haar wavelet of the cells is measured; ranges need only the few wavelets at their ends."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpress.core.haar import Haar
from dpress.core.mechanism import Card
from dpress.core.workload import AllRanges, Range
from dpress.estimate.error import haar_average
from dpress.estimate.least_squares import LeastSquares
from dpress.estimate.ranges import wavelet_coefficient
from dpress.mechanisms.matrix_mechanism import MatrixMechanism


@dataclass(frozen=True, slots=True)
class Privelet:
    """The total, and for every inner node of a binary tree left sum minus right sum.

    Promise: sensitivity h + 1 for n <= 2^h cells; replace-one 2 h (L1), squared L2 2 h + 2; see `MatrixMechanism`.
    Error: coefficient w Sigma w^T, Sigma_ii = 4^-h + (1 - 4^-h) / 3, Sigma_ij = (2/3) (4^-h - 4^-k), k the height of
    the lowest common ancestor; mean over all ranges of n = 2^h cells h/6 + 1/36 + 1/(2(n+1)) + 1/(2n) + 2/(9 n^2).
    Paper: Xiao, Wang and Gehrke 2010; ranges, Theorem 2.

    Args:
        cells: n, padded with empty cells to the next power of two.

    >>> round(Privelet(8).average_coefficient(), 12) == round(187 / 288, 12)
    True
    """

    cells: int
    shares: ClassVar[tuple[Fraction, ...]] = ()

    @property
    def map(self) -> Haar:
        """The unnormalised Haar wavelet."""
        return Haar(self.cells)

    @property
    def decoder(self) -> LeastSquares:
        """The inverse wavelet transform."""
        return LeastSquares(self.map, (self.cells,))

    def range_coefficient(self, asked: Range) -> float:
        """Return the coefficient by the paper's Algorithm 3, O(log n)."""
        return float(wavelet_coefficient(self.cells, asked))

    def average_coefficient(self) -> float:
        """Return the mean error coefficient of all ranges, exact for every n."""
        return haar_average(self.map)

    @property
    def accuracy_index(self) -> float:
        """6: the mean coefficient grows like h / 6, the squared sensitivity like h^2."""
        return 6.0


CARD = Card(
    name="privelet",
    family="linear",
    model="central",
    paper="ranges: Theorem 2 (Xiao, Wang, Gehrke 2010)",
    summary="Haar wavelet coefficients: good for ranges of any length.",
    method=Privelet,
    example=lambda loss, unit: MatrixMechanism(strategy=Privelet(8), loss=loss, unit=unit),
    strategy=lambda workload, _loss: Privelet(workload.cells) if isinstance(workload, AllRanges) else None,
)
