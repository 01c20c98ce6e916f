"""What the errors of two sums, or of two sets of groups, have in common: noise, and sampling by replicates.

two sums -> the correlation of their noise; noisy deviations of two sums or sets -> a variance of sampling.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.sampling_variance import SamplingVariance
from dpress.kinds.statistics.group_results import Mask

if TYPE_CHECKING:
    from dpress.kinds.statistics.curator.estimates import GroupEstimates


def correlation(sums: "GroupEstimates", first: str, second: str) -> float:
    """Return the correlation of the noise of two sums of a set: their count's, where both are of all rows."""
    if first == second:
        return 1.0
    places = [sums.by_name[name][0] for name in (first, second)]
    if not all(sums.strategy.parts[place].counts_all for place in places):
        return 0.0
    centres = [sums.sum_scale(name)[0] for name in (first, second)]
    errors = [float(sums.of(name).standard_error[0]) for name in (first, second)]
    return math.prod(centres) * float(sums.weights[1][0]) / math.prod(errors)


def of_difference(first: "GroupEstimates", second: "GroupEstimates", name: str) -> SamplingVariance | None:
    """Return the variance of a mean or a share less that of other groups; None without replicates.

    The same replicates are of both, and so is what they have in common; the noise of different groups is independent.
    """
    place, radius = first.by_name[name][0], first.radius_of(name)
    if (deviations := first.deviations(place)) is None or radius is None:
        return None
    (left, noise), (right, beside) = (each.shifts(place, radius) for each in (first, second))
    return deviations.variance_of(left - right, noise + beside)


def of_quotient(sums: "GroupEstimates", first: str, second: str) -> SamplingVariance | None:
    """Return the variance of one sum over another of the same rows; None without replicates.

    (S + x) / (Q + y) - R = (x - R y) / (Q + y), R = S / Q; two sums of one part are made of the same deviations.
    A denominator counts at least as half of Q.
    """
    places = [sums.by_name[name][0] for name in (first, second)]
    above, below = (sums.deviations(place) for place in places)
    if above is None or below is None:
        return None
    divisor = sums.of(second).value
    ratio = float(sums.of(first).value[0] / divisor[0])
    (centre, radius), (other, length) = (sums.sum_scale(name) for name in (first, second))
    y, noise = below.sum_shifts(other, length)
    scale = 1 / np.maximum(divisor[:, None] + y, divisor[:, None] / 2)
    if places[0] == places[1]:
        form, spread = above.sum_shifts(centre - ratio * other, radius - ratio * length)
    else:
        x, beside = above.sum_shifts(centre, radius)
        form, spread = x - ratio * y, beside + ratio**2 * noise
    return above.variance_of(scale * form, scale**2 * spread)


def of_weights(sums: "GroupEstimates", *sides: tuple[Mask, Mask]) -> SamplingVariance | None:
    """Return the variance of one sum of weights over another, or of that less the same of other groups.

    Args:
        sums: of every group.
        sides: the groups of both sums; of a difference twice, and no group is in both. None without replicates.
    """
    complete = (place for place, part in enumerate(sums.strategy.of_rows) if part.counts_all)
    deviations = sums.deviations(next(complete, len(sums.strategy.parts)))
    if deviations is None:
        return None
    shifts, noises = list[Array](), list[Array]()
    for masks in sides:
        left, right = (mask.astype(np.float64) for mask in masks)
        above, below = (float(mask @ sums.weights[0]) for mask in (left, right))
        if below <= 0:
            return None
        shift, noise = deviations.quotients(left, right, (above, below))
        shifts, noises = [*shifts, shift], [*noises, noise]
    shift = shifts[0] if len(shifts) == 1 else shifts[0] - shifts[1]
    return deviations.variance_of(shift, np.sum(noises, axis=0))
