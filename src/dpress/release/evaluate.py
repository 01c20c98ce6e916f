"""A release against the truth: for the people who hold the data. Its output is not private."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpress.core import rng as generators
from dpress.core.claim import ROW
from dpress.core.errors import NotSupported
from dpress.core.linear import Array
from dpress.core.mechanism import BoxDecoder
from dpress.core.ranges import AllRanges, Axis, Places, Ranges
from dpress.core.workload import Boxes, Marginals
from dpress.data.fold import Counts, Progress
from dpress.inference.box_sums import box_sums
from dpress.inference.interval import half_width
from dpress.inference.least_squares import flat
from dpress.inference.postprocess import norm_sub
from dpress.kinds.microdata.answers import MicrodataRelease
from dpress.kinds.microdata.evaluate import evaluate_records
from dpress.kinds.spatial.answers import MapRelease
from dpress.kinds.spatial.evaluate import evaluate_map
from dpress.noise.uniform import below
from dpress.release.publish import true_counts
from dpress.release.published_tables import CONFIDENCE
from dpress.release.release import Release

BOXES = 500


def evaluate(
    release: Release, data: Any, *, held_out: Any = None, progress: Progress | None = None
) -> dict[str, float]:
    """Return the error of a release, in counts, against the rows it was made from.

    Cells: over all cells of all published tables. Ranges: over 500 questions drawn evenly from the workload, for a
    release of ranges. `adjusted_cell_root_mean_squared_error`, where the spec names post-processing, is that of the
    adjusted counts; nothing predicts it. `within_interval` is the share of cells whose 95 % interval holds the truth.
    For a joint distribution the tables of all pairs are compared, too, whether they were published or, as those of
    `independent`, follow from the fit alone. The truth is every row: where persons keep a bounded number, the rows
    left out are part of the error, but not of the predicted one.

    Args:
        release: of any kind; maps and records have figures of their own.
        data: the rows that it was made from.
        held_out: of records, rows that they were not made from; see `evaluate_records`.
        progress: called with the number of rows counted so far.

    Raises:
        OSError, SchemaMismatch: the data cannot be read or does not fit the release's spec.
        NotSupported: `held_out` for a release of tables, or where no classifier can be trained.
    """
    if isinstance(release, MicrodataRelease):
        return evaluate_records(release, data, held_out=held_out, progress=progress)
    if held_out is not None:
        raise NotSupported('--held-out tests a classifier that was trained on records: only for kind = "microdata"')
    if isinstance(release, MapRelease):
        return evaluate_map(release, data, progress=progress)
    mechanism = release.planned.chosen.mechanism
    together = _together(release)
    tables = (*mechanism.decoder.tables, *together)
    counts = true_counts(release.spec, release.planned, data, ROW, tables=tables, progress=progress)
    counts, paired = np.split(counts, [counts.size - sum(_sizes(release, together))])
    estimates = np.concatenate(release.decoder.estimate(release.measurement))
    variances = np.concatenate(release.decoder.cell_variances(release.measurement.variance))
    metrics = {"rows": float(_rows(release, counts)), **_cells(release, estimates - counts, variances)}
    metrics["total_variation"] = float(np.abs(estimates - counts).sum() / (2 * max(1, counts.sum())))
    if release.spec.release.postprocess:
        metrics["adjusted_cell_root_mean_squared_error"] = _adjusted_error(release, counts)
    if release.fitted is not None:
        metrics |= _pairs(release, paired if together else counts)
    if isinstance(release.planned.workload, Boxes):
        metrics |= _boxes(release, release.planned.workload, counts)
    return metrics


def _rows(release: Release, counts: Counts) -> int:
    """Return the number of counted rows: every table counts each of them once."""
    return int(counts.sum()) // len(release.planned.chosen.mechanism.decoder.tables)


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


def _adjusted_error(release: Release, counts: Counts) -> float:
    adjusted = np.concatenate([table.adjusted for table in release.published() if table.adjusted is not None])
    return math.sqrt(float(((adjusted - counts) ** 2).mean()))


def _boxes(release: Release, workload: Boxes, counts: Counts) -> dict[str, float]:
    decoder = release.planned.chosen.mechanism.decoder
    assert isinstance(decoder, BoxDecoder)  # noqa: S101  # every method that serves boxes answers them
    drawn = _drawn(workload)
    errors = decoder.box_answers(release.measurement, drawn) - box_sums(counts.reshape(workload.shape), drawn)
    return {
        "range_root_mean_squared_error": math.sqrt(float(np.mean(errors**2))),
        "range_predicted_root_mean_squared_error": math.sqrt(release.planned.chosen.predicted_error),
    }


def _pairs(release: Release, counts: Counts) -> dict[str, float]:
    """Return the mean total variation of the fitted tables, and of the product of one-way counts as a baseline."""
    tables, fitted = _together(release) or release.planned.chosen.mechanism.decoder.tables, release.fitted
    assert fitted is not None  # noqa: S101  # asked for by the caller
    single = [norm_sub(_single(release, axis), users=1) for axis in range(len(release.schema.shape))]
    found, product = [], []
    for axes, own in zip(tables, np.split(counts, np.cumsum(_sizes(release, tables))[:-1]), strict=True):
        shares = own / max(1, own.sum())
        found.append(float(np.abs(fitted.marginal(axes).ravel() - shares).sum() / 2))
        product.append(float(np.abs(flat([single[axis] for axis in axes]) - shares).sum() / 2))
    return {
        "fitted_mean_total_variation": float(np.mean(found)),
        "independence_mean_total_variation": float(np.mean(product)),
    }


def _single(release: Release, axis: int) -> Array:
    """Return one attribute's unbiased shares: the mean over the tables that hold it."""
    decoder, shape = release.decoder, release.schema.shape
    parts = []
    for axes, own in zip(decoder.tables, decoder.estimate(release.measurement), strict=True):
        if axis in axes:
            others = tuple(place for place, other in enumerate(axes) if other != axis)
            parts.append(own.reshape([shape[other] for other in axes]).sum(axis=others) / max(1, release.users))
    return np.asarray(np.mean(parts, axis=0))


