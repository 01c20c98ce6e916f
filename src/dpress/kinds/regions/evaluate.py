"""Regions against the truth: every table at every level, and totals by the size of the region. Not private.

The figures by size are those by which the US Census Bureau judges its own: mean absolute error, mean absolute percent
error and mean error (bias) of the regions of a class.
"""

import itertools
import math
from collections.abc import Mapping

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.data.true_counts import true_counts
from dpress.inference.interval import half_width
from dpress.inference.regions.measured import Table
from dpress.inference.regions.spine_queries import table_of, widest
from dpress.kinds.regions.answers import ANSWERING, Answers
from dpress.kinds.regions.levels import table_title
from dpress.kinds.regions.region_errors import TableError
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, TrueRows
from dpress.release.truth.table_errors import redrawn

DUST = 1e-6  # what sums of floats may be off an exact total
SIZES = (1, 10, 100, 1_000, 10_000, 100_000)  # where a class of regions by their true total begins
Levels = list[dict[Table, Numbers]]


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return errors by level and table, and of totals by level and size; see `release.truth.evaluate`.

    Names begin with the level; then the attributes of the table, or `total`, or `total of 10 to 99`, the class of
    regions by their true total. `adjusted_mean_absolute_error` is that of the whole numbers.
    """
    answers = ANSWERING.of(release)
    truth = _truth(answers, rows)
    metrics, whole = {"rows": float(truth[0][()].sum())}, answers.whole()
    for error in answers.errors:
        counts = truth[error.level][error.table]
        metrics |= _errors(answers, error, counts)
        if whole is not None:
            wrong = table_of(whole[error.level], error.table) - counts
            metrics[f"{_named(answers, error)}: adjusted_mean_absolute_error"] = float(np.abs(wrong).mean())
    for level, name in enumerate(answers.levels[1:], 1):
        totals = {"": answers.table(level, ())}
        if whole is not None:
            totals["adjusted_"] = table_of(whole[level], ())
        metrics |= _by_size(name, totals, truth[level][()])
    leaves = truth[-1]
    return metrics | redrawn(release.claim.unit, leaves[()], lambda: _truth(answers, TrueRows(data=rows.data))[-1][()])


def _truth(answers: Answers, rows: TrueRows) -> Levels:
    """Return the exact tables of every level; private."""
    release, measured = answers.release, answers.queries.measured
    wide = widest(error.table for error in answers.errors)
    axes = [(0, *(1 + axis for axis in table)) for table in wide]
    shapes = [(measured.spine.sizes[-1], *(measured.shape[axis] for axis in table)) for table in wide]
    counts = true_counts(release.schema, axes, rows.data, release.claim.unit, progress=rows.progress)
    parts = np.split(counts, np.cumsum([math.prod(shape) for shape in shapes])[:-1])
    by_table = [
        measured.spine.up(part.reshape(shape).astype(np.float64)) for part, shape in zip(parts, shapes, strict=True)
    ]
    tables = dict.fromkeys([(), *(error.table for error in answers.errors)])
    return [
        {table: table_of(dict(zip(wide, counts, strict=True)), table) for table in tables}
        for counts in zip(*by_table, strict=True)
    ]


def _named(answers: Answers, error: TableError) -> str:
    return f"{answers.levels[error.level]} {table_title(answers.release.schema.names[1:], error.table)}"


def _errors(answers: Answers, error: TableError, truth: Numbers) -> dict[str, float]:
    """Return the errors of the cells of a table at a level."""
    what = _named(answers, error)
    wrong = (answers.table(error.level, error.table) - truth).reshape(error.variances.size, -1)
    widths = np.array([half_width(float(v), CONFIDENCE, answers.release.tail) for v in np.unique(error.variances)])
    within = np.abs(wrong) <= widths[np.searchsorted(np.unique(error.variances), error.variances)][:, None] + DUST
    return {
        f"{what}: mean_absolute_error": float(np.abs(wrong).mean()),
        f"{what}: root_mean_squared_error": math.sqrt(float((wrong**2).mean())),
        f"{what}: predicted_root_mean_squared_error": math.sqrt(float(error.variances.mean())),
        f"{what}: within_interval": float(within.mean()),
    }


def _by_size(level: str, totals: Mapping[str, Array], truth: Numbers) -> dict[str, float]:
    """Return the errors of the totals of the regions of every class that there are.

    Args:
        level: its name.
        totals: of its regions, by what is put before the names of their errors.
        truth: the exact ones.
    """
    metrics: dict[str, float] = {}
    for first, end in itertools.pairwise((0, *SIZES, math.inf)):
        inside = (truth >= first) & (truth < end)
        if not inside.any():
            continue
        what = f"{level} total of {f'{first:g} to {end - 1:g}' if end < math.inf else f'{first:g} on'}"
        metrics[f"{what}: regions"] = float(inside.sum())
        for kind, values in totals.items():
            wrong = values[inside] - truth[inside]
            metrics[f"{what}: {kind}mean_absolute_error"] = float(np.abs(wrong).mean())
            metrics[f"{what}: {kind}bias"] = float(wrong.mean())
            if first:
                percent = 100 * np.abs(wrong / truth[inside])
                metrics[f"{what}: {kind}mean_absolute_percent_error"] = float(percent.mean())
    return metrics


COMPARISON = Comparison(evaluate=evaluate)
