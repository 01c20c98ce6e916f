"""Sums over sets of cells that may overlap: a list of counting queries as one matrix of zeros and ones."""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array, Invertible, Numbers, Variance

MOST_CELLS = 1 << 12  # a dense matrix is solved in seconds
MOST_SETS = 1 << 10
SMALLEST = 1e-10  # of the singular values that count, as a share of the largest


@dataclass(frozen=True, slots=True)
class SetSums(Invertible):
    """A_ij = 1 where cell j is in set i. The cells need not be determined; `determines` says which queries are.

    Args:
        cells: k, at most 2^12.
        sets: the cells of every set, rising, counted from 0; at least one set, at most 2^10, none empty.

    >>> SetSums(3, ((0, 1), (1, 2))).apply(np.array([5, 1, 2])).tolist()
    [6, 3]
    """

    cells: int
    sets: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not 1 <= check.count("cells", self.cells) <= MOST_CELLS:
            raise ValueError(f"cells must be at most {MOST_CELLS:,}, got cells={self.cells}")
        if not 1 <= len(self.sets) <= MOST_SETS:
            raise ValueError(f"sets must be 1 to {MOST_SETS:,}, got {len(self.sets)}")
        for number, cells in enumerate(self.sets, 1):
            rising = all(a < b for a, b in itertools.pairwise(cells))
            if not cells or cells[0] < 0 or cells[-1] >= self.cells or not rising:
                raise ValueError(f"sets[#{number}] must be rising numbers of cells from 0 to {self.cells - 1}")

    @property
    def rows(self) -> int:
        """The number of sets."""
        return len(self.sets)

    @property
    def matrix(self) -> Array:
        """A, shape (rows, cells), read only."""
        return _matrix(self)

    @property
    def counted(self) -> int:
        """How many cells are in any set."""
        return int(self.matrix.any(axis=0).sum())

    @property
    def independent(self) -> bool:
        """Whether no row is a combination of others, so that least squares leaves the answers as they are."""
        return bool(np.linalg.matrix_rank(self.matrix, rtol=SMALLEST) == self.rows)

    def apply(self, cells: Numbers) -> Numbers:
        """Return A x, exact for integers."""
        return np.asarray(self.matrix.astype(cells.dtype) @ cells)

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        return np.asarray(self.matrix.T @ answers)

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the largest number of sets that one cell is in; where a row moves, the largest that tell two apart.

        The same for both orders: every answer changes by one or not at all. Add-remove: the largest column sum, as a
        row counts in one cell. Replace-one: the largest Hamming distance of two columns, |a| + |b| - 2 a b, as the
        row counts in one cell before and in one after. Both are attained, and all numbers are exact in doubles.
        """
        del order
        heights = self.matrix.sum(axis=0)
        if relation is Relation.ADD_REMOVE:
            return int(heights.max())
        return int((heights[:, None] + heights - 2 * (self.matrix.T @ self.matrix)).max())

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return A^+ y, of all least-squares estimates the shortest: unbiased for every query that is determined."""
        _check_equal(variance)
        return np.asarray(_inverse(self) @ answers)

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return variance A^+ A^+^T w, for one query or, row by row, for many of shape (m, cells)."""
        _check_equal(variance)
        inverse = _inverse(self)
        return np.asarray(variance * (weights @ inverse) @ inverse.T)

    def cell_variances(self, variance: Variance) -> Array:
        """Return the diagonal of variance A^+ A^+^T."""
        _check_equal(variance)
        return np.asarray(variance * (_inverse(self) ** 2).sum(axis=1))

    def determines(self, weights: Array) -> bool:
        """Return whether a query is a combination of the rows: w A^+ A = w."""
        return bool(np.allclose(weights @ _inverse(self) @ self.matrix, weights, rtol=0, atol=1e-6))


def _check_equal(variance: Variance) -> None:
    if np.ndim(variance):
        raise NotSupported("sums over sets are reconstructed from answers of one variance")


@functools.lru_cache(maxsize=8)
def _matrix(sums: SetSums) -> Array:
    matrix = np.zeros((sums.rows, sums.cells))
    for row, cells in zip(matrix, sums.sets, strict=True):
        row[list(cells)] = 1.0
    matrix.setflags(write=False)
    return matrix


@functools.lru_cache(maxsize=8)
def _inverse(sums: SetSums) -> Array:
    return np.asarray(np.linalg.pinv(sums.matrix, rcond=SMALLEST))
