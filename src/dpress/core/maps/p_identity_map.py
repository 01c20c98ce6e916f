"""The p-Identity strategy: every cell and p weighted sums of cells, as one integer matrix of constant column sum."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array, Invertible, Numbers, Variance

UNIT = 2**20  # the sum of every column, unless another is named: the answers' unit is 2^-20 of a count
LARGEST_ANSWER = 2**62
STORED = "<i4"  # how the weights are kept: little-endian, so that their digest is the same everywhere


@dataclass(frozen=True, slots=True)
class PIdentity(Invertible):
    """A = [diag(a); B] with non-negative integers B and a_j = unit - sum_q B_qj, so every column adds up to the unit.

    This is unit [I; Theta] D with Theta = B diag(1 / a) and D = diag(a) / unit (McKenna, Miklau, Hay and
    Machanavajjhala 2018, section 5.2): not an approximation of a strategy but itself one, whose answers and
    sensitivities are exact integers. Nothing is rounded when it is applied.

    Args:
        cells: n.
        weights: B of shape (p, n), row by row, as little-endian 32-bit integers; every a_j is at least 1.
        unit: the sum of every column.
    """

    cells: int
    weights: bytes
    unit: int = UNIT

    @property
    def step(self) -> float:
        """The unit of the answers in counts."""
        return 1 / self.unit

    def __post_init__(self) -> None:
        check.count("cells", self.cells)
        if len(self.weights) % (4 * self.cells):
            raise ValueError(f"weights must be whole rows of {self.cells} 32-bit integers")
        if (self.sums < 0).any() or (self.sums.sum(axis=0, dtype=np.int64) >= self.unit).any():
            raise ValueError(f"weights must be non-negative and every column must add up to less than {self.unit}")

    @classmethod
    def from_theta(cls, theta: Array, unit: int = UNIT) -> Self:
        """Return [I; Theta] D with every entry of Theta D rounded down to 1 / unit; the identity takes what is left.

        Raises:
            ValueError: an entry is negative or not a number, or a column of Theta adds up to the unit or more.
        """
        if theta.ndim != 2 or not np.isfinite(theta).all() or (theta < 0).any():
            raise ValueError("theta must be a matrix of finite, non-negative numbers")
        scaled = np.floor(theta / (1 + theta.sum(axis=0)) * unit)
        return cls(theta.shape[1], scaled.astype(STORED).tobytes(), unit)

    @property
    def sums(self) -> npt.NDArray[np.int32]:
        """B, shape (p, n), read only."""
        return np.frombuffer(self.weights, dtype=STORED).reshape(-1, self.cells)

    @property
    def diagonal(self) -> npt.NDArray[np.int64]:
        """a, shape (n,)."""
        return np.asarray(self.unit - self.sums.sum(axis=0, dtype=np.int64))

    @property
    def rows(self) -> int:
        """The cells, then the p sums."""
        return self.cells + len(self.sums)

    def apply(self, cells: Numbers) -> Numbers:
        """Return A x, exact for integers.

        Raises:
            NotSupported: more than 2^62 / unit rows.
        """
        if not np.issubdtype(cells.dtype, np.integer):
            return np.concatenate([self.diagonal * cells, self.sums @ cells])
        if float(np.abs(cells.astype(np.float64)).sum()) * self.unit > LARGEST_ANSWER:
            raise NotSupported("the table has too many rows for 64-bit answers in this strategy's unit")
        exact = cells.astype(np.int64, copy=False)
        return np.concatenate([self.diagonal * exact, self.sums.astype(np.int64) @ exact])

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        cells, sums = np.split(answers, [self.cells])
        return np.asarray(self.diagonal * cells + sums @ self.sums)

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the sensitivity in units, exactly; order 2 squared.

        Add-remove: the largest column, `unit` in L1 as all are. Replace-one: the largest distance of two columns, as
        the row counts in one cell before and in one after: twice the largest column less what the two share, 0 for a
        single cell. Both are attained.
        """
        if relation is Relation.REPLACE_ONE:
            return _farthest(self, order)
        return self.unit if order == 1 else int(_squares(self).max())

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return the weighted least-squares estimate of the cells, in counts, O(n p^2 + p^3).

        Raises:
            ValueError: a cell was not measured.
        """
        return self.covariance(self.transpose(answers / np.broadcast_to(variance, answers.shape)), variance)

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return (A^T V^-1 A)^-1 w = G w - G C^T (I + C G C^T)^-1 C G w (Woodbury), O(n p^2 + p^3).

        G = diag(v_cells / a^2) and C = diag(v_sums)^(-1/2) B; a sum of infinite variance is ignored. Weights may be one
        query, or many of shape (m, n), row by row.
        """
        alone, sums, inner = self._parts(variance)
        return np.asarray(alone * weights - np.linalg.solve(inner, sums @ weights.T).T @ sums)

    def cell_variances(self, variance: Variance) -> Array:
        """Return the diagonal of (A^T V^-1 A)^-1, O(n p^2 + p^3)."""
        alone, sums, inner = self._parts(variance)
        return np.asarray(alone - np.einsum("qj,qj->j", sums, np.linalg.solve(inner, sums)))

    def covariance_form(self, variance: Variance) -> Mapping[str, Any] | None:
        """Return G's diagonal `alone`, (I + C G C^T)^-1 `inverse`, and the rows of C G from their first number on.

        `inverse`, which is symmetric, has each row from the diagonal on, one after the other. `values` has the numbers
        of each row of C G up to its last one but zero, one row after the other; row q begins at the cell `starts` and
        has `lengths` of them.
        """
        alone, sums, inner = self._parts(variance)
        runs = [np.flatnonzero(row) for row in sums]
        ends = [(int(run[0]), int(run[-1]) + 1) if run.size else (0, 0) for run in runs]
        values = [row[start:stop] for row, (start, stop) in zip(sums, ends, strict=True)]
        return {
            "linear": "sums",
            "alone": alone,
            "inverse": np.linalg.inv(inner)[np.triu_indices(len(inner))],
            "starts": [start for start, _ in ends],
            "lengths": [stop - start for start, stop in ends],
            "values": np.concatenate([np.zeros(0), *values]),
        }

    def _parts(self, variance: Variance) -> tuple[Array, Array, Array]:
        """Return the diagonal of G, C G and I + C G C^T."""
        return _woodbury(self, np.broadcast_to(np.asarray(variance, dtype=np.float64), (self.rows,)).tobytes())


