"""The variance of sampling from replicate weights, with what the noise adds to it subtracted, and that error's own.

noisy theta_r - theta of every replicate, the variance of each -> c sum of squares less c sum of variances.
"""

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.sampling_variance import SamplingVariance

KURTOSIS = {1: 6.0, 2: 3.0}  # of Laplace and of Gaussian noise


def sampling_variance(deviations: Array, noise: Array, *, factor: float, order: int) -> SamplingVariance:
    """Return c sum_r (d_r^2 - v_r), d_r = theta_r - theta with noise of variance v_r.

    Error: with independent noise e_r of kurtosis k, (d + e)^2 - v has variance (k - 1) v^2 + 4 v d^2, exact; d^2 is
    estimated by their sum, at least 0. That what a ratio is divided by has noise is of higher order.

    Args:
        deviations: the noisy d_r, shape (sets, replicates).
        noise: v_r, of the same shape.
        factor: c.
        order: 1 for Laplace noise, 2 for Gaussian noise.
    """
    squares = deviations**2
    clean = np.clip((noise * (squares - noise)).sum(axis=1), 0, None)
    variances = (KURTOSIS[order] - 1) * (noise**2).sum(axis=1) + 4 * clean
    return SamplingVariance(
        value=factor * (squares - noise).sum(axis=1),
        error=factor * np.sqrt(variances),
        degrees=deviations.shape[1] - 1,
    )
