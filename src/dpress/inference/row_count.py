"""How many rows a table has, as far as that is published: from noisy tables that each count every row once.

sums of noisy tables, their variances -> the mean by precision, and its variance: post-processing only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCount:
    """The number of rows: an unbiased estimate, or the public number.

    Args:
        value: in rows; an estimate may be below 0.
        variance: in rows squared; 0 where the number is public.

    >>> RowCount(value=-3.2, variance=16.0).records, RowCount(value=7.6, variance=1.0).records
    (0, 8)
    """

    value: float
    variance: float

    @property
    def records(self) -> int:
        """As many records as rows: the nearest whole number, at least 0; only that bound makes it biased."""
        return max(0, round(self.value))


def by_precision(sums: Sequence[float], variances: Sequence[float]) -> RowCount:
    """Return the mean of several unbiased estimates by inverse variance.

    Error: unbiased; the variance is 1 / (1 / v_1 + 1 / v_2 + ...), exact where the noises are independent and the
    variances were fixed before any was drawn.

    Args:
        sums: of the noisy tables.
        variances: of these sums; infinite where one does not add up to the number of rows.

    >>> by_precision([100.0, 130.0], [1.0, 2.0])
    RowCount(value=110.0, variance=0.6666666666666666)
    """
    weights = [1 / variance for variance in variances]
    whole = math.fsum(weights)
    return RowCount(
        value=math.fsum(weight * total for weight, total in zip(weights, sums, strict=True)) / whole, variance=1 / whole
    )


def variance_of(variances: Sequence[float]) -> float:
    """Return the variance of that mean, before anything is measured; infinite without an estimate."""
    whole = math.fsum(1 / variance for variance in variances)
    return 1 / whole if whole else math.inf
