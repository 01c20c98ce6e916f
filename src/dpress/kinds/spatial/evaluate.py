"""A map against the truth: for the people who hold the data. Its output is not private."""

import math
from typing import cast

import numpy as np

from dpress.core.maps.grid import LARGEST_SIDE, sums
from dpress.core.maps.linear import Array
from dpress.core.maps.workload import Areas
from dpress.data.true_counts import true_counts
from dpress.inference.interval import critical
from dpress.inference.maps.density import ends, unbiased
from dpress.kinds.spatial.answers import ANSWERING
from dpress.kinds.spatial.place import on_grid
from dpress.kinds.spatial.prediction import typical_rectangles
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, TrueRows
from dpress.release.truth.table_errors import redrawn

SANITY = 0.001  # of all people: the least truth that a relative error is taken of


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return the error of a map, in people, over 500 rectangles of the size that it was planned for.

    Their ends lie on a grid of 1024 x 1024 cells, on which the truth is counted. `within_interval` is the share whose
    95 % interval holds the truth: what a cut cell hides is part of the error but not of the interval. Where no count is
    below zero, `unbiased_root_mean_squared_error` is that of the unbiased answers, which the interval is about.
    """
    workload, answers = cast("Areas", release.workload), ANSWERING.of(release)
    density = answers.density
    fine = on_grid(release.design.attributes, LARGEST_SIDE)
    rectangles = typical_rectangles(workload)

    def counted() -> Array:
        counts = true_counts(fine, ((0, 1),), rows.data, release.claim.unit, progress=rows.progress)
        square = counts.reshape(LARGEST_SIDE, LARGEST_SIDE).astype(np.float64)
        return np.append(sums(square, rectangles), square.sum())

    *_, total = exact = counted()
    truth = exact[:-1]
    scaled = rectangles.scaled(density.grid.side / LARGEST_SIDE)
    low, high = ends(density, scaled, critical(CONFIDENCE, release.tail))
    errors, apart = (np.abs(estimate.values(scaled) - truth) for estimate in (density, unbiased(density)))
    inside = (low <= truth) & (truth <= high)
    return {
        "rows": float(total),
        "mean_absolute_error": float(errors.mean()),
        "mean_absolute_error_share": float(errors.mean() / max(1.0, total)),
        "mean_relative_error": float((errors / np.maximum(truth, max(1.0, SANITY * total))).mean()),
        "root_mean_squared_error": math.sqrt(float((errors**2).mean())),
        **({"unbiased_root_mean_squared_error": math.sqrt(float((apart**2).mean()))} if answers.adjusted else {}),
        "predicted_root_mean_squared_error": math.sqrt(release.predicted or 0.0),
        "within_interval": float(inside.mean()),
        **redrawn(release.claim.unit, truth, lambda: counted()[:-1]),
    }


COMPARISON = Comparison(evaluate=evaluate)
