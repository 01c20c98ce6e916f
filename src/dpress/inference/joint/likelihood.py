"""Likelihoods of reports over the cells of a joint table, in two factors: reports -> halves -> two products a pass.

Every attribute's part of report i gives a likelihood L_ij over its values, and given the record the parts are
independent: L_i(w) = prod_j L_ij(w_j). The attributes are split into two groups whose tables have about equally many
cells, a and b; the Khatri-Rao products of each group are the halves X (reports, a) and Y (reports, b), and for a joint
table P as an (a, b) matrix

    p_i = sum_w P(w) L_i(w) = ((X P) * Y) summed over row i,    sum_i c_i L_i(w) / p_i = X^T diag(c / p) Y.

So a pass costs 4 a b operations a report instead of a loop over cells, and memory is 4 (a + b) bytes a report where the
halves are kept; through a fold over batches it is that of the batches under way.
"""

import contextlib
import functools
import importlib
import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.core.reports.pieces import THREADS, on_threads

Single = npt.NDArray[np.float32]
Floats = npt.NDArray[np.floating[Any]]  # likelihoods, in the precision of the products

BLOCK = 1 << 11  # rows of a product: both halves of a block stay in the cache
SHARES = 64  # of the blocks of a fold in memory: what a thread takes at a time
LEAST = 1e-30  # of a report's probability: what products in single precision can still hold


