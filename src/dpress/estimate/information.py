"""The information that reports hold on a few cells of the joint table: Newton's step, and standard errors.

With B_iw = L_i(w) / p_i the second derivative of -sum_i c_i log p_i is B^T diag(c) B; on m cells it costs one pass of
2 m^2 operations a report, and m is small because a likelihood of greatest value lies in few cells.
Paper: Kim, Carbonetto, Stephens, Anitescu 2020 (mixSQP: sequential quadratic programs for mixture proportions).
"""

import numpy as np
import numpy.typing as npt
import scipy.optimize

from dpress.core.errors import NotSupported
from dpress.core.linear import Array
from dpress.estimate.likelihood import LEAST, Fold, Halves, Split

LARGEST = 1024  # cells whose information is worth a matrix
ADDED = 128  # cells from outside that one step takes in
EMPTY = 1e-7  # a share below which a cell counts as empty
RIDGE = 1e-7  # of the largest eigenvalue: smaller ones are rounding in single precision
Cells = npt.NDArray[np.int64]


def working_set(table: Array, slope: Array, allowed: npt.NDArray[np.bool_]) -> Cells:
    """Return the cells that hold something, and the allowed ones that would gain most from holding something."""
    outside = np.flatnonzero(allowed & (slope > 1) & (table <= EMPTY))
    best = outside[np.argsort(slope[outside])[::-1][:ADDED]]
    return np.union1d(np.flatnonzero(table > EMPTY), best)


def information(fold: Fold, split: Split, table: Array, cells: Cells) -> Array:
    """Return sum_i c_i L_i(w) L_i(w') / p_i^2 over the reports, for some cells, shape (m, m); one pass."""
    matrix = split.matrix(table)
    order = np.asarray(split.table(np.arange(split.cells).reshape(split.shape)))[cells]
    rows, columns = np.divmod(order, split.shape[1])

    def kernel(halves: Halves) -> Array:
        joint = halves.left @ matrix.astype(halves.left.dtype)
        each = np.maximum(np.einsum("ij,ij->i", joint, halves.right), LEAST)
        scaled = halves.left[:, rows] * halves.right[:, columns]
        scaled *= (np.sqrt(halves.counts) / each).astype(scaled.dtype)[:, None]
        return np.asarray(scaled.T @ scaled, dtype=np.float64)

    return fold(kernel)


def minimiser(curvature: Array, slope: Array) -> Array | None:
    """Return the u >= 0 of least u^T H u / 2 - (2 g - 1)^T u, None where the search for it gives up.

    That is the second-order model of sum(u) - mean log sum_w u_w L_i(w) at P, as H P = g; its free minimum adds up to 1
    because the objective is that of the simplex with the constraint as a price of 1.
    """
    values, vectors = np.linalg.eigh(curvature)
    roots = np.sqrt(np.maximum(values, RIDGE * values[-1]))
    aim = (vectors.T @ (2 * slope - 1)) / roots
    try:
        solution, _ = scipy.optimize.nnls(roots[:, None] * vectors.T, aim)
    except RuntimeError:  # too many changes of sign
        return None
    return np.asarray(solution) if solution.any() else None


def standard_errors(fold: Fold, split: Split, table: Array) -> Array:
    """Return the standard errors of a converged maximum of the likelihood, in shares; 0 outside its support.

    From the inverse observed information on the cells that hold something, under the constraint that they add up to 1:
    Cov = J^-1 - J^-1 1 1^T J^-1 / (1^T J^-1 1). One pass.
    Valid for many reports, where the true table is positive on exactly these cells. Not valid for cells at or near 0
    (their estimate is not normal, and which cells are empty was itself estimated), for a fit stopped early or pulled by
    a prior (it is biased, by more than these figures); then the unbiased joint of `channel_inverse` has honest ones.

    Raises:
        NotSupported: more than LARGEST cells hold something, or the reports do not tell them apart.
    """
    cells = np.flatnonzero(table > EMPTY)
    if cells.size > LARGEST:
        raise NotSupported(f"standard errors need the information on {cells.size} cells, more than {LARGEST}")
    inverse = np.linalg.pinv(known := information(fold, split, table, cells), hermitian=True)
    if np.linalg.matrix_rank(known, hermitian=True) < cells.size:
        raise NotSupported("the reports do not tell apart all the cells that hold something; ask for fewer attributes")
    ones = inverse.sum(axis=1)
    out = np.zeros(split.cells)
    out[cells] = np.sqrt(np.maximum(inverse.diagonal() - ones**2 / ones.sum(), 0))
    return out
