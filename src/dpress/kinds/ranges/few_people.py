"""Ranges of few people: how wrong adjusted counts are likely to be, and the tree that is best for them.

Unbiased answers err by the noise alone, whoever the people are. Counts >= 0 gain by what noise cannot have made, the
more the fewer people there are; what is left is mostly the noise of large parts of the table, which a tree of few
levels, chosen for unbiased ranges, measures with more noise than one of branching 4 with its root.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dpress.core.basics.rng import Generator, seeded
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.workload import Boxes
from dpress.core.methods.mechanism import Decoder
from dpress.inference.box_sums import box_sums
from dpress.inference.normal import normal
from dpress.inference.poisson import poisson
from dpress.inference.postprocess import posterior
from dpress.kinds.ranges.drawn import drawn
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.ranges.level_tree import LevelTree

BRANCHING = 4
ROUGHS = (0.5, 1.5, 3.0)  # standard deviations of the logarithm of a half's weight: from even to spikes
RUNS = 4  # populations of each
DRAWN = 500  # ranges
SEED = 1
MOST_CELLS = 1 << 16  # whose likely error is simulated within seconds


def serves(workload: Boxes) -> bool:
    """Return whether the error of these ranges is simulated."""
    return len(workload.axes) == 1 and workload.cells <= MOST_CELLS


def tree(mechanism: MatrixMechanism) -> MatrixMechanism:
    """Return the tree for few people, with the same promise."""
    (cells,) = mechanism.decoder.shape
    return MatrixMechanism(strategy=Hierarchy(cells, BRANCHING, root=True), loss=mechanism.loss, unit=mechanism.unit)


@functools.lru_cache(maxsize=64)
def likely_error(mechanism: MatrixMechanism, workload: Boxes, users: int) -> float:
    """Return the mean squared error that ranges by `posterior` counts are likely to have, in counts squared.

    The mean over made-up populations of so many people, from spread almost evenly to in spikes (log-normal cascades),
    and one release of each: what is simulated is about nobody, and says which method errs less rather than by how much
    an answer will be wrong.

    Error: most of a release's is the noise of the largest parts, so that twelve releases tell the mean to 15
    to 30 %, its root to 10 to 15 %.

    Args:
        mechanism: a curator's, over one attribute.
        workload: the ranges.
        users: how many people there are.
    """

    def adjusted(truth: Any, rng: Generator) -> Array:
        return _adjusted(mechanism.decoder, mechanism.measure(truth, rng=rng))

    return _mean_error(adjusted, workload, users)


def likely_error_of_reports(tree: LevelTree, workload: Boxes, users: int) -> float:
    """Return the same of so many devices that report once about a tree; how many they are is known.

    Args:
        tree: that devices are asked about.
        workload: the ranges.
        users: how many devices report.
    """

    def adjusted(truth: Any, rng: Generator) -> Array:
        measured = tree.simulated(truth.astype(float), users, rng=rng)
        return _adjusted(tree.decoder(users), measured, users=int(truth.sum()))

    return _mean_error(adjusted, workload, users)


def _adjusted(decoder: Decoder, measured: Measurement, users: int | None = None) -> Array:
    """Return the counts by which a release answers."""
    (counts,) = decoder.estimate(measured)
    noise = functools.partial(decoder.query_variance, measured.variance)
    return posterior(counts, shape=counts.shape, noise=noise, users=users)


def _mean_error(adjusted: Callable[[Any, Generator], Array], workload: Boxes, users: int) -> float:
    """Return the mean squared error of ranges by the counts that are made of each population."""
    rng, errors = seeded(SEED), list[float]()
    for rough in ROUGHS * RUNS:
        truth = np.rint(poisson(users * _cascade(workload.cells, rough, rng), rng=rng)).astype(np.int64)
        (ranges,) = drawn(workload, DRAWN, rng=rng)
        errors.append(float(np.mean(box_sums(adjusted(truth, rng) - truth, [ranges]) ** 2)))
    return float(np.mean(errors))


def _cascade(cells: int, rough: float, rng: Generator) -> Array:
    """Return shares of the cells: halves of halves with weights of their own."""
    shares = np.ones(1)
    while shares.size < cells:
        weights = np.exp(rough * normal(2 * shares.size, rng=rng)).reshape(-1, 2)
        shares = (shares[:, None] * weights / weights.sum(axis=1, keepdims=True)).ravel()
    return np.asarray(shares[:cells] / shares[:cells].sum())