@functools.lru_cache(maxsize=4)  # asked for the same variances by hundreds of queries
def _woodbury(matrix: PIdentity, variance: bytes) -> tuple[Array, Array, Array]:
    cells, sums = np.split(np.frombuffer(variance), [matrix.cells])
    if not np.isfinite(cells).all():
        raise ValueError("every cell must have been measured: without it the cells are not determined")
    alone = cells / matrix.diagonal.astype(np.float64) ** 2
    weighted = matrix.sums / np.sqrt(sums)[:, None]
    scaled = weighted * alone
    return alone, scaled, np.eye(len(sums)) + scaled @ weighted.T


def _squares(matrix: PIdentity) -> npt.NDArray[np.int64]:
    """Return the sum of squares of every column."""
    return np.asarray(matrix.diagonal**2 + (matrix.sums.astype(np.int64) ** 2).sum(axis=0))


@functools.lru_cache(maxsize=8)
def _farthest(matrix: PIdentity, order: int) -> int:
    """Return the largest distance of two columns, O(n^2 p); in L1 it ends where two are found that share nothing.

    Column j is a_j e_j + B_j. L1: unit + unit - 2 sum_q min(B_qj, B_qk). Squared L2: s_j + s_k - 2 B_j B_k, s the sums
    of squares.
    """
    most, sums, squares = 0, matrix.sums.astype(np.int64), _squares(matrix)
    for cell in range(matrix.cells - 1):
        column, others = sums[:, cell, None], sums[:, cell + 1 :]
        if order == 1:
            apart = 2 * (matrix.unit - np.minimum(column, others).sum(axis=0))
        else:
            apart = squares[cell] + squares[cell + 1 :] - 2 * (column * others).sum(axis=0)
        most = max(most, int(apart.max()))
        if order == 1 and most == 2 * matrix.unit:
            break
    return most
