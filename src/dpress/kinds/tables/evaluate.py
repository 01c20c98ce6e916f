"""Tables against the truth. Not private."""

from typing import Any

from dpress.data.add_up import Progress
from dpress.query.release import Release
from dpress.release.truth.evaluate import no_remarks as remarks
from dpress.release.truth.table_errors import no_held_out, redrawn, table_errors, truth

__all__ = ["evaluate", "remarks"]


def evaluate(
    release: Release, data: Any, *, held_out: Any = None, progress: Progress | None = None
) -> dict[str, float]:
    """Return the errors of all cells of all published tables; see `release.truth.evaluate`."""
    no_held_out(held_out)
    counts = truth(release, data, progress=progress).counts
    again = redrawn(release.claim.unit, counts, lambda: truth(release, data, progress=progress).counts)
    return table_errors(release.answers, counts) | again
