"""What the page needs to answer ranges that devices reported, as `Release.query` does, without a request."""

from collections.abc import Sequence

import numpy as np

from dpress.core.reports.oracle import Tally
from dpress.inference.interval import several_critical
from dpress.kinds.ranges.answers import INTERVALS, TILES
from dpress.kinds.ranges.tiles import BOUNDS, starts_of, tiled
from dpress.mechanisms.ranges.ahead_tree import AheadTree
from dpress.mechanisms.ranges.hdg import Hdg
from dpress.mechanisms.ranges.level_tree import KNOWN, LevelTree
from dpress.query.release import CONFIDENCE, Release
from dpress.reporting.error_form import Form
from dpress.reporting.packed_numbers import packed
from dpress.reporting.page_data import Tiles
from dpress.reporting.report_form import of_partitions, of_tables


def form(release: Release) -> Form | None:
    """Return what gives the variance of a weighted sum of cells; None where the page leaves it to the command."""
    if (collection := release.collection) is None:
        return None
    tallies = collection.tallies_in(release.kept)
    own = collection.estimator
    if isinstance(own, LevelTree):
        return _of_levels(own, tallies)
    if isinstance(own, AheadTree):
        return _of_rounds(own, tallies)
    return _of_grids(own, tallies) if isinstance(own, Hdg) else None


def tiles(release: Release) -> Tiles | None:
    """Return within which tiles people are taken as evenly spread, and the note on a range that cuts one."""
    own = tiled(release.mechanism)
    if own is None:
        return None
    alone = [starts_of(own, [axis])[0][:-1].tolist() for axis in range(len(own.shape))]
    several = several_critical(CONFIDENCE, BOUNDS, release.tail)
    if isinstance(own, AheadTree):
        return {"alone": alone, "together": [], "critical": several, "note": INTERVALS}
    together = [one.coarse_starts[:-1].tolist() for one in own.axes]
    return {"alone": alone, "together": together, "critical": several, "note": TILES}


def _of_levels(own: LevelTree, tallies: Sequence[Tally]) -> Form | None:
    tree, measured = own.map, own.measurement(tallies)
    variances = tree.split(np.broadcast_to(measured.variance, measured.answers.shape))[1:]
    asked = [place for place, tally in enumerate(tallies) if int(tally[-1])]
    widths = [own.branching ** (tree.height - 1 - place) for place in asked]
    starts = [np.arange(variances[place].size) * width for place, width in zip(asked, widths, strict=True)]
    return of_partitions(own.sum_forms(tallies), starts, [variances[place] for place in asked], KNOWN)


def _of_rounds(own: AheadTree, tallies: Sequence[Tally]) -> Form | None:
    partitions = own.partitions(tallies)
    variances = [np.full(one.size, each) for one, each in zip(partitions.starts, partitions.variances, strict=True)]
    shares, asked = own.drawn(tallies)
    drawing = {"shares": packed(shares), "asked": asked.tolist()}
    return of_partitions(own.sum_forms(tallies), partitions.starts, variances, KNOWN, drawing=drawing)


def _of_grids(own: Hdg, tallies: Sequence[Tally]) -> Form | None:
    """Return the form of grids: of every attribute its fine tiles, their shares, and which grids tell of it how much.

    `mechanisms.ranges.grid_counts.GridCounts.weights` says what a query weighs in them.
    """
    found, sums = own.counts(tallies), of_tables(own.sum_forms(tallies))
    if sums is None:
        return None
    axes = [
        {"starts": one.starts[:-1].tolist(), "each": one.each, "shares": packed(shares), "trusts": trusts}
        for one, shares, trusts in zip(
            found.error.axes, found.shares, map(found.error.trusts, range(len(own.shape))), strict=True
        )
    ]
    tables = [
        {"axes": axes_of, "tiles": packed(found.tiles(axes_of)) if len(axes_of) == 2 else None}
        for axes_of in own.tables
    ]
    return {**sums, "form": "grids", "axes": axes, "tables": tables}