@dataclass(frozen=True, slots=True)
class Split:
    """The attributes in two groups whose tables have about equally many cells.

    Args:
        sizes: the number of values of every attribute.

    >>> Split((16, 7, 6, 5, 2)).left, Split((16, 7, 6, 5, 2)).shape
    ((0, 3), (80, 84))
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise ValueError(f"every attribute needs at least one value, got sizes={self.sizes}")

    @property
    def cells(self) -> int:
        """The number of cells of the joint table."""
        return math.prod(self.sizes)

    @property
    def left(self) -> tuple[int, ...]:
        """The axes of the first group: the one that holds axis 0 in the split of least a + b."""
        return _left(self.sizes)

    @property
    def right(self) -> tuple[int, ...]:
        """The axes of the second group."""
        return tuple(axis for axis in range(len(self.sizes)) if axis not in self.left)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of cells of both groups, (a, b)."""
        return self._product(self.left), self._product(self.right)

    def matrix(self, table: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a joint table, flat and row-major, as an (a, b) matrix."""
        return np.ascontiguousarray(table.reshape(self.sizes).transpose(self.left + self.right)).reshape(self.shape)

    def table(self, matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return an (a, b) matrix as the joint table, flat and row-major."""
        order = self.left + self.right
        permuted = matrix.reshape([self.sizes[axis] for axis in order])
        return np.ascontiguousarray(permuted.transpose(np.argsort(order))).ravel()

    def halves(self, likelihoods: Sequence[Floats], counts: Array | None = None) -> "Halves":
        """Return the halves of reports from one likelihood matrix (reports, n_j) for every attribute.

        A report's likelihood may be given up to a factor: rows are scaled so that the largest entry is 1.

        Args:
            likelihoods: non-negative, no row all zero.
            counts: how often every report occurs, shape (reports,); left out, once each.

        Raises:
            ValueError: shapes that do not fit the sizes, or a report that no value explains.
        """
        widths = tuple(part.shape[1] for part in likelihoods)
        if widths != self.sizes or len({len(part) for part in likelihoods}) != 1:
            raise ValueError(f"likelihoods must be matrices of {self.sizes} columns and equally many rows")
        rows = len(likelihoods[0])
        multiplicity = np.ones(rows) if counts is None else np.asarray(counts, dtype=np.float64)
        if multiplicity.shape != (rows,):
            raise ValueError(f"counts must have shape ({rows},), got {multiplicity.shape}")
        first, second = (khatri_rao([likelihoods[axis] for axis in axes], rows) for axes in (self.left, self.right))
        return Halves(left=_scaled(first), right=_scaled(second), counts=multiplicity)

    def _product(self, axes: tuple[int, ...]) -> int:
        return math.prod(self.sizes[axis] for axis in axes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """Both halves of the likelihoods of some reports.

    Args:
        left: X, shape (reports, a), rows of maximum 1.
        right: Y, shape (reports, b), rows of maximum 1.
        counts: how often every report occurs, shape (reports,).
    """

    left: Floats
    right: Floats
    counts: Array

    def __len__(self) -> int:
        return len(self.left)

    def rows(self, chosen: slice | npt.NDArray[Any]) -> "Halves":
        """Return some of the reports."""
        return Halves(left=self.left[chosen], right=self.right[chosen], counts=self.counts[chosen])


Kernel = Callable[[Halves], Array]
Fold = Callable[[Kernel], Array]
"""Runs a pure kernel on every batch of reports and adds up the arrays of one fixed shape that it returns."""


def khatri_rao(parts: Sequence[Floats], rows: int) -> Floats:
    """Return for every row the flattened outer product of the parts' rows; a column of ones for no part."""
    out: Floats = np.ones((rows, 1), dtype=parts[0].dtype if parts else np.float32)
    for part in parts:
        out = (out[:, :, None] * part[:, None, :]).reshape(rows, -1)
    return out


def row_maxima(rows: Floats) -> Floats:
    """Return the largest entry of every row as a column; for short rows ten times as fast as NumPy's along axis 1."""
    return np.asarray(np.ascontiguousarray(rows.T).max(axis=0)[:, None])


def in_memory(halves: Halves, *, threads: int = THREADS, block: int = BLOCK) -> Fold:
    """Return the fold over reports in memory: row blocks on threads of its own, one BLAS thread each.

    The blocks of a share are added up one after the other, then the shares: the sum does not depend on the threads.
    Memory: 4 (a + b) bytes a report for the halves themselves, and a few (a, b) matrices of 8 bytes a thread.
    """
    step = block * max(1, -(-len(halves) // (block * SHARES)))
    starts = range(0, max(len(halves), 1), step)

    def fold(kernel: Kernel) -> Array:
        def share(start: int) -> Array:
            starts = range(start, min(start + step, max(len(halves), 1)), block)
            return added(kernel(halves.rows(slice(first, first + block))) for first in starts)

        with single_blas_thread():
            return added(on_threads(share, starts, threads=min(threads, len(starts))))

    return fold


def added(arrays: Iterable[Array]) -> Array:
    """Return the sum in the order of arrival.

    Raises:
        ValueError: there is no array.
    """
    total: Array | None = None
    for array in arrays:
        if total is None:
            total = array
        else:
            total += array
    if total is None:
        raise ValueError("there is no report to fit to")
    return total


def single_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which NumPy's BLAS keeps to the calling thread, where threadpoolctl is there to see to it.

    It changes how fast, never what is computed; without it set OPENBLAS_NUM_THREADS=1.
    """
    controller = _controller()
    return contextlib.nullcontext() if controller is None else controller.limit(limits=1, user_api="blas")


@functools.cache
def _controller() -> Any:
    try:
        return importlib.import_module("threadpoolctl").ThreadpoolController()
    except ImportError:
        return None


@functools.lru_cache(maxsize=64)
def _left(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes with axis 0 whose product and that of the others have the least sum."""
    axes = range(1, len(sizes))
    if len(sizes) > 16:
        raise ValueError(f"a joint table of {len(sizes)} attributes has too many axes; estimate at most 16 together")
    total, best = math.prod(sizes), math.inf
    left: tuple[int, ...] = (0,)
    for chosen in range(1 << len(axes)):
        half = (0, *(axis for axis in axes if chosen >> (axis - 1) & 1))
        product = math.prod(sizes[axis] for axis in half)
        if (cost := product + total // product) < best:
            best, left = cost, half
    return left


def _scaled(half: Floats) -> Floats:
    largest = row_maxima(half)
    if not (largest > 0).all() or not np.isfinite(largest).all():
        raise ValueError("a report's likelihoods must be finite, non-negative and not all zero")
    return np.asarray(half / largest)
