"""Counts, sums, means, variances and quantiles of groups, from noisy moments and prefixes, with intervals.

All arrays have one entry for every group, or for every set of groups whose sums were added up.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.interval import cut_ends, margin
from dpress.inference.quantile import invert
from dpress.inference.ratio import Pair, fieller
from dpress.inference.suppression import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """One statistic of many groups.

    Args:
        value: NaN where the group may be empty.
        standard_error: NaN there, too, and where only an interval is known.
        low: the lower end of the interval.
        high: its upper end.
        sampling: the standard error of the rows as a sample, without noise; None where it is not stated.
        population: the ends of the intervals that hold noise and sampling together; None where they are not stated.
        design_effect: how many times the variance of sampling is that of as many rows drawn one by one; None as above.
        hidden: which numbers are not shown, and NaN; None where all are.
        multiple: counts are shown as multiples of it.
    """

    value: Array
    standard_error: Array
    low: Array
    high: Array
    sampling: Array | None = None
    population: tuple[Array, Array] | None = None
    design_effect: Array | None = None
    hidden: Mask | None = None
    multiple: int = 1


IN_UNITS = ("value", "standard_error", "low", "high", "sampling")
COLUMNS = (*IN_UNITS, "design_effect", "hidden")


def changed(statistic: Estimates, change: Callable[[Any], Any], names: Sequence[str] = COLUMNS) -> Estimates:
    """Return a statistic whose columns, and ends of intervals, are changed alike.

    Args:
        statistic: of many groups.
        change: of a column, such as to some of the groups, or to another unit.
        names: of the columns: all, or those that are in the statistic's unit, `IN_UNITS`.
    """
    columns = {name: change(column) for name in names if (column := getattr(statistic, name)) is not None}
    ends = statistic.population
    return replace(statistic, **columns, population=None if ends is None else (change(ends[0]), change(ends[1])))


def of_rows(rows: Sequence[tuple[float, ...]]) -> Estimates:
    """Return the estimates of sets whose value, standard error and ends of an interval are listed set by set."""
    value, error, low, high = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return Estimates(value=value, standard_error=error, low=low, high=high)


def combined(counts: Sequence[Array], variances: Sequence[Array]) -> tuple[Array, Array]:
    """Return the mean of several independent estimates weighted by 1 / variance, and its variance; of nobody 0."""
    spread = np.array(variances, dtype=np.float64)
    weights = 1 / np.where(spread > 0, spread, 1.0)
    total = weights.sum(axis=0)
    return np.asarray((weights * np.array(counts)).sum(axis=0) / total), (spread > 0).all(axis=0) / total


def linear(value: Array, variance: Array, z: float, step: float) -> Estimates:
    """Return unbiased estimates with exact variances; the interval is `interval.margin` to each side.

    Args:
        value: the estimates.
        variance: of them.
        z: standard errors to each side.
        step: the most that one step of one noise changes a value.
    """
    half = margin(variance, z, step)
    return Estimates(value=value, standard_error=np.sqrt(variance), low=value - half, high=value + half)


def moved(estimates: Estimates, centre: float, radius: float) -> Estimates:
    """Return estimates of t as those of centre + radius t."""
    return Estimates(
        value=centre + radius * estimates.value,
        standard_error=radius * estimates.standard_error,
        low=centre + radius * estimates.low,
        high=centre + radius * estimates.high,
    )


def ratio(  # noqa: PLR0917
    total: Array, variance: Array, count: Array, count_variance: Array, z: float, steps: tuple[float, float]
) -> Estimates:
    """Return total / count, known to lie in [-1, 1], where the two are uncorrelated; see `ratio.fieller`.

    Where the count itself may be 0 the interval is [-1, 1], and no value is given.
    """
    ratios = [
        fieller(Pair(first=first, second=second, variances=(first_variance, second_variance), covariance=0.0), z, steps)
        for first, second, first_variance, second_variance in zip(total, count, variance, count_variance, strict=True)
    ]
    ends = np.array([each.interval for each in ratios]).reshape(-1, 2)
    low, high = cut_ends(ends[:, 0], ends[:, 1], (-1.0, 1.0))
    return Estimates(
        value=np.clip([each.value for each in ratios], -1, 1),
        standard_error=np.array([each.standard_error for each in ratios]),
        low=low,
        high=high,
    )


def spread(  # noqa: PLR0917
    sums: Array, sum_variance: Array, count: Array, count_variance: Array, z: float, step: float
) -> Estimates:
    """Return the variance of t in [-1, 1] in every group: mean t^2 - (mean t)^2, in [0, 1].

    With s the variance of every sum, own count n1 = B0 + B1 + B2 (variance 3 s), sum t = B2 - B0 (2 s, uncorrelated
    with n1), sum t^2 = Q = B0 - B1 + B2 (3 s, covariance s with n1). A better count n, which n1 is a part of, improves
    Q to Q + (n - n1) / 3, with variance 8 s / 3 + Var(n) / 9 and covariance Var(n) / 3 with n. The interval is z
    standard errors by the delta method, an approximation, and `step`. All of [0, 1] where the count is within 3 z of 0.

    Args:
        sums: B0, B1, B2 in counts, shape (groups, 3).
        sum_variance: s.
        count: n.
        count_variance: its variance.
        z: standard errors to each side.
        step: the most that one step of one noise changes n times the variance.
    """
    many = count > 3 * z * np.sqrt(count_variance)
    n = np.where(many, count, 1.0)
    t = (sums[:, 2] - sums[:, 0]) / n
    q = (sums[:, 0] - sums[:, 1] + sums[:, 2] + (count - sums.sum(axis=1)) / 3) / n
    slope = 2 * t**2 - q
    q_variance = 8 * sum_variance / 3 + count_variance / 9
    variance = q_variance + 8 * t**2 * sum_variance + slope**2 * count_variance + 2 * slope * count_variance / 3
    error, half = np.sqrt(variance) / n, margin(variance, z, step) / n
    value = np.clip(q - t**2, 0, 1)
    return Estimates(
        value=np.where(many, value, np.nan),
        standard_error=np.where(many, error, np.nan),
        low=np.where(many, np.clip(value - half, 0, 1), 0.0),
        high=np.where(many, np.clip(value + half, 0, 1), 1.0),
    )


def quantile(prefixes: Array, margins: Array, share: float) -> tuple[float, float, float]:
    """Return where a share of the rows lies below, and an interval for it, in cells from the first cell's lower edge.

    The cells are those of `quantile.invert` for the forms P_x - q N, P_x the count below edge x and N = P_cells. The
    value is where the mean of the prefixes' two monotone envelopes passes q N, and so rises with q.

    Args:
        prefixes: P_0 = 0 to P_cells, shape (cells + 1,).
        margins: how far P_x - q N may be from the truth, shape (cells + 1,); see `interval.margin`.
        share: q.

    Returns:
        The value and both ends; NaN and all cells where the count is not above 0.
    """
    cells, target = len(prefixes) - 1, share * prefixes[-1]
    if prefixes[-1] <= 0:
        return math.nan, 0.0, float(cells)
    first, last = invert(prefixes[1:] - target, margins[1:]).interval
    up, down = np.maximum.accumulate(prefixes), np.minimum.accumulate(prefixes[::-1])[::-1]
    rising = np.clip((up + down) / 2, 0, prefixes[-1])
    cell = int(np.clip(np.searchsorted(rising, target, side="left"), 1, cells))
    step = rising[cell] - rising[cell - 1]
    value = cell - 1 + (float(np.clip((target - rising[cell - 1]) / step, 0, 1)) if step > 0 else 0.5)
    return value, float(min(first, value)), float(max(last + 1, value))
