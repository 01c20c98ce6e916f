"""What shares of halves are like before they are measured: mixtures of beta distributions, and how far they reach.

A half's share of its parent's people is taken to be drawn from Beta(a, a), and the people, N of them, to fall to the
halves by it, so that the count's share varies by (1 + 2 a / N) / (4 (2 a + 1)): again as that of a Beta(a', a').
"""

import functools

import numpy as np

from dpress.core.basics.extras import scipy
from dpress.core.maps.linear import Array

CONCENTRATIONS = np.array([0.05, 0.25, 1.0, 4.0, 16.0, 64.0, 512.0])
"""a, from halves of which one is empty to halves that are even."""

FIRST, STEP, KINDS = -6.0, 0.5, 40  # binary logarithms of a' in the table
ANGLES = 1024  # steps of the table between a share of 0 and of 1, even in the arcsine of its root


@functools.cache
def distributions() -> Array:
    """Return distribution functions of shares, for every tabulated a' at every angle, shape (KINDS, ANGLES + 1)."""
    shares = np.sin(np.linspace(0, np.pi / 2, ANGLES + 1)) ** 2
    concentrations = 2.0 ** (FIRST + STEP * np.arange(KINDS))
    table: Array = scipy("special").betainc(concentrations[:, None], concentrations[:, None], shares)
    return table
