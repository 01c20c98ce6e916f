"""Ranges against the truth: all cells, and queries drawn uniformly from the workload. Not private."""

import math

import numpy as np

from dpress.core.basics import rng as generators
from dpress.core.maps.workload import Boxes
from dpress.data.add_up import Counts
from dpress.inference.box_sums import box_sums
from dpress.kinds.ranges.answers import ANSWERING, Answers
from dpress.kinds.ranges.drawn import drawn
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, TrueRows
from dpress.release.truth.table_errors import redrawn, table_errors, truth

BOXES = 500


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return the errors of all cells, and of 500 queries drawn uniformly from the workload, of every table."""
    answers = ANSWERING.of(release)
    counts = truth(answers, rows).counts
    metrics = table_errors(answers, counts)
    metrics |= redrawn(release.claim.unit, counts, lambda: truth(answers, rows).counts)
    return metrics | (_boxes(answers, release.workload, counts) if isinstance(release.workload, Boxes) else {})


def _boxes(answers: Answers, workload: Boxes, counts: Counts) -> dict[str, float]:
    release, boxes = answers.release, drawn(workload, BOXES, rng=generators.secure())
    adjusted: dict[str, float] = {}
    shape, place, squares = release.schema.shape, 0, list[float]()
    for axes in answers.decoder.tables:
        end = place + math.prod(shape[axis] for axis in axes)
        table, ranges = counts[place:end].reshape([shape[axis] for axis in axes]), [boxes[axis] for axis in axes]
        sums = box_sums(table, ranges)
        squares.append(float(np.mean((answers.box_answers(axes, ranges) - sums) ** 2)))
        if answers.adjusted_answers:
            error = float(np.mean((box_sums(answers.adjusted_table, ranges) - sums) ** 2))
            adjusted["adjusted_range_root_mean_squared_error"] = math.sqrt(error)
        place = end
    return {
        "range_root_mean_squared_error": math.sqrt(math.fsum(squares) / len(squares)),
        "range_predicted_root_mean_squared_error": (
            math.nan if release.predicted is None else math.sqrt(release.predicted)
        ),
        **adjusted,
    }


COMPARISON = Comparison(evaluate=evaluate)
