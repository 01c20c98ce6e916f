"""Ranges against the truth: all cells, and queries drawn uniformly from the workload. Not private."""

import math
from typing import Any

import numpy as np

from dpress.core.basics import rng as generators
from dpress.core.maps.workload import Boxes
from dpress.data.add_up import Counts, Progress
from dpress.inference.box_sums import box_sums
from dpress.kinds.ranges.answers import Answers
from dpress.kinds.ranges.drawn import drawn
from dpress.query.release import Release
from dpress.release.truth.evaluate import no_remarks as remarks
from dpress.release.truth.table_errors import no_held_out, redrawn, table_errors, truth

__all__ = ["evaluate", "remarks"]

BOXES = 500


def evaluate(
    release: Release, data: Any, *, held_out: Any = None, progress: Progress | None = None
) -> dict[str, float]:
    """Return the errors of all cells, and of 500 queries drawn uniformly from the workload, of every table."""
    no_held_out(held_out)
    counts, answers = truth(release, data, progress=progress).counts, release.answers
    metrics = table_errors(answers, counts)
    metrics |= redrawn(release.claim.unit, counts, lambda: truth(release, data, progress=progress).counts)
    return metrics | (_boxes(answers, release.workload, counts) if isinstance(release.workload, Boxes) else {})


def _boxes(answers: Answers, workload: Boxes, counts: Counts) -> dict[str, float]:
    release, asked = answers.release, drawn(workload, BOXES, rng=generators.secure())
    shape, place, squares = release.schema.shape, 0, list[float]()
    for axes in answers.decoder.tables:
        end = place + math.prod(shape[axis] for axis in axes)
        table, own = counts[place:end].reshape([shape[axis] for axis in axes]), [asked[axis] for axis in axes]
        squares.append(float(np.mean((answers.box_answers(axes, own) - box_sums(table, own)) ** 2)))
        place = end
    return {
        "range_root_mean_squared_error": math.sqrt(math.fsum(squares) / len(squares)),
        "range_predicted_root_mean_squared_error": (
            math.nan if release.predicted is None else math.sqrt(release.predicted)
        ),
    }
