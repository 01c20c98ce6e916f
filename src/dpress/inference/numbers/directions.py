"""The mean direction and the resultant length of numbers on a circle, with intervals.

number of users, sums of cosines and sines with their covariance -> direction and length of the mean vector.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.numbers.report_sums import Sums

ANYWHERE = math.pi / math.sqrt(3)
"""The standard deviation, in radians, of a direction that is everywhere as likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """A mean vector on the unit disk: its angle in radians and its length, each with an error and an interval.

    Args:
        angle: value, standard error, ends of the interval; the ends are within pi of the value.
        length: the same, within 0 and 1.
    """

    angle: tuple[float, float, float, float]
    length: tuple[float, float, float, float]


def direction(sums: Sums, z: float) -> Direction:
    """Return direction and length of a mean vector.

    Error: standard errors by the delta method (Mardia, Jupp 2000, Section 4.8): those of the vector across and
        along its direction, the first over the length R, but at most ANYWHERE, as much as a direction can err.
        The direction's interval are all directions d from which the vector's part across, R |sin d|, is at most
        z s, s the larger standard error of the vector: arcsin(z s / R) to each side, the whole circle where z s
        >= R. It holds at every true length, as no length is divided by. The length's interval ends z standard
        errors above and sqrt(-2 ln alpha) s below: no length at all is exceeded by that much with probability
        alpha, Rayleigh's.

    Args:
        sums: users, sums of cosines and of sines.
        z: standard errors to each side; alpha = erfc(z / sqrt(2)).
    """
    users = float(sums.values[0])
    vector = sums.values[1:] / users
    slope = np.column_stack([-vector, np.eye(2)]) / users
    spread = slope @ sums.covariance @ slope.T
    length, angle = math.hypot(*vector), math.atan2(vector[1], vector[0])
    along = np.array([math.cos(angle), math.sin(angle)])
    across = np.array([-along[1], along[0]])
    most = math.sqrt(max(float(np.linalg.eigvalsh(spread)[-1]), 0.0))
    turn, error = (_root(normal, spread) for normal in (across, along))
    half = math.asin(z * most / length) if z * most < length else math.pi
    low = length - math.sqrt(-2 * math.log(math.erfc(z / math.sqrt(2)))) * most
    high = length + z * max(error, 0.0)
    return Direction(
        angle=(angle, min(turn, ANYWHERE * length) / length if length else ANYWHERE, angle - half, angle + half),
        length=(min(length, 1.0), error, min(max(low, 0.0), 1.0), min(high, 1.0)),
    )


def _root(form: Array, spread: Array) -> float:
    return math.sqrt(max(float(form @ spread @ form), 0.0))
