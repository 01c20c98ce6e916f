"""The page of counts over ranges: the cells, and the error averaged over the ranges that were asked for.

Data flow: release -> facts, views -> `page.html.j2`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpress.kinds.ranges import offline
from dpress.kinds.ranges.answers import ANSWERING
from dpress.kinds.ranges.grids import grids_of
from dpress.kinds.ranges.tile_views import tile_variances, tile_views
from dpress.kinds.ranges.tiles import tiled
from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting.accuracy import example
from dpress.reporting.added_noise import added_noise
from dpress.reporting.counted import opening
from dpress.reporting.counts import MOST_VIEWS, Part, page_of_counts, part
from dpress.reporting.facts import Facts, facts
from dpress.reporting.page_data import page_data
from dpress.reporting.render import rendered

TEMPLATE = "kinds/ranges/page.html.j2"
MOST_EXAMPLES = 3


def page(release: Release) -> str:
    """Return the page as HTML."""
    about = facts(release)
    form, tiles, listed = offline.form(release), offline.tiles(release), _listed(about)
    data = page_data(about, about.views, separate=False, signed=form, tiles=tiles, examples=listed)
    shown = context(about, _shown(about, release), data)
    return rendered(TEMPLATE, shown | ({"example": example(about, listed[0])} if listed else {}))


def context(facts: Facts, parts: Sequence[Part], data: str | None) -> dict[str, Any]:
    """Return the facts that the template names."""
    whole = facts.views
    return {
        "data": data,
        **page_of_counts(facts, whole, parts, hidden=max(0, len(whole) - MOST_VIEWS)),
        "workload": facts.workload,
        "form": _form(facts.workload),
        "tiles": _tiles(facts),
        "rounds": _rounds(facts),
        "several": len(facts.mechanism.decoder.tables) > 1,
        "noise": None if facts.model == "local" else added_noise(facts.mechanism),
    }


def _shown(facts: Facts, release: Release) -> list[Part]:
    """Return what is drawn: the cells, or tiles where those are all that devices tell of."""
    views, tables, tiles = facts.views[:MOST_VIEWS], facts.mechanism.decoder.tables[:MOST_VIEWS], tiled(facts.mechanism)
    if tiles is not None:
        variance = ANSWERING.of(release).query_variance
        views = tile_views(views, tables, tiles, variance)
        facts = replace(facts, range_variances=tile_variances(facts.schema.names, tiles, variance))
    return [part(facts, view) for view in views]


def _tiles(facts: Facts) -> list[tuple[str, int, int]]:
    """Return the attributes with their tiles, and their tiles beside another one; empty without grids."""
    grids = grids_of(facts.mechanism)
    return [] if grids is None else [*zip(facts.schema.names, grids.fine, grids.coarse, strict=True)]


def _rounds(facts: Facts) -> tuple[int, int, int] | None:
    """Return how many rounds there are, the one that this is, from 1, and its number of intervals; None without."""
    tree = tiled(facts.mechanism)
    return (
        None
        if tree is None or not tree.rounds
        else (len(tree.rounds), tree.round + 1, tree.tile_starts([0])[0].size - 1)
    )


def _listed(facts: Facts) -> list[str]:
    """Return queries of the first ranges where all were listed: the error of any other one may be far larger."""
    axes = facts.workload.axes
    if any(axis.form != "listed" for axis in axes):
        return []
    boxes = zip(*(axis.listed[:MOST_EXAMPLES] for axis in axes), strict=False)
    return [
        " and ".join(
            f"{attribute.name} in {attribute.spanning(span.left - 1, span.right)}"
            for attribute, span in zip(facts.schema.tabular, box, strict=True)
        )
        for box in boxes
    ]


def _form(workload: Any) -> str:
    """Return which ranges were asked for: "all", "prefixes", "length", "listed", or "boxes" and "all boxes"."""
    if len(workload.axes) > 1:
        every = not workload.paired and all(axis.every for axis in workload.axes)
        return "all boxes" if every else "boxes"
    return str(workload.axes[0].form)


PAGE = Page(page=page, opening=opening)
