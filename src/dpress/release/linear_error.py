"""The exact error of a mechanism on a workload of tables, ranges or boxes."""

import numpy as np

from dpress.core.mechanism import Mechanism
from dpress.core.workload import Areas, Boxes, Marginals
from dpress.mechanisms.linear import product
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.protocol.collection import Collection


def predicted(mechanism: Mechanism, workload: Marginals | Boxes | Areas) -> float | None:
    """Return the mean variance of an answer over a workload, in counts squared.

    Of a collection that of a cell, for the users who took part and with the shares that its estimator supposes. None
    where there is no formula.
    """
    if isinstance(mechanism, Collection):
        return mechanism.mean_variance(mechanism.users)
    if isinstance(mechanism, MatrixMechanism) and not isinstance(workload, Areas):
        return mean_variance(mechanism, workload)
    return None


def mean_variance(mechanism: MatrixMechanism, workload: Marginals | Boxes) -> float:
    """Return the exact variance of an answer, averaged over the workload, in counts squared."""
    if isinstance(workload, Boxes):
        return product.mean_variance(mechanism.strategy, workload, [noise.variance for noise in mechanism.noises])
    decoder, total = mechanism.strategy.decoder, 0.0
    for table in workload.tables:  # within a table every cell has the same variance
        weights = [np.eye(1, n)[0] if axis in table else np.ones(n) for axis, n in enumerate(workload.shape)]
        cells = int(np.prod([workload.shape[axis] for axis in table], dtype=np.int64))
        total += cells * decoder.query_variance(mechanism.variance, weights)
    return total / workload.queries
