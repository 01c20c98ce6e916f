"""How wrong the answers to a list of predicates can be at once: `largest_error` for sums of atoms.

mechanism, predicates -> what each answer adds up of the noise -> exact where answers have noise of their own, else a
union bound: from the exact tails of sums of equal noise, or from Chernoff bounds.
"""

import math

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Predicates
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.distribution import Noise
from dpress.release.plan.largest_error import BETA, Alike, LargestError, independent, union_bound
from dpress.release.plan.linear_error import covariances

ROUNDING = 1e-12  # of a tail from a transform, more than it is ever off
NEGLIGIBLE = 1e-15  # of a sum's mass, beyond the lattice of a transform
MOST_MASS = 1 << 23  # numbers that are transformed for all sums together
EQUAL = 1e-9  # between numbers that are computed and whole ones


def largest_answer(mechanism: MatrixMechanism, workload: Predicates, beta: float = BETA) -> LargestError:
    """Return how wrong the answers can be at once: with probability 1 - beta none is further off.

    Every answer's error is a weighted sum of the noise values, the weights c = A Cov w / variance. Where each answer
    has one noise value of its own (`direct_queries`, where no query is a combination of others), it is the exact
    quantile of the largest of m independent draws. Where all weights are 0 or 1 (the atoms' histogram), the smallest t
    for which the exact tails P(|X_1 + .. + X_s| > t) add up to at most beta; else the same with the bounds on tails of
    `largest_error.tail_bound`.
    Paper: foundations, max error of k counts; union bound.

    Args:
        mechanism: over the predicates' atoms.
        workload: the predicates.
        beta: strictly between 0 and 1.
    """
    if not 0 < beta < 1:
        raise ValueError(f"beta must lie strictly between 0 and 1, got beta={beta}")
    matrix, noise = mechanism.strategy.map, mechanism.noises[0]
    if isinstance(matrix, SetSums) and matrix == workload.sums and matrix.independent:
        return independent(noise, workload.queries, beta)
    weights = np.stack([matrix.apply(covariance) for covariance in covariances(mechanism, workload) / noise.variance])
    within = _by_tails(weights, noise, beta)
    if within is None:
        real = float(noise.real_variance)
        each = [
            Alike(number=1, variance=real * float(row @ row), largest=math.sqrt(real / 2) * float(np.abs(row).max()))
            for row in weights
        ]
        within = union_bound(each, mechanism.tail, beta)
    return LargestError(cells=workload.queries, beta=beta, within=within, textbook=None, exact=False)


def _by_tails(weights: Array, noise: Noise, beta: float) -> float | None:
    """Return the union bound from exact tails; None where the sums are not of equal noise, or too wide to list."""
    whole = np.rint(weights)
    if not np.isin(whole, (0, 1)).all() or np.abs(weights - whole).max() > EQUAL:
        return None
    terms, times = np.unique(whole.sum(axis=1).astype(np.int64), return_counts=True)
    real = float(noise.real_variance)
    widest = Alike(number=1, variance=real * int(terms[-1]), largest=math.sqrt(real / 2))
    reach = math.ceil(union_bound([widest], "laplace", NEGLIGIBLE))  # a Gaussian sum's tail is below that, too
    if 2 * reach * len(terms) > MOST_MASS:
        return None
    beyond = sum(number * sum_tails(noise, int(term), reach) for term, number in zip(terms, times, strict=True))
    return float(np.argmax(np.asarray(beyond) <= beta))


def sum_tails(noise: Noise, terms: int, reach: int) -> Array:
    """Return P(|X_1 + .. + X_terms| > t) for t = 0..reach, from above by at most 1e-12 or so.

    The mass of the sum by a discrete Fourier transform on a circle of more than 2 reach points; what lies beyond the
    reach comes back on the circle, and is part of what is added for rounding.

    Args:
        noise: of every term.
        terms: how many independent ones there are.
        reach: beyond which the sum has next to no mass.
    """
    size = 1 << (2 * reach + 1).bit_length()
    places = np.arange(size)
    mass = np.fft.irfft(np.fft.rfft(noise.pmf(np.minimum(places, size - places))) ** terms, size)
    far = 2 * np.cumsum(mass[size // 2 : 0 : -1])[::-1]  # at t: twice the mass of t + 1, t + 2, ..
    return np.append(far, 0.0)[: reach + 1] + ROUNDING
