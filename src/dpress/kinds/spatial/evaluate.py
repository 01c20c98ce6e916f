"""A map against the truth: for the people who hold the data. Its output is not private."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from dpress.core.claim import ROW
from dpress.core.grid import LARGEST_SIDE, Rectangles, sums
from dpress.core.workload import Areas
from dpress.data.fold import Progress
from dpress.inference.interval import half_width
from dpress.kinds.spatial.answers import MapRelease
from dpress.kinds.spatial.design import on_grid, rectangles
from dpress.release.publish import true_counts
from dpress.release.published_tables import CONFIDENCE

QUERIES = 500
SANITY = 0.001  # of all people: the least truth that a relative error is taken of


def evaluate_map(release: MapRelease, data: Any, *, progress: Progress | None = None) -> dict[str, float]:
    """Return the error of a map, in people, over 500 rectangles of the size that it was planned for.

    Their ends lie on a grid of 1024 x 1024 cells, on which the truth is counted. `within_interval` is the share whose
    95 % interval holds the truth: what a cut cell hides is part of the error but not of the interval.
    """
    planned, workload = release.planned, release.planned.workload
    assert isinstance(workload, Areas)  # noqa: S101  # a map's
    fine = replace(planned, schema=on_grid(release.spec, LARGEST_SIDE))
    counts = true_counts(release.spec, fine, data, ROW, progress=progress).reshape(LARGEST_SIDE, LARGEST_SIDE)
    asked = _on_edges(rectangles(workload, QUERIES).scaled(LARGEST_SIDE))
    truth = sums(counts.astype(np.float64), asked)
    own = asked.scaled(release.density.grid.side / LARGEST_SIDE)
    variances = release.density.variances(own)
    errors = np.abs(release.density.values(own) - truth)
    rows = float(counts.sum())
    inside = errors <= half_width(variances, CONFIDENCE, release.tail)
    return {
        "rows": rows,
        "mean_absolute_error": float(errors.mean()),
        "mean_absolute_error_share": float(errors.mean() / max(1.0, rows)),
        "mean_relative_error": float((errors / np.maximum(truth, max(1.0, SANITY * rows))).mean()),
        "root_mean_squared_error": math.sqrt(float((errors**2).mean())),
        "predicted_root_mean_squared_error": math.sqrt(planned.chosen.predicted_error),
        "within_interval": float(inside.mean()),
    }


def _on_edges(asked: Rectangles) -> Rectangles:
    """Return the rectangles with their ends moved to the nearest edges, at least one cell apart."""
    left, bottom = (np.minimum(np.round(end), LARGEST_SIDE - 1) for end in (asked.left, asked.bottom))
    right, top = np.maximum(np.round(asked.right), left + 1), np.maximum(np.round(asked.top), bottom + 1)
    return Rectangles(left, right, bottom, top)
