"""A joint distribution against the truth: its tables, and the fitted tables of all pairs. Not private."""

from collections.abc import Sequence

import numpy as np

from dpress.core.maps.linear import Array
from dpress.data.add_up import Counts
from dpress.inference.least_squares import flat
from dpress.inference.postprocess import norm_sub
from dpress.kinds.joint.answers import ANSWERING, Answers
from dpress.mechanisms.protocol.collection import method_of
from dpress.query.release import Release
from dpress.release.truth.evaluate import Comparison, Remarks, TrueRows
from dpress.release.truth.table_errors import sizes, table_errors, truth

Axes = tuple[int, ...]


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return the errors of all cells, and how far the fitted tables of all pairs are from the truth.

    The pairs are compared whether they were published or, as those of `independent`, follow from the fit alone.
    """
    answers = ANSWERING.of(release)
    further = _unpublished(answers)
    exact = truth(answers, rows, further=further)
    tables = further or answers.decoder.tables
    return table_errors(answers, exact.counts) | _pairs(answers, tables, exact.further if further else exact.counts)


def remarks(release: Release) -> Remarks:
    """Return what the tables of a baseline are."""
    supposed = getattr(method_of(release.mechanism), "assumes", "")
    line = f"{release.method} supposes {supposed}: its tables of pairs are products."
    return Remarks(lines=(line,) if supposed else ())


def _unpublished(answers: Answers) -> tuple[Axes, ...]:
    """Return the pairs none of which is published; none of them where they are."""
    tables = answers.release.workload.tables
    return () if tables == answers.decoder.tables else tables


def _pairs(answers: Answers, tables: Sequence[Axes], counts: Counts) -> dict[str, float]:
    """Return the mean total variation of the fitted tables, and of the product of one-way counts as a baseline."""
    release, fitted = answers.release, answers.fitted
    single = [norm_sub(_single(answers, axis), users=1) for axis in range(len(release.schema.shape))]
    distances, product = [], []
    for axes, table in zip(tables, np.split(counts, np.cumsum(sizes(release, tables))[:-1]), strict=True):
        shares = table / max(1, table.sum())
        distances.append(float(np.abs(fitted.marginal(axes).ravel() - shares).sum() / 2))
        product.append(float(np.abs(flat([single[axis] for axis in axes]) - shares).sum() / 2))
    return {
        "fitted_mean_total_variation": float(np.mean(distances)),
        "independence_mean_total_variation": float(np.mean(product)),
    }


def _single(answers: Answers, axis: int) -> Array:
    """Return one attribute's unbiased shares: the mean over the tables that hold it."""
    release, decoder = answers.release, answers.decoder
    shape = release.schema.shape
    parts = []
    for axes, table in zip(decoder.tables, decoder.estimate(answers.measurement), strict=True):
        if axis in axes:
            others = tuple(place for place, other in enumerate(axes) if other != axis)
            parts.append(table.reshape([shape[other] for other in axes]).sum(axis=others) / max(1, answers.people))
    return np.asarray(np.mean(parts, axis=0))


COMPARISON = Comparison(evaluate=evaluate, remarks=remarks)
