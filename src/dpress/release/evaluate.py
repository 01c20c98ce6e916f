"""A release against the truth: for the people who hold the data. Its output is not private."""

import math
from typing import Any

import numpy as np

from dpress.core import rng as generators
from dpress.core.claim import ROW
from dpress.core.linear import Array
from dpress.core.workload import AllRanges, Range
from dpress.data.fold import Counts, Progress
from dpress.estimate.interval import half_width
from dpress.estimate.postprocess import adjust
from dpress.noise.uniform import below
from dpress.release.artifact import CONFIDENCE, Release
from dpress.release.run import true_counts

RANGES = 500


def evaluate(release: Release, data: Any, *, progress: Progress | None = None) -> dict[str, float]:
    """Return the error of a release, in counts, against the rows it was made from.

    Cells: over all cells of all published tables. Ranges: over 500 ranges drawn evenly from all of them, for a release
    of ranges. `adjusted_cell_root_mean_squared_error`, where the spec names post-processing, is that of the adjusted
    counts; nothing predicts it. `within_interval` is the share of cells whose 95 % interval holds the truth. The truth
    is every row: where persons keep a bounded number, the rows left out are part of the error, but not of the predicted
    one.

    Raises:
        OSError, SchemaMismatch: the data cannot be read or does not fit the release's spec.
    """
    mechanism = release.planned.chosen.mechanism
    counts = true_counts(release.spec, release.planned, data, ROW, progress=progress)
    estimates = np.concatenate(mechanism.strategy.decoder.estimate(release.measurement))
    variances = np.concatenate(mechanism.strategy.decoder.cell_variances(release.measurement.variance))
    metrics = {"rows": float(_rows(release, counts)), **_cells(release, estimates - counts, variances)}
    metrics["total_variation"] = float(np.abs(estimates - counts).sum() / (2 * max(1, counts.sum())))
    if release.spec.release.postprocess:
        metrics["adjusted_cell_root_mean_squared_error"] = _adjusted_error(release, counts)
    if isinstance(release.planned.workload, AllRanges):
        metrics |= _ranges(release, counts)
    return metrics


def _rows(release: Release, counts: Counts) -> int:
    """Return the number of counted rows: every table counts each of them once."""
    return int(counts.sum()) // len(release.planned.chosen.mechanism.strategy.decoder.tables)


def _cells(release: Release, errors: Array, variances: Array) -> dict[str, float]:
    widths = {float(v): half_width(float(v), CONFIDENCE, release.tail) for v in np.unique(variances)}
    inside = np.abs(errors) <= np.array([widths[float(v)] for v in variances])
    return {
        "cell_mean_absolute_error": float(np.abs(errors).mean()),
        "cell_root_mean_squared_error": math.sqrt(float((errors**2).mean())),
        "cell_predicted_root_mean_squared_error": math.sqrt(float(variances.mean())),
        "cell_largest_error": float(np.abs(errors).max()),
        "cell_within_interval": float(inside.mean()),
    }


def _adjusted_error(release: Release, counts: Counts) -> float:
    tables = release.planned.chosen.mechanism.strategy.decoder.estimate(release.measurement)
    adjusted = np.concatenate([adjust(table, release.spec.release.postprocess) for table in tables])
    return math.sqrt(float(((adjusted - counts) ** 2).mean()))


def _ranges(release: Release, counts: Counts) -> dict[str, float]:
    decoder = release.planned.chosen.mechanism.strategy.decoder
    ends = np.sort(below(counts.size + 1, 2 * RANGES, rng=generators.secure()).reshape(RANGES, 2), axis=1)
    drawn = [Range(int(left) + 1, int(right)) for left, right in ends if left < right]
    squares = []
    for one in drawn:
        weights = one.weights(counts.size)
        squares.append((decoder.answer(release.measurement, [weights]) - weights @ counts) ** 2)
    return {
        "range_root_mean_squared_error": math.sqrt(float(np.mean(squares))),
        "range_predicted_root_mean_squared_error": math.sqrt(release.planned.chosen.predicted_error),
    }
