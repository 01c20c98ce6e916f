"""Statistics against the truth. Not private."""

from dpress.kinds.statistics import product
from dpress.kinds.statistics.answers import ANSWERING
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, Remarks, TrueRows


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return for every statistic the errors over all groups that have rows: see `statistic_errors.metrics_of`."""
    metrics: dict[str, float] = product.part("evaluate", local=release.design.local).evaluate(release, rows)
    return metrics


def remarks(release: Release) -> Remarks:
    """Return what is to be known of bounds that were chosen."""
    bounded = ANSWERING.of(release).bounded.items()
    return Remarks(lines=tuple(f"{name}: {note} So is the truth here." for name, note in bounded))


COMPARISON = Comparison(evaluate=evaluate, remarks=remarks)
