"""A noisy table shrunk toward one that was expected, as far as noise alone would explain how they differ.

expected shares, noisy shares -> what the margins do not say, shrunk -> shares with the expected margins.
Post-processing; biased toward what was expected, by design.
"""

import numpy as np

from dpress.core.linear import Array
from dpress.inference.consistency import Axes
from dpress.inference.joint.fit import fit_margins
from dpress.inference.joint.shrinkage import centred

_GRID = np.concatenate([[0.0], np.geomspace(1e-5, 100, 80)])
_LEAST = 1e-9


def shrink(expected: Array, noisy: Array, variance: float) -> Array:
    """Return the estimate of a table of two attributes, with the margins of what was expected.

    Formula: the residual D = noisy - expected, without its margins, has prior variance tau e and noise variance v in a
    cell of expected share e; it is multiplied by tau e / (tau e + v), tau by maximum likelihood (empirical Bayes).
    Paper: Efron and Morris 1973, with prior variances in proportion to what was expected.

    Args:
        expected: shares >= 0 that add up to 1, shape (rows, columns).
        noisy: unbiased, of the same shape.
        variance: of a noisy share.

    >>> shrink(np.full((2, 2), 0.25), np.array([[0.5, 0.0], [0.0, 0.5]]), 1e-9).round(3).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    residual = centred(noisy - expected)
    factor = np.prod([1 - 1 / size for size in expected.shape])  # of a centred cell's variance
    if not factor:
        return expected
    spread = np.maximum((_GRID[:, None, None] * expected + variance) * factor, 1e-300)
    likelihood = -(np.log(spread) + residual**2 / spread).sum(axis=(1, 2))
    prior = _GRID[np.argmax(likelihood)] * expected
    start = np.maximum(expected + residual * prior / (prior + variance), _LEAST)
    margins: dict[Axes, Array] = {(0,): expected.sum(axis=1), (1,): expected.sum(axis=0)}
    return fit_margins(start, margins, tolerance=1e-9, rounds=50).table
