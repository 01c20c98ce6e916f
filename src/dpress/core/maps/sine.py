"""The near-optimal strategy for all ranges under L2 sensitivity, in the sine basis, rounded to a lattice."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array, Invertible, Numbers, Variance

LARGEST = 1 << 22  # cells that the transform and the exact mean take on in seconds
LARGEST_TOTAL = 2**28  # rows of the table; keeps the transform's rounding far below the noise


@dataclass(frozen=True, slots=True)
class Sine(Invertible):
    """diag(eigenvalue^1/4) S diag(1 / column norm), S the orthonormal DST-I, in units of a power-of-two step.

    The Gram matrix of all ranges is (n + 1) times the inverse of the Dirichlet Laplacian; its eigenvectors are the
    rows of S, its eigenvalues (n + 1) / (4 sin^2(pi k / (2 (n + 1)))). Columns have L2 norm 1. Over several axes it is
    the Kronecker product. `apply` rounds to whole steps, so answers are integers; their rounding and the transform's
    own error are part of the sensitivity.

    Args:
        shape: the number of cells along every axis.
    """

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        for size in self.shape:
            check.count("cells", size)
        if self.cells > LARGEST:
            raise NotSupported(f"a sine transform takes at most {LARGEST:,} cells, got {self.cells:,}")

    @property
    def cells(self) -> int:
        """The number of columns."""
        return math.prod(self.shape)

    @property
    def step(self) -> float:
        """The unit of the answers in counts: sqrt(n) steps are at most 2^-15."""
        return float(2.0 ** -(15 + (self.cells - 1).bit_length() // 2 + 1))

    @property
    def roots(self) -> Array:
        """The fourth roots of the eigenvalues, shape (cells,)."""
        return _outer([_roots(size) for size in self.shape])

    @property
    def norms(self) -> Array:
        """The columns' L2 norms before they are scaled to one, shape (cells,)."""
        return _outer([_norms(size) for size in self.shape])

    def apply(self, cells: Numbers) -> Numbers:
        """Return the answers in whole steps.

        Raises:
            NotSupported: the table has more than 2^28 rows.
        """
        if int(np.abs(cells).sum()) > LARGEST_TOTAL:
            raise NotSupported("the table has more than 2^28 rows, too many for this strategy's exact rounding")
        return np.rint(self.roots * self._dst(cells / self.norms) / self.step).astype(np.int64)

    def transpose(self, answers: Array) -> Array:
        """Return A^T y, in steps."""
        return self._dst(self.roots * answers) / self.norms / self.step

    def sensitivity(self, order: int, relation: Relation) -> Fraction:
        """Return the squared L2 sensitivity in steps, rounded up: (d + sqrt(n) step + e)^2 / step^2.

        d is 1, or sqrt(2) where a row moves (no two columns have a negative product: the square root of a
        non-negative inverse M-matrix is non-negative). Rounding moves each answer by up to half a step on either side,
        hence sqrt(n) steps between neighbours. The transform's floating-point error e is at most
        2^28 * 32 * 4^(k - 1) (sum of log2(2 n_i + 2)) 2^-53 on either side for k axes.

        Raises:
            NotSupported: order 1; the L1 sensitivity is not known in closed form.
        """
        if order == 1:
            raise NotSupported("dst is calibrated to rho; under epsilon use `hierarchy`")
        distance = Fraction(1) if relation is Relation.ADD_REMOVE else Fraction(665857, 470832)  # just above sqrt(2)
        step = Fraction(self.step)
        levels = sum((2 * size + 2).bit_length() for size in self.shape)
        float_error = Fraction(2 * 32 * 4 ** (len(self.shape) - 1) * levels, 2**25)
        return (distance + (math.isqrt(self.cells) + 1) * step + float_error) ** 2 / step**2

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return A^-1 y: A is square."""
        del variance
        return self.norms * self._dst(answers * self.step / self.roots)

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return A^-1 V A^-T w."""
        norms = self.norms
        return norms * self._dst(variance * self.step**2 / self.roots**2 * self._dst(norms * weights))

    def cell_variances(self, variance: Variance) -> Array:
        """Return the diagonal of A^-1 V A^-T.

        Raises:
            NotSupported: several axes, and answers of different variances.
        """
        if np.ndim(variance) and len(self.shape) > 1:
            raise NotSupported("a sine transform over several axes has answers of one variance")
        if len(self.shape) == 1:
            return self.norms**2 * _diagonal(variance * self.step**2 / self.roots**2)
        return (
            variance * self.step**2 * _outer([_norms(size) ** 2 * _diagonal(_roots(size) ** -2) for size in self.shape])
        )

    def _dst(self, values: Numbers) -> Array:
        table = np.asarray(values, dtype=np.float64).reshape(self.shape)
        for axis in range(table.ndim):
            table = np.moveaxis(dst(np.moveaxis(table, axis, -1)), -1, axis)
        return table.ravel()


def dst(values: Array) -> Array:
    """Return the orthonormal DST-I of every row, from the odd sequence that continues it."""
    size = values.shape[-1]
    odd = np.zeros((*values.shape[:-1], 2 * size + 2))
    odd[..., 1 : size + 1], odd[..., size + 2 :] = values, -values[..., ::-1]
    return np.asarray(-np.fft.rfft(odd).imag[..., 1 : size + 1] / math.sqrt(2 * (size + 1)))


def _roots(size: int) -> Array:
    angles = np.arange(1, size + 1) * (math.pi / (2 * (size + 1)))
    return np.asarray(np.sqrt(math.sqrt(size + 1) / (2 * np.sin(angles))))


@functools.lru_cache(maxsize=4)
def _norms(size: int) -> Array:
    """Return the norms of one axis, read-only: every operation needs them, and they cost a transform."""
    norms = np.sqrt(_diagonal(_roots(size) ** 2))
    norms.flags.writeable = False
    return norms


def _diagonal(values: Array) -> Array:
    """Return the diagonal of S diag(values) S by one cosine transform: sin^2 a = (1 - cos 2 a) / 2."""
    size = len(values) + 1
    half = np.fft.rfft(np.concatenate([[0.0], values])).real
    cosines = np.concatenate([half, half[1 : (size + 1) // 2][::-1]])[1:]
    return np.asarray((np.sum(values) - cosines) / size)


def _outer(parts: Sequence[Array]) -> Array:
    """Return the products of one number of each part, the first part outermost."""
    return functools.reduce(lambda left, right: np.multiply.outer(left, right).ravel(), parts)
