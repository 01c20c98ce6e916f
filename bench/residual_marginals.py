"""All pairs of attributes under rho and epsilon: ours against the bound, and how weak that is for epsilon; as JSON.

python bench/residual_marginals.py > residual_marginals.json

Figures are mean variances over all cells of all pairs, divided by the singular value bound (Li and Miklau 2013) with
the same noise: exact, no data is read. "tables" is equal noise on every table, least squares included. "hundred" plans
4,950 pairs of 100 attributes, with seconds.
The bound for epsilon counts a column by its L2 norm, which its L1 norm may exceed by far. For tables small enough to
optimise every entry of a strategy, "small" has the bound's ratio of "tables" and of the best strategy that RESTARTS
searches with columns of L1 norm 1 find; many of these use the full table, which wide tables are too large for. That
ratio is no proof, as searches end in local optima; its logarithm over that of "tables" is the part of the gap that no
strategy found closes: "left open".
Progress goes to standard error.
"""

import itertools
import json
import math
import sys
import time

import numpy as np
from scipy.optimize import minimize

from cases import say
from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.workload import Marginals as Workload
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.residual_marginals import ResidualMarginals
from dpress.release.plan.linear_error import mean_variance
from machine import facts

FOURTEEN = (2, 22, 5, 9, 3, 16, 7, 4, 12, 2, 6, 18, 8, 10)
HUNDRED = tuple(2 + place % 9 for place in range(100))
SMALL = ((2, 2, 2), (2, 2, 2, 2), (3, 3, 2), (3, 3, 3), (2,) * 5)
RHO, EPSILON = ZCDP(rho="0.5"), PureDP(epsilon="0.01")  # noise of variance 1; so much that steps do not count
RESTARTS, STEPS = 12, 400


def pairs(shape: tuple[int, ...]) -> Workload:
    """Return all tables of two attributes."""
    return Workload(shape, tuple(itertools.combinations(range(len(shape)), 2)))


def ratio(workload: Workload, strategy: Marginals | ResidualMarginals, loss: Loss, relation: Relation) -> float:
    """Return the mean variance of a strategy over the bound with the same noise."""
    unit = Unit(relation=relation)
    one = 1 / (2 * float(loss.rho)) if isinstance(loss, ZCDP) else 2 / float(loss.epsilon) ** 2
    own = mean_variance(MatrixMechanism(strategy=strategy, loss=loss, unit=unit), workload)
    return own / (one * lower_bound(workload, relation))


def matrix(workload: Workload) -> np.ndarray:
    """Return the dense workload, shape (queries, cells)."""
    places = np.indices(workload.shape).reshape(len(workload.shape), -1)
    rows = []
    for axes in workload.tables:
        sizes = [workload.shape[axis] for axis in axes]
        rows.append(np.eye(math.prod(sizes))[:, np.ravel_multi_index(places[list(axes)], sizes)])
    return np.concatenate(rows)


def searched(workload: Workload, seed: int) -> float:
    """Return the ratio of a strategy of which every entry was optimised, its columns of L1 norm 1."""
    queries, source = matrix(workload), rng.seeded(seed)
    gram, shape = queries.T @ queries, (queries.shape[0] + workload.cells, workload.cells)

    def error(flat: np.ndarray) -> tuple[float, np.ndarray]:
        raw = flat.reshape(shape)
        norms = np.abs(raw).sum(axis=0)
        strategy = raw / norms
        inverse = np.linalg.pinv(strategy.T @ strategy + 1e-9 * np.eye(workload.cells), hermitian=True)
        slope = -2 * strategy @ inverse @ gram @ inverse
        slope = (slope - np.sign(raw) * (slope * strategy).sum(axis=0)) / norms
        return float(np.sum(gram * inverse)), slope.ravel()

    noise = 0.2 * _even(math.prod(shape), source).reshape(shape)
    start = np.concatenate([queries, np.zeros((workload.cells, workload.cells))]) * _even(1, source) + noise
    found = minimize(error, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return float(found.fun) / len(queries) / lower_bound(workload, Relation.ADD_REMOVE)


def _even(size: int, source: rng.Generator) -> np.ndarray:
    """Return even numbers from 0 to 1."""
    return (source.words(size) >> np.uint64(11)) * 2.0**-53


def small(shape: tuple[int, ...]) -> dict[str, object]:
    """Return what a search finds under epsilon, and how much of the gap to the bound it leaves."""
    say(f"small: {shape}")
    workload = pairs(shape)
    tables = ratio(workload, Marginals(shape, workload.tables), EPSILON, Relation.ADD_REMOVE)
    best = min(tables, *(searched(workload, seed) for seed in range(RESTARTS)))
    return {"sizes": shape, "tables": tables, "searched": best, "left open": math.log(best) / math.log(tables)}


def large(shape: tuple[int, ...]) -> dict[str, object]:
    """Return the ratios of 14 attributes."""
    say("fourteen attributes")
    workload = pairs(shape)
    tables = Marginals(shape, workload.tables)
    out: dict[str, object] = {"sizes": shape}
    for relation in Relation:
        out[relation.value] = {
            "residual_marginals, rho": ratio(workload, ResidualMarginals(shape, workload.tables), RHO, relation),
            "tables, rho": ratio(workload, tables, RHO, relation),
            "tables, epsilon": ratio(workload, tables, EPSILON, relation),
        }
    return out


def hundred() -> dict[str, object]:
    """Return the ratio for 100 attributes, and the seconds that it takes."""
    say("a hundred attributes")
    began, workload = time.perf_counter(), pairs(HUNDRED)
    found = ratio(workload, ResidualMarginals(HUNDRED, workload.tables), RHO, Relation.ADD_REMOVE)
    return {"tables": len(workload.tables), "ratio": found, "seconds": time.perf_counter() - began}


def main() -> None:
    """Print one JSON object."""
    out = {
        "machine": facts(),
        "fourteen": large(FOURTEEN),
        "hundred": hundred(),
        "small": [small(one) for one in SMALL],
    }
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
