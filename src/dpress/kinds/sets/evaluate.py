"""Counts of sets against the truth. Not private."""

import numpy as np

from dpress.data.count_sets import set_counts
from dpress.kinds.sets.answers import ANSWERING, members_of
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, TrueRows


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return the errors of all counts, and what of them the cap alone makes; see `release.truth.evaluate`.

    The truth is compared in shares of all people, where not all of them answered.
    """
    answers = ANSWERING.of(release)
    truth = set_counts(members_of(release), rows.data, progress=rows.progress)
    scale = release.reports / max(truth.people, 1)
    counts, kept = truth.counts * scale, truth.kept(answers.method.cap) * scale
    errors, noise = answers.measurement.answers - counts, answers.measurement.answers - kept
    variance = np.asarray(answers.measurement.variance)
    return {
        "mean_absolute_error": float(np.abs(errors).mean()),
        "root_mean_squared_error": float(np.sqrt(np.mean(errors**2))),
        "largest_absolute_error": float(np.abs(errors).max()),
        "mean_absolute_error_without_that_of_the_cap": float(np.abs(noise).mean()),
        "mean_bias_of_the_cap": float((kept - counts).mean()),
        "largest_bias_of_the_cap": float((counts - kept).max()),
        "share_within_95_interval_without_the_cap": float(np.mean(np.abs(noise) <= 1.96 * np.sqrt(variance))),
        "mean_set_size": float(truth.counts.sum() / max(truth.people, 1)),
        "error_of_the_mean_set_size": float(answers.set_size.mean - truth.counts.sum() / max(truth.people, 1)),
    }


COMPARISON = Comparison(evaluate=evaluate)
