"""Strings against the truth. Not private."""

import numpy as np

from dpress.data.count_names import name_counts
from dpress.kinds.strings.answers import ANSWERING
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, TrueRows


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return how many strings were released, how many of them are among as many most frequent ones, and their errors.

    Counts are compared in shares of all people, where only some rounds were answered. See `release.truth.evaluate`.
    """
    answers = ANSWERING.of(release)
    truth = name_counts(release.design.attributes[0], rows.data, release.claim.unit, progress=rows.progress)
    counts = dict(zip(truth.names, truth.counts.tolist(), strict=True))
    scale = release.reports / max(truth.total, 1)
    exact = np.array([counts.get(string, 0) for string in answers.values], dtype=np.float64) * scale
    errors = answers.counts[:-1] - exact
    most = {string for string, _ in sorted(counts.items(), key=lambda pair: -pair[1])[: len(exact)]}
    return {
        "strings_released": float(len(exact)),
        "strings_in_the_data": float(len(counts)),
        "released_that_nobody_has": float((exact == 0).sum()),
        "share_among_as_many_most_frequent": len(most.intersection(answers.values)) / max(len(exact), 1),
        "share_of_people_with_a_released_string": float(exact.sum() / max(release.reports, 1)),
        "mean_absolute_error_of_a_string": float(np.abs(errors).mean()) if exact.size else 0.0,
        "largest_absolute_error_of_a_string": float(np.abs(errors).max(initial=0.0)),
    }


COMPARISON = Comparison(evaluate=evaluate)
