"""Answers to a list of predicates against the truth. Not private."""

import math

import numpy as np

from dpress.core.maps.linear import Array
from dpress.data.true_counts import atom_counts
from dpress.inference.interval import half_width
from dpress.kinds.queries.answers import ANSWERING
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, TrueRows
from dpress.release.truth.table_errors import redrawn


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return the errors of the listed queries; `within_interval` is the share whose 95 % interval holds the truth."""
    answers = ANSWERING.of(release)

    def counted() -> Array:
        counts = atom_counts(release.schema, answers.atoms, rows.data, release.claim.unit, progress=rows.progress)
        return counts.astype(np.float64)

    counts = counted()
    sums = answers.workload.sums
    truth = sums.apply(counts)
    errors, widths = answers.values - truth, half_width(answers.variances, CONFIDENCE, release.tail)
    return {
        "rows": float(counts.sum()),
        "query_mean_absolute_error": float(np.abs(errors).mean()),
        "query_root_mean_squared_error": math.sqrt(float((errors**2).mean())),
        "query_predicted_root_mean_squared_error": math.sqrt(float(answers.variances.mean())),
        "query_largest_error": float(np.abs(errors).max()),
        "query_within_interval": float((np.abs(errors) <= widths).mean()),
        **redrawn(release.claim.unit, truth, lambda: sums.apply(counted())),
    }


COMPARISON = Comparison(evaluate=evaluate)
