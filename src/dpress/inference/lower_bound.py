"""The lower bound on the mean error of any strategy, and sums over all ranges as means."""

from dpress.core.basics.claim import Relation
from dpress.core.maps.workload import Workload


def average_over_ranges(total: float, cells: int) -> float:
    """Return a sum over all ranges as the mean over all n (n + 1) / 2 of them."""
    return total / (cells * (cells + 1) / 2)


def lower_bound(workload: Workload, relation: Relation) -> float:
    """Return the least mean error coefficient times squared sensitivity that any strategy can have.

    Formula: (sum of the workload's singular values)^2 / (n m), m queries. Under replace-one the number of rows is
    public, so the largest singular value may be lost, and a strategy of diameter d fits in a ball of radius
    d / sqrt(2) (Jung): 2 (sum of the other singular values)^2 / (n m).
    It holds for L2, and so for L1, which is never smaller, and stays a bound where the workload knows its trace norm
    only from below and its spectral norm only from above.
    Source: Li and Miklau 2013, singular value bound.

    A bound for some of the cells holds for all of them: n leaves out an atom of which no predicate holds. Tables over
    more cells than a float has words for know their norms over sqrt(n).
    """
    cells = workload.cells if workload.sums is None else workload.sums.counted
    try:
        trace, largest = workload.trace_norm, workload.spectral_norm
        return _bound(trace, largest, relation) / cells / workload.queries
    except OverflowError:
        bound = _bound(*workload.relative_norms, relation)
        return bound and bound / workload.queries  # which may be beyond any float, too


def _bound(trace: float, largest: float, relation: Relation) -> float:
    return trace**2 if relation is Relation.ADD_REMOVE else 2 * max(0.0, trace - largest) ** 2
