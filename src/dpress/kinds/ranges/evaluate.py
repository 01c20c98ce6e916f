"""Ranges against the truth: all cells, and queries drawn uniformly from the workload. Not private."""

import math
from typing import Any

import numpy as np

from dpress.core import rng as generators
from dpress.core.ranges import AllRanges, Axis, Places, Ranges
from dpress.core.workload import Boxes
from dpress.data.add_up import Counts, Progress
from dpress.inference.box_sums import box_sums
from dpress.kinds.ranges.answers import Answers
from dpress.noise.uniform import below
from dpress.release.evaluate import no_remarks as remarks
from dpress.release.release import Release
from dpress.release.table_errors import no_held_out, redrawn, table_errors, truth

__all__ = ["evaluate", "remarks"]

BOXES = 500


def evaluate(
    release: Release, data: Any, *, held_out: Any = None, progress: Progress | None = None
) -> dict[str, float]:
    """Return the errors of all cells, and of 500 queries drawn uniformly from the workload."""
    no_held_out(held_out)
    counts, answers = truth(release, data, progress=progress).counts, release.answers
    metrics = table_errors(answers, counts)
    metrics |= redrawn(release.claim.unit, counts, lambda: truth(release, data, progress=progress).counts)
    return metrics | (_boxes(answers, release.workload, counts) if isinstance(release.workload, Boxes) else {})


def _boxes(answers: Answers, workload: Boxes, counts: Counts) -> dict[str, float]:
    drawn, predicted = _drawn(workload), answers.release.predicted
    found = answers.box_decoder.box_answers(answers.measurement, drawn)
    errors = found - box_sums(counts.reshape(workload.shape), drawn)
    return {
        "range_root_mean_squared_error": math.sqrt(float(np.mean(errors**2))),
        "range_predicted_root_mean_squared_error": math.nan if predicted is None else math.sqrt(predicted),
    }


def _drawn(workload: Boxes) -> list[Ranges]:
    """Return queries of the workload, each equally likely, as ranges on every axis."""
    if workload.paired:
        place = below(workload.queries, BOXES, rng=generators.secure())
        return [_some(axis, place) for axis in workload.axes]
    return [_some(axis, None) for axis in workload.axes]


def _some(axis: Axis, places: Places | None) -> Ranges:
    """Return the ranges of one axis at these places, or at random ones."""
    if isinstance(axis, AllRanges):
        left, right = _any_ranges(axis.cells)
        return Ranges(axis.cells, left, right)
    chosen = below(axis.queries, BOXES, rng=generators.secure()) if places is None else places
    listed = [axis.ranges(int(place), int(place) + 1) for place in chosen]
    return Ranges(axis.cells, np.concatenate([r.left for r in listed]), np.concatenate([r.right for r in listed]))


def _any_ranges(cells: int) -> tuple[Places, Places]:
    """Return ranges drawn evenly from all n (n + 1) / 2: two different cuts among n + 1."""
    first = below(cells + 1, BOXES, rng=generators.secure())
    second = below(cells, BOXES, rng=generators.secure())
    second += second >= first  # any cut but the first
    return np.minimum(first, second) + 1, np.maximum(first, second)
