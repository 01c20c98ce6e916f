"""What a noisy difference of two halves says of their shares: loops that numba compiles."""

from typing import Any

import numpy as np

from dpress.core.basics.compiled import compiled
from dpress.inference.halves.share_prior import ANGLES, CONCENTRATIONS, FIRST, KINDS, STEP

REACH = 6.0  # standard errors around the estimate that are looked at
POINTS = 64  # pieces of that
NOTHING = 9.0  # reach, in shares, beyond which an estimate says nothing
SETTLED = 0.01  # a variance below it leaves one whole number
EXACT, EDGE = 1 / 64, 1 / 8  # reach below which it says all, so far from empty halves


def _kind(concentration: float, total: float) -> int:
    """Return the row of the table of distributions for a parent of so many people; see `share_prior`."""
    spread = (1 + 2 * concentration / total) / (2 * concentration + 1)
    if spread >= 1:
        return 0
    place = (np.log2((1 / spread - 1) / 2) - FIRST) / STEP
    return int(min(max(np.rint(place), 0), KINDS - 1))


kind_of = compiled(_kind)


def _below(distribution: Any, angle: float) -> float:
    """Return the mass of shares below the one of an angle, between those of the table."""
    place = angle * ANGLES / (np.pi / 2)
    before = min(int(place), ANGLES - 1)
    rest = place - before
    return float(distribution[before] + rest * (distribution[before + 1] - distribution[before]))


below = compiled(_below)


def _weigh(given: Any, distributions: Any, masses: Any, firsts: Any) -> None:
    """Write for every parent and concentration how likely the difference is, and that times the expected share.

    Args:
        given: of every parent its count, > 0, the estimated first half less the second, and the variance of that, whose
            error is taken to be normal, shape (parents, 3).
        distributions: of shares, see `share_prior.distributions`.
        masses: shape (parents, concentrations); each row up to a factor.
        firsts: of the first half, the same shape and factor.
    """
    shares, weights = np.empty(POINTS), np.empty(POINTS)
    for parent in range(len(given)):
        total, difference, variance = given[parent]
        centre, width = (1 + difference / total) / 2, REACH * np.sqrt(variance) / (2 * total)
        low, high = min(max(centre - width, 0.0), 1.0), min(max(centre + width, 0.0), 1.0)
        if width > NOTHING or variance < SETTLED or low == high:
            masses[parent] = 1.0
            firsts[parent] = 0.5 if width > NOTHING else min(max(centre, 0.0), 1.0)
            continue
        start, stop = np.arcsin(np.sqrt(low)), np.arcsin(np.sqrt(high))
        pieces = 1 if width < EXACT and low > EDGE and high < 1 - EDGE else POINTS
        step, nearest = (stop - start) / pieces, min(max(centre, low), high)
        for point in range(pieces):
            shares[point] = centre if pieces == 1 else np.sin(start + step * (point + 0.5)) ** 2
            away, least = (shares[point] - centre) / width * REACH, (nearest - centre) / width * REACH
            weights[point] = np.exp((least * least - away * away) / 2)
        for place in range(masses.shape[1]):
            distribution = distributions[kind_of(CONCENTRATIONS[place], total)]
            before, mass, first = below(distribution, start), 0.0, 0.0
            for point in range(pieces):
                after = below(distribution, start + step * (point + 1))
                piece = (after - before) * weights[point]
                mass, first, before = mass + piece, first + piece * shares[point], after
            masses[parent, place], firsts[parent, place] = mass, first


weigh = compiled(_weigh)
