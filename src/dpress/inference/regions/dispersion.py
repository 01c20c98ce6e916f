"""How much more children of a region differ than by chance, from noisy estimates: moments by weighted regression."""

import numpy as np

from dpress.core.maps.linear import Array

POOLED = 1.0  # of the mean of all cells beside a cell's own moments
FIRST, LEAST = 0.02, 1e-6
ROUNDS = 3


def dispersions(estimates: Array, variances: Array, expected: Array) -> Array:
    """Return phi for every cell, where (estimate - m)^2 is on average v + m + phi m N, N the sum of a row's m.

    Weighted by the inverse square of that mean, cell by cell, each drawn to all cells together.

    Args:
        estimates: shape (children, cells).
        variances: v of every child's estimates, infinite where it has none, shape (children,).
        expected: m, shape (children, cells).
    """
    estimated = np.isfinite(variances)
    mean, noise = expected[estimated], variances[estimated, None]
    factor = mean * mean.sum(axis=1, keepdims=True)
    excess = (estimates[estimated] - mean) ** 2 - noise - mean
    phi = np.full(expected.shape[1], FIRST)
    for _ in range(ROUNDS):
        weights = factor / np.maximum(noise + mean + phi * factor, LEAST) ** 2
        above, below = (weights * excess).sum(axis=0), (weights * factor).sum(axis=0)
        phi = (above + POOLED * above.mean()) / np.maximum(below + POOLED * below.mean(), LEAST)
        phi = np.clip(phi, LEAST, 1.0)  # more no shares can differ
    return phi
