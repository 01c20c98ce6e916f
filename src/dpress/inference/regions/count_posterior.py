"""What a noisy estimate says of a count that is expected to be small: loops that numba compiles.

the parent's counts -> expected counts of its children -> mean and variance of each, given its estimate.
The prior is negative binomial, of variance m + phi m N (m the expected count, N the child's total): the count of a cell
whose share varies between children as under a Dirichlet distribution of concentration about 1 / phi.
"""

from typing import Any

import numpy as np

from dpress.core.basics.compiled import compiled

ROUNDS = 6  # of raking; more change an expectation by less than its own error
FURTHEST = 4.0  # standard errors by which the prior may move an estimate
SMALL = 1 / 256  # a variance below it leaves one whole number, and its densities are beyond what floats hold
LARGE = 60.0  # expected count from which the prior is taken to be normal


def _expect(profile: Any, margins: Any, places: Any, out: Any) -> None:
    """Write the children's expected tables: the parent's table, raked to the coarser tables of every child.

    Args:
        profile: the parent's counts, shape (cells,).
        margins: the coarser tables of every child, one after the other, shape (children, columns).
        places: the column of every cell in each coarser table that is to hold, shape (tables, cells).
        out: shape (children, cells).
    """
    for child in range(out.shape[0]):
        out[child] = profile
        for _ in range(ROUNDS if places.shape[0] > 1 else 1):
            for table in range(places.shape[0]):
                sums = np.zeros(margins.shape[1])
                for cell in range(out.shape[1]):
                    sums[places[table, cell]] += out[child, cell]
                for cell in range(out.shape[1]):
                    if out[child, cell] > 0:
                        out[child, cell] *= margins[child, places[table, cell]] / sums[places[table, cell]]


def _by_counts(estimate: float, variance: float, success: float, inverse: float) -> Any:
    """Return mean and variance over the counts near the estimate; success (n inverse + 1) / (n + 1) leads from n on."""
    reach = FURTHEST * np.sqrt(variance)
    count, high = max(0.0, np.floor(estimate - reach)), max(estimate, 0.0) + reach
    density, turn = np.exp((2 * (estimate - count) - 1) / (2 * variance)), np.exp(-1 / variance)
    weight, total, first, second = 1.0, 0.0, 0.0, 0.0
    while count <= high:
        total += weight
        first += weight * count
        second += weight * count * count
        weight *= (count * inverse + 1) * success / (count + 1) * density
        density *= turn
        count += 1
    mean = first / total
    return mean, max(second / total - mean * mean, 0.0)


by_counts = compiled(_by_counts)


def _posterior(estimate: float, variance: float, expected: float, extra: float) -> Any:
    """Return mean and variance of a count, given an estimate with normal error; extra is phi N."""
    if variance == np.inf or expected == 0:
        return expected, expected * (1 + extra)
    if variance < SMALL:
        return estimate, variance
    if expected < LARGE:
        return by_counts(estimate, variance, expected / (1 + extra), extra / expected)
    share = 1 / (1 + variance / (expected * (1 + extra)))
    limit = FURTHEST * np.sqrt(variance)
    return estimate + min(max((expected - estimate) * (1 - share), -limit), limit), variance * share


posterior = compiled(_posterior)


def _posteriors(estimates: Any, variances: Any, dispersions: Any, expected: Any, weights: Any) -> None:
    """Put the posterior means in the place of the expectations, and the variances into weights.

    Args:
        estimates: shape (children, cells).
        variances: of every child's estimates, infinite where it has none, shape (children,).
        dispersions: phi, shape (cells,).
        expected: shape (children, cells).
        weights: shape (children, cells).
    """
    for child in range(expected.shape[0]):
        total = expected[child].sum()
        for cell in range(expected.shape[1]):
            expected[child, cell], weights[child, cell] = posterior(
                estimates[child, cell], variances[child], expected[child, cell], dispersions[cell] * total
            )


expect, posteriors = compiled(_expect), compiled(_posteriors)