def _together(release: Release) -> tuple[tuple[int, ...], ...]:
    """Return the pairs of a fitted joint none of which is published; none of them where they are."""
    workload = release.planned.workload
    if release.fitted is None or not isinstance(workload, Marginals):
        return ()
    return () if workload.tables == release.planned.chosen.mechanism.decoder.tables else workload.tables


def _sizes(release: Release, tables: Sequence[tuple[int, ...]]) -> list[int]:
    return [math.prod(release.schema.shape[axis] for axis in axes) for axes in tables]


def _drawn(workload: Boxes) -> list[Ranges]:
    """Return questions of the workload, each equally likely, as ranges on every axis."""
    if workload.paired:
        place = below(workload.queries, BOXES, rng=generators.secure())
        return [_some(axis, place) for axis in workload.axes]
    return [_some(axis, None) for axis in workload.axes]


def _some(axis: Axis, places: Places | None) -> Ranges:
    """Return the ranges of one axis at these places, or at random ones."""
    if isinstance(axis, AllRanges):
        left, right = _any_ranges(axis.cells)
        return Ranges(axis.cells, left, right)
    chosen = below(axis.queries, BOXES, rng=generators.secure()) if places is None else places
    listed = [axis.ranges(int(place), int(place) + 1) for place in chosen]
    return Ranges(axis.cells, np.concatenate([r.left for r in listed]), np.concatenate([r.right for r in listed]))


def _any_ranges(cells: int) -> tuple[Places, Places]:
    """Return ranges drawn evenly from all n (n + 1) / 2: two different cuts among n + 1."""
    first = below(cells + 1, BOXES, rng=generators.secure())
    second = below(cells, BOXES, rng=generators.secure())
    second += second >= first  # any cut but the first
    return np.minimum(first, second) + 1, np.maximum(first, second)
