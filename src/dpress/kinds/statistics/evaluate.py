"""Statistics against the truth. Not private."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpress.core.linear import Numbers
from dpress.core.measurement import Measurement
from dpress.data.add_up import Progress
from dpress.data.true_counts import exact_answers, true_counts
from dpress.inference.interval import critical
from dpress.kinds.statistics.device_answers import DeviceAnswers
from dpress.kinds.statistics.estimates import COUNT, GroupEstimates, Mask, group_estimates
from dpress.release.evaluate import no_remarks as remarks
from dpress.release.published_tables import CONFIDENCE
from dpress.release.release import Release
from dpress.release.table_errors import no_held_out

__all__ = ["evaluate", "remarks"]


def evaluate(
    release: Release, data: Any, *, held_out: Any = None, progress: Progress | None = None
) -> dict[str, float]:
    """Return for every statistic the errors over all groups that have rows.

    `mean cost: root mean squared error` is over the groups whose value was published, `: within interval` the share of
    all groups with rows whose 95 % interval holds the truth, `: not published` how many have no value. The truth of a
    quantile is that of the cells.
    """
    no_held_out(held_out)
    own: Any = release.answers
    unit = release.claim.unit
    found = own.groups()
    if isinstance(own, DeviceAnswers):
        tables = [one.axes for one in own.estimator.types]
        truth: Any = own.true_groups(true_counts(release.schema, tables, data, unit, progress=progress))
    else:
        mechanism: Any = release.mechanism
        truth = true_statistics(release, exact_answers(mechanism, release.schema, data, unit, progress=progress))
    whole = np.ones(found.sizes.size, dtype=bool)
    filled: Mask = truth.of(COUNT).value > 0 if COUNT in truth.names else whole
    metrics: dict[str, float] = {"groups": float(filled.size), "groups with rows": float(filled.sum())}
    for name in found.names:
        metrics |= {f"{name}: {what}": value for what, value in _errors(found, truth, name, filled).items()}
    return metrics


def true_statistics(release: Release, exact: Numbers) -> GroupEstimates:
    """Return the statistics of sums without noise."""
    own: Any = release.answers
    noiseless = Measurement(map=own.strategy.map, answers=exact, variance=own.measurement.variance)
    found = group_estimates(own.strategy, release.schema, noiseless, z=critical(CONFIDENCE, release.tail))
    none = tuple(0.0 for _ in found.steps)
    return replace(found, variances=tuple(1e-12 for _ in found.variances), steps=none)


def _errors(found: Any, truth: Any, name: str, filled: Mask) -> dict[str, float]:
    one, true = found.of(name), truth.of(name).value
    known = filled & np.isfinite(one.value)
    slack = 1e-9 * (1 + np.abs(true))
    inside = (one.low - slack <= true) & (true <= one.high + slack)
    errors = (one.value - true)[known]
    return {
        "root mean squared error": math.sqrt(float((errors**2).mean())) if known.any() else math.nan,
        "within interval": float(inside[filled].mean()) if filled.any() else math.nan,
        "not published": float((filled & ~np.isfinite(one.value)).sum()),
    }
