"""What the page needs to answer ranges that devices reported, as `Release.query` does, without a request."""

from collections.abc import Sequence

import numpy as np

from dpress.core.reports.oracle import Tally
from dpress.inference.interval import several_critical
from dpress.kinds.ranges.answers import note
from dpress.kinds.ranges.tiles import BOUNDS, tiled
from dpress.mechanisms.ranges.ahead_tree import AheadTree
from dpress.mechanisms.ranges.hdg import Hdg
from dpress.mechanisms.ranges.level_tree import KNOWN, LevelTree
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.reporting.error_form import Form
from dpress.reporting.packed_numbers import packed
from dpress.reporting.page_data import Tiles
from dpress.reporting.report_form import of_partitions, of_tables


def form(release: Release) -> Form | None:
    """Return what gives the variance of a weighted sum of cells; None where the page leaves it to the command."""
    if (collection := release.collection) is None:
        return None
    tallies = collection.tallies_in(release.kept)
    estimator = collection.estimator
    if isinstance(estimator, LevelTree):
        return _of_levels(estimator, tallies)
    if isinstance(estimator, AheadTree):
        return _of_rounds(estimator, tallies)
    return _of_grids(estimator, tallies) if isinstance(estimator, Hdg) else None


def tiles(release: Release) -> Tiles | None:
    """Return within which tiles people are taken as evenly spread, and the note on a range that cuts one."""
    estimator = tiled(release.mechanism)
    if estimator is None:
        return None
    axes = range(len(estimator.shape))
    alone = [estimator.tile_starts([axis])[0] for axis in axes]
    return {
        "alone": [starts[:-1].tolist() for starts in alone],
        "together": [starts[:-1].tolist() for starts in estimator.tile_starts(axes)] if len(axes) > 1 else [],
        "critical": several_critical(CONFIDENCE, BOUNDS, release.tail),
        "note": note(estimator),
    }


def _of_levels(estimator: LevelTree, tallies: Sequence[Tally]) -> Form | None:
    tree, measured = estimator.map, estimator.measurement(tallies)
    variances = tree.split(np.broadcast_to(measured.variance, measured.answers.shape))[1:]
    levels = [place for place, tally in enumerate(tallies) if int(tally[-1])]
    widths = [estimator.branching ** (tree.height - 1 - place) for place in levels]
    starts = [np.arange(variances[place].size) * width for place, width in zip(levels, widths, strict=True)]
    return of_partitions(estimator.sum_forms(tallies), starts, [variances[place] for place in levels], KNOWN)


def _of_rounds(estimator: AheadTree, tallies: Sequence[Tally]) -> Form | None:
    partitions = estimator.partitions(tallies)
    pairs = zip(partitions.starts, partitions.variances, strict=True)
    variances = [np.full(starts.size, variance) for starts, variance in pairs]
    shares, places = estimator.drawn(tallies)
    drawing = {"shares": packed(shares), "asked": places.tolist()}
    return of_partitions(estimator.sum_forms(tallies), partitions.starts, variances, KNOWN, drawing=drawing)


def _of_grids(grids: Hdg, tallies: Sequence[Tally]) -> Form | None:
    """Return the form of grids: of every attribute its fine tiles, their shares, and which grids tell of it how much.

    `mechanisms.ranges.grid_counts.GridCounts.weights` says what a query weighs in them.
    """
    counts, sums = grids.counts(tallies), of_tables(grids.sum_forms(tallies))
    if sums is None:
        return None
    axes = [
        {"starts": axis.starts[:-1].tolist(), "each": axis.each, "shares": packed(shares), "trusts": trusts}
        for axis, shares, trusts in zip(
            counts.error.axes, counts.shares, map(counts.error.trusts, range(len(grids.shape))), strict=True
        )
    ]
    tables = [
        {"axes": axes_of, "tiles": packed(counts.tiles(axes_of)) if len(axes_of) == 2 else None}
        for axes_of in grids.tables
    ]
    return {**sums, "form": "grids", "axes": axes, "tables": tables}
