"""The information that reports hold on a few cells of the joint table, for Newton's step.

With B_iw = L_i(w) / p_i the second derivative of -sum_i c_i log p_i is B^T diag(c) B; on m cells it costs one pass of
2 m^2 operations a report, and m is small because a likelihood of greatest value lies in few cells.
Paper: Kim, Carbonetto, Stephens, Anitescu 2020 (mixSQP: sequential quadratic programs for mixture proportions).
"""

import numpy as np
import numpy.typing as npt

from dpress.core.basics.extras import scipy
from dpress.core.maps.linear import Array
from dpress.inference.joint.likelihood import LEAST, Fold, Halves, Split

LARGEST = 1024  # cells whose information is kept as a matrix
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
    """Return the u >= 0 of least u^T H u / 2 - (2 slope - 1)^T u, None where the search for it gives up.

    That is the second-order model of sum(u) - mean log sum_w u_w L_i(w) at P, as H P = slope; its free minimum adds up
    to 1 because the objective is that of the simplex with the constraint as a price of 1.
    """
    values, vectors = np.linalg.eigh(curvature)
    roots = np.sqrt(np.maximum(values, RIDGE * values[-1]))
    aim = (vectors.T @ (2 * slope - 1)) / roots
    try:
        solution, _ = scipy("optimize").nnls(roots[:, None] * vectors.T, aim)
    except RuntimeError:  # too many changes of sign
        return None
    return np.asarray(solution) if solution.any() else None
