"""Simulated numbers of reports: Poisson numbers with given means. Nothing private is drawn with them."""

import numpy as np

from dpress.core.basics.extras import scipy
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.inference.normal import uniform

FEW = 10.0  # expected reports below which a Poisson number is drawn as such
MOST = 50  # of them: more come with a chance of 1e-19


def poisson(mean: Array, *, rng: Generator) -> Array:
    """Return numbers >= 0 with these means: exact Poisson numbers where few are expected.

    Elsewhere (sqrt(m - 1/4) + Z / 2)^2 with Z normal: mean m, variance m - 1/8. Simulated noise: nothing private.
    """
    ndtri = scipy("special").ndtri

    chances = uniform(mean.size, rng=rng)
    out = (np.sqrt(np.maximum(mean - 0.25, 0)) + ndtri(chances) / 2) ** 2
    few = np.flatnonzero(mean < FEW)
    chance = np.exp(-mean[few])
    below, counts = chance.copy(), np.zeros(few.size)
    for number in range(1, MOST):
        counts += chances[few] > below
        chance *= mean[few] / number
        below += chance
    out[few] = counts
    return np.asarray(out)
