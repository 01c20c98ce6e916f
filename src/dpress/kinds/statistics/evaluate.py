"""Statistics against the truth. Not private."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates
from dpress.kinds.statistics import product
from dpress.kinds.statistics.answers import ANSWERING
from dpress.kinds.statistics.group_results import GroupResults, Mask
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, Remarks, TrueRows


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The statistics of the rows.

    Args:
        results: of every group.
        filled: which groups have rows, where that is counted; else all.
    """

    results: GroupResults
    filled: Mask


def metrics_of(statistics: GroupResults, truth: Truth, periods: Mapping[str, float]) -> dict[str, float]:
    """Return for every statistic the errors over all groups that have rows.

    `mean cost: root mean squared error` is over the groups whose value was published, `: within interval` the share of
    all groups with rows and an interval whose 95 % interval holds the truth, `: not published` how many with rows have
    no value. The truth of a quantile is that of the cells.

    Args:
        statistics: that were published.
        truth: of the rows.
        periods: how long the circle is of every statistic that is on one.
    """
    filled = truth.filled
    metrics: dict[str, float] = {"groups": float(filled.size), "groups with rows": float(filled.sum())}
    for name in statistics.names:
        statistic, true = statistics.of(name), truth.results.of(name).value
        if name in periods:
            true = _nearest(statistic.value, true, periods[name])
        errors = _errors(statistic, true, filled, interval=name not in statistics.chosen)
        metrics |= {f"{name}: {what}": value for what, value in errors.items()}
    return metrics


def _nearest(value: Array, true: Array, period: float) -> Array:
    """Return the truth on a circle as the number next to the value."""
    return np.where(np.isnan(value), true, value + (true - value + period / 2) % period - period / 2)


def _errors(statistic: Estimates, true: Array, filled: Mask, *, interval: bool) -> dict[str, float]:
    published, bounded = filled & np.isfinite(statistic.value), filled & ~np.isnan(statistic.low)
    slack = 1e-9 * (1 + np.abs(true))
    inside = (statistic.low - slack <= true) & (true <= statistic.high + slack)
    errors = (statistic.value - true)[published]
    return {
        "root mean squared error": math.sqrt(float((errors**2).mean())) if published.any() else math.nan,
        **({"within interval": float(inside[bounded].mean()) if bounded.any() else math.nan} if interval else {}),
        "not published": float((filled & ~np.isfinite(statistic.value)).sum()),
    }


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return for every statistic the errors over all groups that have rows: see `metrics_of`."""
    metrics: dict[str, float] = product.part("evaluate", product.of_design(release.design)).evaluate(release, rows)
    return metrics


def remarks(release: Release) -> Remarks:
    """Return what is to be known of bounds that were chosen."""
    bounded = ANSWERING.of(release).bounded.items()
    return Remarks(lines=tuple(f"{name}: {note} So is the truth here." for name, note in bounded))


COMPARISON = Comparison(evaluate=evaluate, remarks=remarks)
