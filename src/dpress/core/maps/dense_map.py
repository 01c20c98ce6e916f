"""A matrix of whole numbers, written out: the map of a strategy that somebody brings along."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, Invertible, Numbers, Variance


@dataclass(frozen=True, eq=False)
class DenseMap(Invertible):
    """Any matrix of full column rank, O(rows cells^2) to decode.

    Args:
        matrix: int64, shape (rows, cells), no entry beyond 2^20.
        step: the unit of the answers, in counts.
    """

    matrix: npt.NDArray[np.int64]
    step: float = 1.0

    @property
    def cells(self) -> int:
        """The number of columns."""
        return int(self.matrix.shape[1])

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.matrix.shape[0])

    def apply(self, cells: Numbers) -> Numbers:
        """Return A x."""
        return np.asarray(self.matrix @ cells)

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        return np.asarray(self.matrix.T @ answers)

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the largest power sum of a column, or where a row moves from cell to cell of a difference of two."""
        columns = np.ascontiguousarray(self.matrix.T)
        changes = np.abs(columns) ** order
        largest = int(changes.sum(axis=1).max())
        if relation is Relation.ADD_REMOVE:
            return largest
        moves = (np.abs(columns[place + 1 :] - columns[place]) ** order for place in range(self.cells - 1))
        return max((int(move.sum(axis=1).max()) for move in moves), default=0)

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return (A^T V^-1 A)^-1 A^T V^-1 y."""
        weights = 1 / np.broadcast_to(np.asarray(variance, dtype=np.float64), (self.rows,))
        return np.asarray(self._inverse(variance) @ (self.matrix.T @ (weights * answers)))

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return (A^T V^-1 A)^-1 w."""
        return np.asarray(self._inverse(variance) @ weights)

    def cell_variances(self, variance: Variance) -> Array:
        """Return the diagonal of (A^T V^-1 A)^-1."""
        return np.diag(self._inverse(variance))

    @cached_property
    def _even(self) -> Array:
        """(A^T A)^-1."""
        floats = self.matrix.astype(np.float64)
        return np.asarray(np.linalg.inv(floats.T @ floats))

    def _inverse(self, variance: Variance) -> Array:
        if not np.ndim(variance):
            return float(variance) * self._even
        weighted = self.matrix / np.asarray(variance)[:, None]
        return np.asarray(np.linalg.inv(self.matrix.T @ weighted))
