"""Confidence intervals around answers whose noise variance is known."""

import math
from statistics import NormalDist
from typing import Literal

Tail = Literal["laplace", "gaussian"]


def half_width(variance: float, confidence: float, tail: Tail) -> float:
    """Return the half-width, in counts, of an interval that holds the true count with this confidence.

    Formula: z sqrt(variance) + 1/2 rounded up to a whole count, z the two-sided quantile of a standard variable: normal
    for Gaussian noise; for sums of Laplace noise the larger of the normal quantile and -ln(1 - confidence) / sqrt(2), a
    single Laplace variable having the heaviest tail of all such sums. The half and the rounding cover the noise's whole
    steps, which matter where the noise is small.

    Args:
        variance: of the noise, in counts squared.
        confidence: strictly between 0 and 1.
        tail: the kind of noise that was added.

    >>> half_width(50.0, 0.95, "laplace")
    16.0
    """
    if not 0 < confidence < (1 + confidence) / 2 < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, got confidence={confidence}")
    if not variance or math.isinf(variance):
        return variance
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if tail == "laplace":
        z = max(z, -math.log1p(-confidence) / math.sqrt(2))
    return float(math.ceil(z * math.sqrt(variance) + 0.5))
