"""The page of a map: positions and rectangles instead of values and cells.

Data flow: release, queries -> facts, answers -> figures, tables -> `page.html.j2`.
"""

import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpress.attributes.policy import DROP
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.grid import Rectangles
from dpress.inference.maps.block_noise import TileDensity
from dpress.inference.maps.density import Density
from dpress.inference.maps.supported_tiles import Tiles
from dpress.kinds.spatial import map_figures, map_frame, map_tables, text
from dpress.kinds.spatial.answers import ANSWERING
from dpress.kinds.spatial.area_counts import AreaCount, area_counts
from dpress.kinds.spatial.boundaries import read_boundaries
from dpress.kinds.spatial.deviation_bound import DeviationBound, deviation_bound
from dpress.kinds.spatial.outlines import Box
from dpress.kinds.spatial.place import location
from dpress.kinds.spatial.where_most import fullest_area, largest_quarter, where_most
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid
from dpress.mechanisms.spatial.central_map import CentralMap
from dpress.mechanisms.spatial.map_decoder import RUNS
from dpress.query.boxes import rectangles
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.release.room import Page
from dpress.reporting.accuracy import accuracy, example, total
from dpress.reporting.added_noise import added_noise
from dpress.reporting.collected import reasons
from dpress.reporting.counted import how_many
from dpress.reporting.facts import Facts, facts
from dpress.reporting.figures import NARROW, WIDE
from dpress.reporting.frame import frame
from dpress.reporting.page_script import script
from dpress.reporting.render import rendered
from dpress.reporting.rounding import TIMES, number
from dpress.reporting.script_json import as_data

TEMPLATE = "kinds/spatial/page.html.j2"
MOST_QUERIES = 12
MOST_TILES = 1 << 13  # in a page, of which they are half a megabyte; a grid of 64 x 64 always fits


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """What a page takes from a map, beside what it takes from every release.

    Args:
        place: what the attribute is called before people.
        outside: what becomes of positions outside the box.
        box: the ends of both columns.
        density: the estimated map.
        linear: it is a linear function of the answers, and so unbiased.
        mechanism: that measured: a collection, or a table's own.
        users: how many took part in a collection; None for a table, whose rows are estimated.
        rectangle: reads a query as a rectangle.
        tiles: the map at the grain that its noise supports, at most `MOST_TILES`.
        bound: how far a rectangle's count can be off, by Theorem 5 of the GT-R document; None where that is not of it.
    """

    place: str
    outside: str
    box: Box
    density: Density
    linear: bool
    mechanism: Any
    users: int | None
    rectangle: Callable[[str], Box]
    tiles: Tiles
    bound: DeviationBound | None

    @property
    def uneven(self) -> bool:
        """Whether counts were measured in tiles of different sizes."""
        return isinstance(self.density, TileDensity)

    @property
    def clustered(self) -> float:
        """How much people cluster within a cell, from 0 to 1."""
        return self.density.clustered

    @property
    def adjusted(self) -> bool:
        """Whether there are unbiased counts beside those that are shown."""
        return self.density.beside is not None


def map_of(release: Release) -> Map:
    """Return what a page takes from a map.

    Raises:
        TypeError: the release is no map.
    """
    answers, place = ANSWERING.of(release), location(release.design.attributes)
    mechanism: Any = release.mechanism
    decoder = mechanism.decoder
    return Map(
        place=place.caption,
        outside=place.outside,
        box=answers.box,
        density=answers.density,
        linear=decoder.estimator.linear,
        mechanism=mechanism,
        users=release.users,
        rectangle=lambda query: rectangles(release.schema, query)[0],
        tiles=answers.tiles(MOST_TILES),
        bound=deviation_bound(release, answers.density),
    )


def page(release: Release, queries: Sequence[str] = (), boundaries: str | Path | None = None) -> str:
    """Return the page as HTML.

    Args:
        release: just published, or loaded.
        queries: to draw; the middle ninth of the box where there is none.
        boundaries: a file of named areas to draw, where there is one.

    Raises:
        NotSupported: there are too many queries to draw, or the map's errors are known of rectangles alone.
        ValueError: a text is no query on the map's columns, or the file has no named areas on the map.
        OSError: the file cannot be read.
    """
    if len(queries) > MOST_QUERIES:
        raise NotSupported(f"a map shows at most {MOST_QUERIES} queries, got {len(queries)}")
    shown = map_of(release)
    areas = () if boundaries is None else _areas(shown, release, boundaries)
    return rendered(TEMPLATE, context(facts(release), shown, queries, areas), style=map_frame.STYLE)


def _areas(shown: Map, release: Release, boundaries: str | Path) -> tuple[AreaCount, ...]:
    across, up = release.schema.names
    areas = read_boundaries(boundaries, shown.box, (across, up))
    return area_counts(shown.density, release.tail, shown.box, areas)


def context(facts: Facts, shown: Map, queries: Sequence[str] = (), areas: Sequence[AreaCount] = ()) -> dict[str, Any]:
    """Return the facts that the template names."""
    (view,) = facts.views
    within = text.within_regions(shown.mechanism)
    first, tiles = middle(facts.schema.names, shown.box), shown.tiles
    common = frame(facts)
    warned = within and facts.private
    return {
        **common,
        "opening": _opening(facts, shown, areas),
        "named": not facts.approximate,
        "data": _data(facts, shown, areas),
        "areas": map_tables.areas(areas, facts.noun),
        "script": script("map"),
        "accuracy": accuracy(facts),
        "methods": None,  # each would be on a grid of its own, which a release does not have
        "promise": replace(common["promise"], warning="within regions") if warned else common["promise"],
        "example": example(facts, first),
        "total": number(shown.users) if shown.users is not None else total(facts),
        "files": map_tables.files(view),
        "map": shown,
        "within": within,
        "dropped": shown.outside == DROP,
        "over": text.over(facts.workload),
        "runs": RUNS,
        "below": int((shown.density.counts < 0).sum()),
        "cells": view.count.size,
        "significant": int(tiles.significant.sum()),
        "file": view.file,
        "fullest": map_tables.fullest(tiles, shown.box, facts.schema.captions, facts.noun),
        **_drawn(facts, shown, areas, queries or (() if areas else (first,))),
        "typed": "" if queries or areas else f"dpress report FOLDER --query {shlex.quote(first)}",
        **(_collected(facts, shown) if facts.model == "local" else _added(shown.mechanism)),
    }


