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
    known = dict(zip(truth.names, truth.counts.tolist(), strict=True))
    scale = release.reports / max(truth.total, 1)
    own = np.array([known.get(one, 0) for one in answers.values], dtype=np.float64) * scale
    errors = answers.counts[:-1] - own
    most = {one for one, _ in sorted(known.items(), key=lambda pair: -pair[1])[: len(own)]}
    return {
        "strings_released": float(len(own)),
        "strings_in_the_data": float(len(known)),
        "released_that_nobody_has": float((own == 0).sum()),
        "share_among_as_many_most_frequent": len(most.intersection(answers.values)) / max(len(own), 1),
        "share_of_people_with_a_released_string": float(own.sum() / max(release.reports, 1)),
        "mean_absolute_error_of_a_string": float(np.abs(errors).mean()) if own.size else 0.0,
        "largest_absolute_error_of_a_string": float(np.abs(errors).max(initial=0.0)),
    }


COMPARISON = Comparison(evaluate=evaluate)
