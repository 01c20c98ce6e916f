"""The exact error of a mechanism on a workload of tables, ranges or boxes, or predicates."""

import math
import operator
from collections.abc import Sequence
from typing import cast

import numpy as np

from dpress.core.maps.linear import Array, Invertible, Variance
from dpress.core.maps.workload import Areas, Predicates, Workload
from dpress.core.methods.mechanism import Decoder, Mechanism
from dpress.mechanisms.linear import product
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.protocol.collection import as_collection


def predicted(mechanism: Mechanism, workload: Workload | Areas) -> float | None:
    """Return the mean variance of an answer over a workload, in counts squared.

    Of a collection that of a cell, for the users who took part and with the shares that its estimator supposes. None
    where there is no formula.
    """
    if (collection := as_collection(mechanism)) is not None:
        return collection.mean_variance(collection.users)
    if isinstance(mechanism, MatrixMechanism) and not isinstance(workload, Areas):
        return mean_variance(mechanism, workload)
    return None


def mean_variance(mechanism: MatrixMechanism, workload: Workload) -> float:
    """Return the exact variance of an answer, averaged over the workload, in counts squared."""
    if workload.axes:
        return product.mean_variance(mechanism.strategy, workload, [noise.variance for noise in mechanism.noises])
    if workload.sums is not None:
        return float(variances_of(mechanism, workload).mean())
    variances = table_variances(mechanism.decoder, workload, mechanism.variance)
    cells = [math.prod(workload.shape[axis] for axis in table) for table in workload.tables]
    return math.fsum(map(operator.mul, cells, variances)) / workload.queries


def table_variances(decoder: Decoder, workload: Workload, variance: Variance) -> list[float]:
    """Return the variance of a cell of every table that is asked for, within which all cells have the same.

    Args:
        decoder: of the strategy that measures them.
        workload: the tables.
        variance: of every answer that is measured, in counts squared; see `MatrixMechanism.variance`.
    """
    measured = {*workload.tables} <= {*decoder.tables} and len(workload.tables) > 1
    if measured:
        pairs = zip(decoder.tables, decoder.cell_variances(variance), strict=True)
        first = {table: float(cells[0]) for table, cells in pairs}
        return [first[table] for table in workload.tables]
    return [decoder.query_variance(variance, _first_cell(workload.shape, table)) for table in workload.tables]


def _first_cell(shape: Sequence[int], table: Sequence[int]) -> list[Array]:
    """Return the weights of a table's first cell: one cell of each of its axes, all of every other."""
    return [np.eye(1, size)[0] if axis in table else np.ones(size) for axis, size in enumerate(shape)]


def variances_of(mechanism: MatrixMechanism, workload: Predicates) -> Array:
    """Return the exact variance of every predicate's answer by least squares, in counts squared, shape (queries,).

    Formula: w_i Cov w_i^T, w_i the atoms of predicate i, Cov that of the atoms' estimates.
    """
    return np.asarray(np.einsum("ij,ij->i", workload.sums.matrix, covariances(mechanism, workload)))


def covariances(mechanism: MatrixMechanism, workload: Predicates) -> Array:
    """Return Cov w_i for every predicate, in counts squared, shape (queries, atoms)."""
    return cast("Invertible", mechanism.strategy.map).covariance(workload.sums.matrix, mechanism.variance)
