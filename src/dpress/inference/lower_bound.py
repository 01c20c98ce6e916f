"""The lower bound on the mean error of any strategy, and sums over all ranges as means."""

import math

from dpress.core.basics.claim import Relation
from dpress.core.maps.workload import Workload

LARGEST = 700.0  # of a logarithm whose number is a float


def average_over_ranges(total: float, cells: int) -> float:
    """Return a sum over all ranges as the mean over all n (n + 1) / 2 of them."""
    return total / (cells * (cells + 1) / 2)


def lower_bound(workload: Workload, relation: Relation) -> float:
    """Return the least mean error coefficient times squared sensitivity that any strategy can have.

    Formula: (sum of the workload's singular values)^2 / (n m), m queries. Under replace-one the number of rows is
    public, so the largest singular value may be lost, and a strategy of diameter d fits in a ball of radius
    d / sqrt(2) (Jung): 2 (sum of the other singular values)^2 / (n m).
    It is for L2 sensitivities, Gaussian noise: there it is attained or nearly so. L1 sensitivities, of Laplace noise,
    are never smaller, so it holds for them, and is far below what is known where a row counts in many answers. It stays
    a bound where the workload knows its trace norm only from below and its spectral norm only from above.
    Source: Li and Miklau 2013, singular value bound, for both norms.

    A bound for some of the cells holds for all of them: n leaves out an atom of which no predicate holds. Logarithms
    are added: tables over many attributes have more cells than a float has words for. Infinite beyond any float.
    """
    cells = workload.cells if workload.sums is None else workload.sums.counted
    trace, largest = workload.log_norms
    kept = 1.0 if relation is Relation.ADD_REMOVE else 2 * max(0.0, -math.expm1(largest - trace)) ** 2
    logarithm = 2 * trace - math.log(cells) - math.log(workload.queries)
    return kept * math.exp(logarithm) if logarithm < LARGEST else math.inf
