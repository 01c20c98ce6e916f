"""Names against the truth. Not private."""

import numpy as np

from dpress.data.count_names import name_counts
from dpress.kinds.names.answers import ANSWERING
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, TrueRows


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return how many names were released of how many there are, what share of all counts they have, and their errors.

    See `release.truth.evaluate`.
    """
    answers = ANSWERING.of(release)
    truth = name_counts(release.schema.attributes[0], rows.data, release.claim.unit, progress=rows.progress)
    counts = dict(zip(truth.names, truth.counts.tolist(), strict=True))
    exact = np.array([counts.get(name, 0) for name in answers.values], dtype=np.float64)
    errors = np.append(answers.counts[:-1] - exact, answers.counts[-1] - (truth.total - exact.sum()))
    return {
        "names_released": float(len(answers.values)),
        "names_in_the_data": float(len(truth.names)),
        "share_of_counts_with_a_released_name": float(exact.sum() / max(truth.total, 1)),
        "mean_absolute_error_of_a_name": float(np.abs(errors[:-1]).mean()) if exact.size else 0.0,
        "largest_absolute_error_of_a_name": float(np.abs(errors[:-1]).max(initial=0.0)),
        "absolute_error_of_the_rest": float(abs(errors[-1])),
    }


COMPARISON = Comparison(evaluate=evaluate)
