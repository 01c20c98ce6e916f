"""`privelet`: the Haar wavelet of the cells is measured; ranges need only the few wavelets at their ends."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Ranges
from dpress.core.methods.mechanism import Card, RangeStrategy
from dpress.inference.averages import haar_average
from dpress.inference.least_squares import LeastSquares
from dpress.inference.range_error import wavelet_variances
from dpress.mechanisms.linear.haar import Haar
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import over_axes


@dataclass(frozen=True, slots=True)
class Privelet(RangeStrategy):
    """The total, and for every inner node of a binary tree left sum minus right sum.

    Promise: sensitivity h + 1 for n <= 2^h cells; replace-one 2 h (L1), squared L2 2 h + 2; see `MatrixMechanism`.
    Error: coefficient w Sigma w^T, Sigma_ii = 4^-h + (1 - 4^-h) / 3, Sigma_ij = (2/3) (4^-h - 4^-k), k the height of
    the lowest common ancestor; mean over all ranges of n = 2^h cells h/6 + 1/36 + 1/(2(n+1)) + 1/(2n) + 2/(9 n^2).
    Paper: Xiao, Wang and Gehrke 2010; ranges, Theorem 2.

    Args:
        cells: n, padded with empty cells to the next power of two.

    >>> round(Privelet(8).average_variance([1.0]), 12) == round(187 / 288, 12)
    True
    """

    cells: int

    @property
    def map(self) -> Haar:
        """The unnormalised Haar wavelet."""
        return Haar(self.cells)

    @property
    def decoder(self) -> LeastSquares:
        """The inverse wavelet transform."""
        return LeastSquares(self.map, (self.cells,))

    def range_variances(self, ranges: Ranges, variances: Sequence[float]) -> Array:
        """Return the variances from the two border nodes of every level, O(log n) each; equal to Algorithm 3."""
        return wavelet_variances(ranges) * variances[0]

    def average_variance(self, variances: Sequence[float]) -> float:
        """Return the mean over all ranges, exact for every n."""
        return haar_average(self.cells) * variances[0]

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
    strategy=lambda workload, _loss: over_axes(workload, lambda axis: Privelet(axis.cells)),
)
