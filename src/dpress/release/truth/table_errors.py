"""Tables of a release against the truth: what every kind with tables has in common. Not private."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.basics.claim import Unit
from dpress.core.maps.linear import Array, Numbers
from dpress.data.add_up import Counts
from dpress.data.true_counts import true_counts
from dpress.inference.interval import half_width
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.query.table_answers import TableAnswers
from dpress.release.truth.evaluate import TrueRows

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truth:
    """The exact counts of the published tables, and of further ones, one after the other; private.

    Args:
        counts: of the published tables.
        further: of the further tables.
    """

    counts: Counts
    further: Counts


def truth(answers: TableAnswers, rows: TrueRows, *, further: Sequence[Axes] = ()) -> Truth:
    """Return the exact counts behind a release: of every row, or of those that a fresh draw lets persons keep.

    Args:
        answers: of a release with tables.
        rows: that it was made from.
        further: the axes of tables that were not published.
    """
    release, published = answers.release, answers.decoder.tables
    counts = true_counts(release.schema, (*published, *further), rows.data, release.claim.unit, progress=rows.progress)
    published_counts, beyond = np.split(counts, [counts.size - sum(sizes(release, further))])
    return Truth(counts=published_counts, further=beyond)


def redrawn(unit: Unit, truth: Numbers, again: Callable[[], Numbers]) -> dict[str, float]:
    """Return how far two draws of the rows that persons keep are apart; empty where every row is counted.

    The rows that a release kept were drawn with a key that nobody has any more. Its errors are about another draw, and
    so hold this difference beside the noise.

    Args:
        unit: whose rows are bounded.
        truth: by one draw.
        again: returns the same by another one.
    """
    if unit.column is None:
        return {}
    apart = np.asarray(again() - truth, dtype=np.float64)
    return {"redrawn_root_mean_squared_difference": math.sqrt(float((apart**2).mean()))}


def table_errors(answers: TableAnswers, counts: Counts) -> dict[str, float]:
    """Return the errors of all cells of all published tables.

    `adjusted_cell_root_mean_squared_error`, where the specification names post-processing, is that of the adjusted
    counts; nothing predicts it. `within_interval` is the share of cells whose 95 % interval holds the truth.
    """
    decoder, measurement = answers.decoder, answers.measurement
    estimates = np.concatenate(decoder.estimate(measurement))
    variances = np.concatenate(decoder.cell_variances(measurement.variance))
    rows = float(int(counts.sum()) // len(decoder.tables))  # every table counts each row once
    metrics = {"rows": rows, **_cells(answers.release, estimates - counts, variances)}
    metrics["total_variation"] = float(np.abs(estimates - counts).sum() / (2 * max(1, counts.sum())))
    if answers.postprocess:
        adjusted = np.concatenate([table.adjusted for table in answers.published() if table.adjusted is not None])
        metrics["adjusted_cell_root_mean_squared_error"] = math.sqrt(float(((adjusted - counts) ** 2).mean()))
    return metrics


def _cells(release: Release, errors: Array, variances: Array) -> dict[str, float]:
    widths = {float(v): half_width(float(v), CONFIDENCE, release.tail) for v in np.unique(variances)}
    inside = np.abs(errors) <= np.array([widths[float(v)] for v in variances])
    return {
        "cell_mean_absolute_error": float(np.abs(errors).mean()),
        "cell_root_mean_squared_error": math.sqrt(float((errors**2).mean())),
        "cell_predicted_root_mean_squared_error": math.sqrt(float(variances.mean())),
        "cell_largest_error": float(np.abs(errors).max()),
        "cell_within_interval": float(inside.mean()),
    }


def sizes(release: Release, tables: Sequence[Axes]) -> list[int]:
    """Return the number of cells of every table."""
    return [math.prod(release.schema.shape[axis] for axis in axes) for axes in tables]
