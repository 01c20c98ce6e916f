"""`p_identity`: a strategy found by numerical optimisation for all ranges under pure epsilon."""

import functools
import math
import zlib
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpress.core.claim import Loss, PureDP
from dpress.core.mechanism import Card
from dpress.core.p_identity import UNIT
from dpress.core.p_identity import PIdentity as PIdentityMap
from dpress.core.workload import AllRanges, Range, Workload
from dpress.estimate.least_squares import LeastSquares
from dpress.estimate.optimise import RangesGram, default_starts, mean_coefficient, optimise
from dpress.mechanisms.matrix_mechanism import MatrixMechanism

LARGEST = 1 << 12  # cells that the search takes on in seconds


@dataclass(frozen=True, slots=True)
class PIdentity:
    """Every cell and p weighted sums of cells, the weights found by minimising the mean error of all ranges.

    Promise: an integer matrix whose columns all add up to 2^20: L1 sensitivity exactly that (2^21 under replace-one);
    its answers are in units of 2^-20 of a count; see `MatrixMechanism`. The search sees no data and costs no privacy.
    Error: coefficient w (A^T A)^-1 w^T; mean over all ranges by `estimate.optimise.mean_coefficient`.
    Paper: McKenna, Miklau, Hay and Machanavajjhala 2018 (p-Identity strategies).

    Args:
        cells: n.
        packed: the p x n weights of `core.p_identity.PIdentity`, compressed with zlib.
    """

    cells: int
    packed: bytes
    shares: ClassVar[tuple[Fraction, ...]] = ()

    @property
    def map(self) -> PIdentityMap:
        """The integer matrix."""
        return _unpacked(self.cells, self.packed)

    @property
    def decoder(self) -> LeastSquares:
        """Least squares by the Woodbury identity."""
        return LeastSquares(self.map, (self.cells,))

    def range_coefficient(self, asked: Range) -> float:
        """Return the coefficient in counts squared per squared unit, O(n p)."""
        return self.decoder.query_variance(1.0, [asked.weights(self.cells)])

    def average_coefficient(self) -> float:
        """Return the mean coefficient of all ranges, per squared unit."""
        theta = self.map.sums / self.map.diagonal
        return mean_coefficient(theta, RangesGram(self.cells))[0] / UNIT**2

    @property
    def accuracy_index(self) -> float:
        """Not a number: the optimum has no closed form in n."""
        return math.nan


@functools.lru_cache(maxsize=8)
def _unpacked(cells: int, packed: bytes) -> PIdentityMap:
    return PIdentityMap(cells, zlib.decompress(packed))


def _strategy(workload: Workload, loss: Loss, *, seconds: float | None = None) -> PIdentity | None:
    """Search for at most so many seconds; without a time to spend, the method does not offer itself."""
    if seconds is None or not isinstance(workload, AllRanges) or not isinstance(loss, PureDP):
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= 3600:
        raise ValueError(f"$.release.parameters.seconds: expected a number between 0 and 3600, got {seconds!r}")
    return _searched(workload.cells, float(seconds)) if workload.cells <= LARGEST else None


@functools.lru_cache(maxsize=8)
def _searched(cells: int, seconds: float) -> PIdentity:
    found = optimise(RangesGram(cells), default_starts(cells), seconds=seconds)
    return _packed(found.theta)


def _packed(theta: np.ndarray) -> PIdentity:
    matrix = PIdentityMap.from_theta(theta)
    return PIdentity(matrix.cells, zlib.compress(matrix.weights, 9))


CARD = Card(
    name="p_identity",
    family="linear",
    model="central",
    paper="ranges: What dpress adds (McKenna, Miklau, Hay, Machanavajjhala 2018)",
    summary="Found by a numerical search of stated length: the smallest error for ranges under pure epsilon.",
    method=PIdentity,
    example=lambda loss, unit: MatrixMechanism(
        strategy=_packed(np.kron(np.eye(2), np.full((1, 4), 0.4))), loss=loss, unit=unit
    ),
    strategy=_strategy,
    parameters=("seconds",),
)
