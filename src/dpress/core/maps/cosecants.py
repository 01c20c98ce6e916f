"""Sums of cosecants over evenly spaced angles: the trace norms of ranges, for any number of cells."""

import math

import numpy as np

EXACT_SUM = 1 << 14  # terms up to which the sum is taken term by term
EULER = 0.57721566490153286


def cosecants(size: int, first: float, step: float) -> float:
    """Return the sum of 1 / sin((first + k) step) over k = 0..size-1, angles up to about pi / 2.

    Beyond 2^14 terms 1 / sin x = 1 / x + f(x): the first part is a difference of digamma values; f is smooth with
    integral G(x) = ln(2 tan(x / 2) / x), and the midpoint rule's end correction (Euler and Maclaurin) leaves
    O(step^3): below 1e-15, relative.

    Args:
        size: the number of angles.
        first: 1 or 1/2.
        step: between angles.
    """
    if size <= EXACT_SUM:
        return float(np.sum(1 / np.sin((np.arange(size) + first) * step)))
    stop = (size + first - 0.5) * step
    slope = 1 / stop**2 - math.cos(stop) / math.sin(stop) ** 2
    smooth = (_integral(stop) - _integral((first - 0.5) * step)) / step - step / 24 * (slope - 1 / 6)
    return _reciprocals(size, first) / step + smooth


def _integral(angle: float) -> float:
    return math.log(2 * math.tan(angle / 2) / angle) if angle > 0 else 0.0


def _reciprocals(size: int, first: float) -> float:
    """Return the sum of 1 / (first + k): digamma(first + size) - digamma(first)."""
    x = size + first
    constant = EULER + (2 * math.log(2) if first == 0.5 else 0.0)
    return constant + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)
