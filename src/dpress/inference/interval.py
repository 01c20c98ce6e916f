"""Confidence intervals around answers whose noise variance is known."""

import math
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

Tail = Literal["laplace", "gaussian"]
Variances = TypeVar("Variances", float, npt.NDArray[np.float64])


def critical(confidence: float, tail: Tail) -> float:
    """Return how many standard errors an answer lies from the truth at most, with this confidence.

    Formula: the two-sided quantile of a standard variable: normal for Gaussian noise; for sums of Laplace noise the
    larger of the normal quantile and -ln(1 - confidence) / sqrt(2), a single Laplace variable having the heaviest tail
    of all such sums.

    Args:
        confidence: strictly between 0 and 1.
        tail: the kind of noise that was added.

    >>> round(critical(0.95, "gaussian"), 2), round(critical(0.95, "laplace"), 2)
    (1.96, 2.12)
    """
    if not 0 < confidence < (1 + confidence) / 2 < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, got confidence={confidence}")
    from statistics import NormalDist  # noqa: PLC0415  # a device, which imports `Tail`, needs none

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return max(z, -math.log1p(-confidence) / math.sqrt(2)) if tail == "laplace" else z


def several_critical(confidence: float, bounds: int, tail: Tail) -> float:
    """Return by how many standard errors each of some bounds is taken, so that all of them hold with this confidence.

    >>> several_critical(0.95, 1, "gaussian") == critical(0.95, "gaussian")
    True
    """
    return critical(1 - (1 - confidence) / bounds if bounds > 1 else confidence, tail)


def cut_ends(low: Any, high: Any, bounds: tuple[float, float]) -> tuple[Any, Any]:
    """Return the ends of intervals cut to what is possible: the whole of it where noise left an interval outside.

    Such an interval says nothing: its nearest point would look like certainty. Nothing true is cut off.

    Args:
        low: lower ends; NaN stays. Arrays, or single numbers.
        high: upper ends.
        bounds: between which the truth lies.

    >>> [np.round(end).tolist() for end in cut_ends(np.array([-9.0, -9.0]), np.array([5.0, -2.0]), (0.0, 8.0))]
    [[0.0, 0.0], [5.0, 8.0]]
    """
    outside = (np.asarray(low) < high) & ((np.asarray(high) <= bounds[0]) | (np.asarray(low) >= bounds[1]))
    return np.where(outside, bounds[0], np.clip(low, *bounds)), np.where(outside, bounds[1], np.clip(high, *bounds))


def half_width(variance: Variances, confidence: float, tail: Tail) -> Variances:
    """Return the half-width, in counts, of an interval that holds the true count with this confidence.

    Formula: z sqrt(variance) + 1/2 rounded up to a whole count, z = `critical(confidence, tail)`. The half and the
    rounding cover the noise's whole steps, which matter where the noise is small. A variance of 0 has half-width 0, an
    infinite one has an infinite one.

    Args:
        variance: of the noise, in counts squared; one, or an array of them.
        confidence: strictly between 0 and 1.
        tail: the kind of noise that was added.

    >>> half_width(50.0, 0.95, "laplace")
    16.0
    >>> half_width(np.array([0.0, 50.0, np.inf]), 0.95, "laplace")
    array([ 0., 16., inf])
    """
    return whole_counts(variance, critical(confidence, tail))


def whole_counts(variance: Variances, critical: float) -> Variances:
    """Return critical sqrt(variance) + 1/2 rounded up to a whole count; 0 for a variance of 0; see `half_width`."""
    widths = np.ceil(margin(variance, critical, 0.5))
    return widths if isinstance(variance, np.ndarray) else float(widths)


def margin(variance: Variances, critical: float, step: float) -> Variances:
    """Return how far from the truth a sum of noises in whole steps may be: critical sqrt(variance) + step.

    A sum of few steps jumps: critical sqrt(variance) alone may hold no noise but 0, too seldom. 0 for a variance of 0.

    Args:
        variance: of the sum; one, or an array of them.
        critical: how many standard errors are significant.
        step: the most that one step of one noise changes the sum.

    >>> margin(50.0, 2.0, 1.0) == 2 * 50**0.5 + 1
    True
    """
    widths = np.where(np.equal(variance, 0), 0.0, critical * np.sqrt(variance) + step)
    return widths if isinstance(variance, np.ndarray) else float(widths)


def possible(ends: tuple[Variances, Variances], value: Variances, most: float) -> tuple[Variances, Variances]:
    """Return the ends of an interval cut to what is possible, from 0 to `most`; it holds the value in any case.

    What is cut off holds the truth only where `most` is below it, which has a chance of its own.

    >>> possible((-8.0, 12.0), 1.5, 100.0), possible((-30.0, -10.0), 0.5, 100.0), possible((80.0, 120.0), 99.0, 100.0)
    ((0.0, 12.0), (0.0, 0.5), (80.0, 100.0))
    """
    low, high = np.minimum(np.maximum(ends[0], 0.0), value), np.maximum(np.minimum(ends[1], most), value)
    return (low, high) if isinstance(value, np.ndarray) else (float(low), float(high))
