"""Statistics of a table against the truth, and what chosen bounds did to the rows. Exact, so never private.

rows -> sums without noise -> true statistics; rows that the chosen bounds keep -> how many are outside of them.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Number
from dpress.attributes.policy import DROP
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.measurement import Measurement
from dpress.data.specification.spec import from_dict
from dpress.data.table_rows import TableRows
from dpress.data.true_counts import true_counts
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import critical
from dpress.kinds.statistics.curator.answers import ANSWERING, CuratorAnswers
from dpress.kinds.statistics.curator.cut_cells import MOST_PARTS
from dpress.kinds.statistics.curator.estimates import group_estimates
from dpress.kinds.statistics.curator.first_step import bounds_first, cells_first, decoder_of
from dpress.kinds.statistics.curator.quantiles import MOST_NODES, estimates, true_levels
from dpress.kinds.statistics.evaluate import Truth, metrics_of
from dpress.kinds.statistics.group_results import COUNT, GroupResults, Mask
from dpress.kinds.statistics.level_values import bounded
from dpress.mechanisms.discovery.quantile_cells import flat
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.release.truth.evaluate import TrueRows


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return for every statistic the errors over all groups that have rows; see `metrics_of`.

    Where bounds were chosen, the truth is of the values clamped to them; `: moved by clamping` is how far a mean is, by
    the root mean square over these groups, from that between the stated bounds, `: unclamped mean within interval` the
    share of intervals that hold this, too.
    """
    answers = ANSWERING.of(release)
    truth, statistics = _truth(answers, rows, release.schema), answers.groups()
    metrics = metrics_of(statistics, truth, {})
    for name, moved in _moved(answers, rows).items():
        metrics |= _unclamped(name, statistics.of(name), truth.results.of(name).value, moved, truth.filled)
    return metrics | {f"{name}: rows outside of the bounds": float(rows) for name, rows in _outside(release, rows)}


def _truth(answers: CuratorAnswers, rows: TrueRows, schema: Schema) -> Truth:
    """Return the statistics of rows as a schema codes them, without noise."""
    release: Release = answers.release
    mechanism, strategy = _of_all_levels(answers.mechanism)
    table = TableRows(schema=schema, source=rows.data, unit=release.claim.unit, progress=rows.progress)
    exact: Numbers = mechanism.counted(table)
    filled: Mask = np.ones(answers.size, dtype=bool)
    chosen: dict[str, Estimates] = {}
    if answers.chosen:
        exact, *counts = mechanism.split(exact)
        for choice, levels in zip(answers.chosen, counts, strict=True):
            places, filled = true_levels(choice, levels)
            chosen |= estimates(choice, schema, places)
    sums = None
    if strategy is not None:
        noiseless = Measurement(map=strategy.map, answers=exact, variance=1.0)
        grouped = group_estimates(strategy, schema, noiseless, z=critical(CONFIDENCE, release.tail))
        none = tuple(0.0 for _ in grouped.steps)
        sums = replace(grouped, variances=tuple(1e-12 for _ in grouped.variances), steps=none)
        filled = sums.of(COUNT).value > 0 if COUNT in sums.names else filled
    return Truth(results=GroupResults(sums=sums, chosen=chosen), filled=filled)


def _of_all_levels(mechanism: Any) -> tuple[Any, GroupStatistics | None]:
    """Return what counts without noise, and its sums: of fine cells of one size where a release cut them."""
    strategy: GroupStatistics | None = decoder_of(mechanism).strategy
    if strategy is None or cells_first(mechanism) is None:
        return mechanism, strategy
    fine = tuple(
        replace(tree, tree=flat(min(tree.levels, MOST_PARTS, MOST_NODES // tree.groups)), borders=())
        if tree.borders
        else tree
        for tree in strategy.distributions
    )
    strategy = replace(strategy, distributions=fine)
    return replace(mechanism.groups, strategy=strategy), strategy


def _moved(answers: CuratorAnswers, rows: TrueRows) -> dict[str, Array]:
    """Return by the name of a mean how much higher it would be in each group between the stated bounds."""
    moved: dict[str, Array] = {}
    for attribute, schema, nearer in _beyond(answers.release):
        results = _truth(answers, rows, schema).results
        if (name := f"mean {attribute}") in results.names:
            moved[name] = moved.get(name, 0.0) + np.nan_to_num(results.of(name).value - nearer)
    return moved


def _unclamped(name: str, statistic: Estimates, clamped: Array, moved: Array, filled: Mask) -> dict[str, float]:
    inside = (statistic.low <= clamped + moved) & (clamped + moved <= statistic.high)
    return {
        f"{name}: moved by clamping": math.sqrt(float((moved[filled] ** 2).mean())) if filled.any() else math.nan,
        f"{name}: unclamped mean within interval": float(inside[filled].mean()) if filled.any() else math.nan,
    }


def _outside(release: Release, rows: TrueRows) -> Iterator[tuple[str, int]]:
    """Yield attributes whose bounds were chosen, with the number of rows outside."""
    mechanism = bounds_first(release.mechanism)
    for axis in () if mechanism is None else mechanism.axes:
        attribute, unit = bounded(release.schema, axis), release.claim.unit
        ways = (msgspec.structs.replace(attribute, bins=1), msgspec.structs.replace(attribute, bins=1, outside=DROP))
        whole, kept = (
            int(true_counts(_with(release.schema, axis, way), [(axis,)], rows.data, unit, progress=rows.progress).sum())
            for way in ways
        )
        yield attribute.name, whole - kept


def _beyond(release: Release) -> Iterator[tuple[str, Schema, float]]:
    """Yield what chosen bounds cut off: the attribute's name, the schema of values beyond a bound, and this bound.

    A value cut to the stated bounds is that between the chosen ones, and its parts below and above them: so a mean is
    moved by the means of these parts.
    """
    mechanism = bounds_first(release.mechanism)
    for axis in () if mechanism is None else mechanism.axes:
        schema, stated = release.schema, from_dict(release.design.specification).schema
        attribute = bounded(schema, axis)
        (low, high), (lowest, highest) = attribute.ends, bounded(stated, axis).ends
        for ends, nearer in (((lowest, low), low), ((high, highest), high)):
            if ends[0] < ends[1]:
                yield attribute.name, _with(schema, axis, msgspec.structs.replace(attribute, bounds=ends)), nearer


def _with(schema: Schema, axis: int, attribute: Number) -> Schema:
    return Schema((*schema.attributes[:axis], attribute, *schema.attributes[axis + 1 :]))
