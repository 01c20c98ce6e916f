"""The exact error of a mechanism on a workload of tables, ranges or boxes, or predicates."""

from typing import cast

import numpy as np

from dpress.core.maps.linear import Array, Invertible
from dpress.core.maps.workload import Areas, Predicates, Workload
from dpress.core.methods.mechanism import Mechanism
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
    decoder, variance, total = mechanism.decoder, mechanism.variance, 0.0
    measured = {*workload.tables} <= {*decoder.tables} and len(workload.tables) > 1
    by_table = dict(zip(decoder.tables, decoder.cell_variances(variance), strict=True)) if measured else {}
    for table in workload.tables:  # within a table every cell has the same variance
        if table in by_table:
            total += by_table[table].size * float(by_table[table][0])
            continue
        weights = [np.eye(1, n)[0] if axis in table else np.ones(n) for axis, n in enumerate(workload.shape)]
        cells = int(np.prod([workload.shape[axis] for axis in table], dtype=np.int64))
        total += cells * decoder.query_variance(variance, weights)
    return total / workload.queries


def variances_of(mechanism: MatrixMechanism, workload: Predicates) -> Array:
    """Return the exact variance of every predicate's answer by least squares, in counts squared, shape (queries,).

    Formula: w_i Cov w_i^T, w_i the atoms of predicate i, Cov that of the atoms' estimates.
    """
    return np.asarray(np.einsum("ij,ij->i", workload.sums.matrix, covariances(mechanism, workload)))


def covariances(mechanism: MatrixMechanism, workload: Predicates) -> Array:
    """Return Cov w_i for every predicate, in counts squared, shape (queries, atoms)."""
    return cast("Invertible", mechanism.strategy.map).covariance(workload.sums.matrix, mechanism.variance)
