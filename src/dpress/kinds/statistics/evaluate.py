"""Statistics against the truth. Not private."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.measurement import Measurement
from dpress.data.table_rows import TableRows
from dpress.data.true_counts import true_counts
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import critical
from dpress.kinds.statistics.curator.chosen_quantiles import GroupResults, estimates, true_levels
from dpress.kinds.statistics.curator.estimates import COUNT, Mask, group_estimates
from dpress.kinds.statistics.curator.rows_outside import beyond, rows_outside
from dpress.kinds.statistics.devices.answers import DeviceAnswers
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, Remarks, TrueRows


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return for every statistic the errors over all groups that have rows.

    `mean cost: root mean squared error` is over the groups whose value was published, `: within interval` the share of
    all groups with rows whose 95 % interval holds the truth, where there are intervals, `: not published` how many have
    no value. The truth of a quantile is that of the cells. Where bounds were chosen, the truth is of the values clamped
    to them; `: moved by clamping` is how far a mean is, by the root mean square over these groups, from that between
    the stated bounds, `: unclamped mean within interval` the share of intervals that hold this, too.
    """
    answers: Any = release.answers
    unit = release.claim.unit
    if isinstance(answers, DeviceAnswers):
        tables = [report_type.axes for report_type in answers.estimator.types]
        truth = true_numbers(answers, true_counts(release.schema, tables, rows.data, unit, progress=rows.progress))
    else:
        table = TableRows(schema=release.schema, source=rows.data, unit=unit, progress=rows.progress)
        truth = true_statistics(release, answers.mechanism.counted(table))
    statistics, filled = answers.groups(), truth.filled
    metrics: dict[str, float] = {"groups": float(filled.size), "groups with rows": float(filled.sum())}
    periods = answers.periods if isinstance(answers, DeviceAnswers) else {}
    for name in statistics.names:
        true = truth.results.of(name).value
        if name in periods:
            true = _nearest(statistics.of(name).value, true, periods[name])
        errors = _errors(statistics.of(name), true, filled, interval=name not in statistics.chosen)
        metrics |= {f"{name}: {what}": value for what, value in errors.items()}
    for name, moved in _moved(release, rows).items():
        metrics |= _unclamped(name, statistics.of(name), truth.results.of(name).value, moved, filled)
    counts = rows_outside(release, rows.data, rows.progress)
    return metrics | {f"{name}: rows outside of the bounds": float(rows) for name, rows in counts.items()}


def remarks(release: Release) -> Remarks:
    """Return what is to be known of bounds that were chosen."""
    answers: Any = release.answers
    if isinstance(answers, DeviceAnswers):
        return Remarks()
    clamped = tuple(f"{name}: {note} So is the truth here." for name, note in answers.bounded.items())
    return Remarks(lines=clamped)


def _moved(release: Release, rows: TrueRows) -> dict[str, Array]:
    """Return by the name of a mean how much higher it would be in each group between the stated bounds."""
    answers: Any = release.answers
    moved: dict[str, Array] = {}
    for attribute, schema, nearer in beyond(release):
        table = TableRows(schema=schema, source=rows.data, unit=release.claim.unit, progress=rows.progress)
        results = true_statistics(release, answers.mechanism.counted(table), schema).results
        if (name := f"mean {attribute}") in results.names:
            moved[name] = moved.get(name, 0.0) + np.nan_to_num(results.of(name).value - nearer)
    return moved


def _unclamped(name: str, statistic: Estimates, clamped: Array, moved: Array, filled: Mask) -> dict[str, float]:
    inside = (statistic.low <= clamped + moved) & (clamped + moved <= statistic.high)
    return {
        f"{name}: moved by clamping": math.sqrt(float((moved[filled] ** 2).mean())) if filled.any() else math.nan,
        f"{name}: unclamped mean within interval": float(inside[filled].mean()) if filled.any() else math.nan,
    }


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The statistics of the rows.

    Args:
        results: of every group.
        filled: which groups have rows, where that is counted; else all.
    """

    results: GroupResults
    filled: Mask


def true_statistics(release: Release, exact: Numbers, schema: Schema | None = None) -> Truth:
    """Return the statistics of answers without noise; left out, rows are coded by the release's schema."""
    answers: Any = release.answers
    coded = release.schema if schema is None else schema
    filled: Mask = np.ones(answers.size, dtype=bool)
    chosen: dict[str, Estimates] = {}
    if answers.chosen:
        exact, *counts = answers.mechanism.split(exact)
        for choice, levels in zip(answers.chosen, counts, strict=True):
            places, filled = true_levels(choice, levels)
            chosen |= estimates(choice, coded, places)
    sums = None
    if answers.strategy is not None:
        noiseless = Measurement(map=answers.strategy.map, answers=exact, variance=answers.drawn.sums.variance)
        grouped = group_estimates(answers.strategy, coded, noiseless, z=critical(CONFIDENCE, release.tail))
        none = tuple(0.0 for _ in grouped.steps)
        sums = replace(grouped, variances=tuple(1e-12 for _ in grouped.variances), steps=none)
        filled = sums.of(COUNT).value > 0 if COUNT in sums.names else filled
    return Truth(results=GroupResults(sums=sums, chosen=chosen, size=answers.size), filled=filled)


def true_numbers(answers: DeviceAnswers, counts: Numbers) -> Truth:
    """Return the statistics of exact counts of the devices' numbers."""
    statistics = answers.true_groups(counts)
    filled: Mask = statistics.of(COUNT).value > 0 if COUNT in statistics.names else np.ones(answers.size, dtype=bool)
    return Truth(results=GroupResults(sums=statistics, chosen={}, size=answers.size), filled=filled)


def _nearest(value: Array, true: Array, period: float) -> Array:
    """Return the truth on a circle as the number next to the value."""
    return np.where(np.isnan(value), true, value + (true - value + period / 2) % period - period / 2)


def _errors(statistic: Estimates, true: Array, filled: Mask, *, interval: bool) -> dict[str, float]:
    published = filled & np.isfinite(statistic.value)
    slack = 1e-9 * (1 + np.abs(true))
    inside = (statistic.low - slack <= true) & (true <= statistic.high + slack)
    errors = (statistic.value - true)[published]
    return {
        "root mean squared error": math.sqrt(float((errors**2).mean())) if published.any() else math.nan,
        **({"within interval": float(inside[filled].mean()) if filled.any() else math.nan} if interval else {}),
        "not published": float((filled & ~np.isfinite(statistic.value)).sum()),
    }


COMPARISON = Comparison(evaluate=evaluate, remarks=remarks)
