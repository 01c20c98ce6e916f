"""Tables against the truth. Not private."""

from dpress.kinds.tables.answers import ANSWERING
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, TrueRows
from dpress.release.truth.table_errors import redrawn, table_errors, truth


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return the errors of all cells of all published tables; see `release.truth.evaluate`."""
    answers = ANSWERING.of(release)
    counts = truth(answers, rows).counts
    return table_errors(answers, counts) | redrawn(release.claim.unit, counts, lambda: truth(answers, rows).counts)


COMPARISON = Comparison(evaluate=evaluate)
