"""`dpress.strategy`: a matrix of one's own as a strategy, with its exact claim, exact error and audit."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.dense_map import DenseMap
from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Strategy
from dpress.inference.least_squares import LeastSquares
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

if TYPE_CHECKING:
    from dpress.audit.verdict import Check

LARGEST = 1 << 12  # rows and cells: seconds to decode, and power sums that fit 64 bits
FINEST = 1 << 20  # parts of the largest entry that others are rounded to


@dataclass(frozen=True, slots=True, eq=False)
class DenseStrategy(Strategy):
    """A strategy given by its matrix; see `strategy`.

    Promise: see `MatrixMechanism`; the sensitivities are those of the matrix's columns, exactly.
    Error: w (A^T A)^-1 w^T times the variance of the noise, exactly.
    Paper: Li, Hay, Rastogi, Miklau and McGregor 2010.

    Args:
        matrix: in whole numbers, with the unit of its answers.
    """

    matrix: DenseMap

    @property
    def map(self) -> DenseMap:
        """The matrix."""
        return self.matrix

    @property
    def decoder(self) -> LeastSquares:
        """Least squares."""
        return LeastSquares(self.map, (self.map.cells,))

    def mechanism(self, loss: Loss, unit: Unit = ROW) -> MatrixMechanism:
        """Return what measures the matrix: `.claim`, `.measure(counts, rng=...)` and `.decoder`.

        Args:
            loss: pure epsilon, zCDP or Gaussian DP.
            unit: whom the promise protects.
        """
        return MatrixMechanism(strategy=self, loss=loss, unit=unit)

    def variances(self, queries: npt.ArrayLike, loss: Loss, unit: Unit = ROW) -> Array:
        """Return the exact variance of the answer to every query, in counts squared, shape (m,).

        Args:
            queries: weights of the cells, shape (m, cells).
            loss: that the strategy is measured with.
            unit: whom the promise protects.

        Raises:
            ValueError: the queries are about another number of cells.
        """
        weights = np.atleast_2d(np.asarray(queries, dtype=np.float64))
        if weights.ndim != 2 or weights.shape[1] != self.map.cells:
            raise ValueError(f"queries must have shape (m, {self.map.cells}), got {np.shape(queries)}")
        spread = self.map.covariance(weights.T, self.mechanism(loss, unit).variance)
        return np.asarray(np.einsum("mj,jm->m", weights, spread))

    def audit(self, loss: Loss, unit: Unit = ROW) -> "tuple[Check, ...]":
        """Return the exact checks of the claim: every change that a unit can make, under the noise that is drawn.

        Args:
            loss: that the strategy is measured with.
            unit: whom the promise protects.
        """
        from dpress.mechanisms.linear.matrix_mechanism_audit import exact  # noqa: PLC0415  # seldom asked for

        return tuple(exact(self.mechanism(loss, unit)))


def strategy(matrix: npt.ArrayLike) -> DenseStrategy:
    """Return a strategy that measures the rows of a matrix over the cells of a table.

    Whole numbers up to 2^20 are measured as they are. Others are rounded to 2^-20 of the power of two at or above the
    largest entry, and claim, error and audit are those of the rounded matrix.

    Args:
        matrix: shape (rows, cells), each up to 4,096, of full column rank.

    >>> import dpress
    >>> tree = dpress.strategy([[1, 1], [1, 0], [0, 1]])
    >>> tree.mechanism(dpress.PureDP(epsilon=1)).claim.proven
    PureDP(epsilon=Fraction(1, 1))
    >>> tree.variances([[1, 1], [1, 0]], dpress.PureDP(epsilon=1)).round(2).tolist()
    [5.22, 5.22]
    >>> all(check.kept for check in tree.audit(dpress.PureDP(epsilon=1)))
    True

    Raises:
        ValueError: it is no such matrix.
    """
    try:
        array = np.asarray(matrix)
        numbers = array.astype(np.float64)
    except (ValueError, TypeError):
        raise ValueError("the matrix must have rows of numbers, all of one length") from None
    if array.ndim != 2 or not min(array.shape) >= 1 or max(array.shape) > LARGEST:
        raise ValueError(f"the matrix must have rows and columns, up to {LARGEST:,} of each, got shape {array.shape}")
    if not np.isfinite(numbers).all():
        raise ValueError("the matrix holds what is no number")
    if np.linalg.matrix_rank(numbers) < array.shape[1]:
        raise ValueError(
            "the columns of the matrix are not independent: add rows, such as all cells, that tell them apart"
        )
    if np.all(numbers == np.rint(numbers)) and np.abs(numbers).max() <= FINEST:
        return DenseStrategy(DenseMap(numbers.astype(np.int64)))
    step = float(2.0 ** np.ceil(np.log2(np.abs(numbers).max()))) / FINEST
    return DenseStrategy(DenseMap(np.rint(numbers / step).astype(np.int64), step))