def opening(release: Release) -> tuple[str, ...]:
    """Return the sentences that the page opens with."""
    return _opening(facts(release), map_of(release))


def _opening(facts: Facts, shown: Map, areas: Sequence[AreaCount] = ()) -> tuple[str, ...]:
    """Return how many there are, and where most are, which nothing compares where intervals are approximate."""
    if len(areas) > 1 and not facts.approximate:
        return how_many(facts), fullest_area(areas, facts.tail, facts.noun)
    of_map = shown.density, facts.tail, shown.box, facts.schema.captions, facts.noun
    return how_many(facts), f"{largest_quarter(*of_map)}." if facts.approximate else where_most(*of_map)


def _data(facts: Facts, shown: Map, areas: Sequence[AreaCount]) -> str:
    """Return what the map's script reads: columns, their bounds, where both drawings have them, areas and tiles."""
    across, up = facts.schema.captions
    frames = {
        name: map_frame.frame(shown.box, (across, up), width) for name, width in (("wide", WIDE), ("narrow", NARROW))
    }
    places = {name: (drawing.left, map_frame.TOP, drawing.width, drawing.height) for name, drawing in frames.items()}
    lists = [map_tables.all_tiles(shown.tiles, shown.box, facts.schema.captions, facts.noun)]
    lists += [map_tables.all_areas(areas, facts.noun)] if areas else []
    ((place, *_),) = facts.schema.places
    words = {"names": facts.schema.names, "place": place, "title": shown.place, "noun": facts.noun}
    data = {**words, "box": shown.box, "frames": places, "lists": lists}
    return as_data(data | {"areas": [(each.area.name, map_tables.words_of(each, facts.noun)) for each in areas]})


def middle(names: Sequence[str], box: Box) -> str:
    """Return a query for the middle ninth of the box, in round numbers."""
    parts = []
    for name, (low, high) in zip(names, box, strict=True):
        third = (high - low) / 3
        digits = max(0, 2 - math.floor(math.log10(third)))
        parts.append(f"{name} in {round(low + third, digits):.10g}..{round(high - third, digits):.10g}")
    return " and ".join(parts)


def _drawn(facts: Facts, shown: Map, areas: Sequence[AreaCount], queries: Sequence[str]) -> dict[str, Any]:
    """Return the maps, with the answers to the queries and the outlines of areas."""
    outlines = [(each.area.name, map_tables.words_of(each, facts.noun), each.area.rings) for each in areas]
    across, up = facts.schema.captions
    results = [facts.query(query) for query in queries]
    boxes = tuple(_answered(shown, result) for result in results)
    side = shown.density.grid.side
    return {
        "side": side,
        "cell_size": map_frame.cell_size(map_frame.frame(shown.box, (across, up), WIDE), side),
        "density": map_figures.density_figure(
            shown.tiles, shown.box, (across, up), boxes, noun=facts.noun, areas=outlines
        ),
        "trust": map_figures.trust_figure(shown.density, shown.box, (across, up)),
        "answers": map_tables.answers(results, facts.noun, _bounds(shown, boxes)),
        "notes": list(dict.fromkeys(result.note for result in results if result.note is not None)),
    }


def _answered(shown: Map, result: Result) -> map_figures.QueryAnswer:
    across, up = (
        (max(ends[0], low), min(ends[1], high))
        for ends, (low, high) in zip(shown.rectangle(result.query), shown.box, strict=True)
    )
    return map_figures.QueryAnswer(
        box=(across, up), value=result.value, low=result.interval[0], high=result.interval[1]
    )


def _bounds(shown: Map, boxes: Sequence[map_figures.QueryAnswer]) -> tuple[float, ...]:
    """Return how far each answer can be off; nothing where no theorem says."""
    if shown.bound is None:
        return ()
    side, ends = shown.density.grid.side, []
    for axis, (low, high) in enumerate(shown.box):
        ranges = np.array([answer.box[axis] for answer in boxes])
        ends += [(end - low) / (high - low) * side for end in ranges.T]
    return tuple(shown.bound.of(Rectangles(*ends)).tolist())


def _collected(facts: Facts, shown: Map) -> dict[str, Any]:
    """Return what devices were asked, level by level, and why each answer keeps the promise."""
    collection: Collection = shown.mechanism
    levels = text.levels(collection, facts.method)
    pairs = zip(levels, collection.types, strict=True)
    why = reasons((level.squares.replace(" x ", TIMES), report_type.oracles[0]) for level, report_type in pairs)
    return {
        "between": text.between(collection),
        "reasons": why,
        "assignment": text.assignment(collection),
        "levels": map_tables.levels(levels),
        "rounds": len(collection.estimator.rounds),
        "blocks": 0,
        "noises": (),
    }


def _added(mechanism: AdaptiveGrid | CentralMap) -> dict[str, Any]:
    """Return what noise a table's counts got, those of blocks before those of tiles."""
    noises = tuple(added_noise(matrix) for matrix in mechanism.levels)
    return {"assignment": "", "blocks": mechanism.blocks, "noises": noises}


PAGE = Page(page=page, drawing=page, opening=opening)
