"""Simulated normal numbers, of noise or people, for predictions and bootstraps; nothing private is drawn with them."""

import numpy as np

from dpress.core.basics.extras import scipy
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array


def normal(size: int, *, rng: Generator) -> Array:
    """Return independent standard normal numbers, shape (size,), by the inverse of their distribution."""
    return np.asarray(scipy("special").ndtri(uniform(size, rng=rng)))


def uniform(size: int, *, rng: Generator) -> Array:
    """Return independent uniform numbers, shape (size,): the middles of 2^52 equal parts, so neither 0 nor 1."""
    return np.asarray((rng.words(size) >> np.uint64(12)) * 2.0**-52 + 2.0**-53)
