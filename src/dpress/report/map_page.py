"""The part of a page that shows a map: the figures, the queries drawn on them, and what errors are made of.

Data flow: release, queries -> answers -> figures, tables, sentences.
"""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.errors import NotSupported
from dpress.kinds.spatial.answers import MapRelease
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.query_language import parse_rectangle
from dpress.release.release import Release, Result
from dpress.report import map_parts, map_words, maps
from dpress.report.figures import WIDE, Figure
from dpress.report.frame import cell_size, frame
from dpress.report.rounding import MINUS, TIMES, error, interval, number, unit_for
from dpress.report.said import noun
from dpress.report.tables import Table
from dpress.report.views import View

MOST_QUERIES = 12
FULLEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPart:
    """What a page shows of a map.

    Args:
        density: the map, with the queries.
        answers: to the queries, as a table.
        trust: how far each region can be trusted.
        cells: the fullest cells, as a table.
        side: the number of cells along each axis.
        cell: how large one is, in words; empty off Earth.
        made: how the counts came about.
        cut: what a rectangle that cuts cells leaves open.
        how: what decides which question a device answers; empty as `asked`.
        asked: what devices were asked, level by level; None where there is one question, or are no devices.
        example: where the query is the page's own, how to draw another one, as typed in a shell; else empty.
    """

    density: Figure
    answers: Table
    trust: Figure
    cells: Table
    side: str
    cell: str
    made: str
    cut: str
    how: str
    asked: Table | None
    example: str


def map_part(release: Release, whole: Sequence[View], queries: Sequence[str]) -> MapPart | None:
    """Return what a page shows of a map; None where the release is none.

    Args:
        release: of any kind.
        whole: the views of its tables.
        queries: to draw; the middle ninth of the box where there is none.

    Raises:
        NotSupported: queries for a release that is no map, or too many to draw.
        ValueError: a text is no query on the map's columns.
    """
    if not isinstance(release, MapRelease):
        if queries:
            kind = release.spec.release.kind
            raise NotSupported(f'only a map, kind = "spatial", draws queries; this is kind = {kind!r}: `dpress query`')
        return None
    if len(queries) > MOST_QUERIES:
        raise NotSupported(f"a map shows at most {MOST_QUERIES} queries, got {len(queries)}")
    names, counted, mechanism = _names(release), noun(release), release.planned.chosen.mechanism
    results = [release.query(text) for text in queries or (map_words.middle(release),)]
    drawn = tuple(_answered(release, result) for result in results)
    size, side = cell_size(frame(release.box, names, WIDE), release.density.grid.side), release.density.grid.side
    return MapPart(
        density=maps.density_figure(release.density, release.box, names, drawn, noun=counted),
        answers=_answers(results, counted),
        trust=maps.trust_figure(release.density, release.box, names, noun=counted),
        cells=_fullest(release, whole[0], counted),
        side=f"{number(side)}{TIMES}{number(side)}",
        cell=size,
        made=map_words.made(release),
        cut=map_words.cut(release, size),
        how=map_parts.how(mechanism) if isinstance(mechanism, Collection) else "",
        asked=_asked(release),
        example="" if queries else f"dpress report FOLDER --query {shlex.quote(results[0].query)}",
    )


def _names(release: MapRelease) -> tuple[str, str]:
    across, up = release.schema.names
    return across, up


def _answered(release: MapRelease, result: Result) -> maps.Answered:
    across, up = (
        (max(ends[0], low), min(ends[1], high))
        for ends, (low, high) in zip(parse_rectangle(release.schema, result.query), release.box, strict=True)
    )
    return maps.Answered(box=(across, up), value=result.value, low=result.interval[0], high=result.interval[1])


def _answers(results: Sequence[Result], counted: str) -> Table:
    notes = dict.fromkeys(result.note for result in results if result.note is not None)
    return Table(
        names=("query", counted, "95 % interval", "standard error"),
        labels=1,
        rows=tuple(_row(result) for result in results),
        note=" ".join(notes),
    )


def _row(result: Result) -> tuple[str, str, str, str]:
    unit = max(1.0, unit_for(result.standard_error))
    return result.query, number(result.value, unit), interval(*result.interval, unit), error(result.standard_error)


def _fullest(release: MapRelease, view: View, counted: str) -> Table:
    """Return the cells with the largest counts, as places that a query can name."""
    shown = min(FULLEST, view.count.size)
    best = np.argsort(-view.count, axis=None, kind="stable")[:shown]
    places = zip(*(axis.tolist() for axis in np.unravel_index(best, view.count.shape)), strict=True)
    return Table(
        names=(*release.schema.names, counted, "95 % interval", "standard error"),
        labels=2,
        rows=tuple(_cell(release, view, place) for place in places),
        note=f"The {number(shown)} fullest of {number(view.count.size)} cells; all are in {view.file}, where no place "
        "is rounded.",
    )


def _cell(release: MapRelease, view: View, place: tuple[int, ...]) -> tuple[str, ...]:
    ends = []
    for (low, high), cell in zip(release.box, place, strict=True):
        width = (high - low) / len(view.count)
        digits = max(0, 1 - math.floor(math.log10(width)))
        ends.append(" to ".join(f"{low + width * k:.{digits}f}".replace("-", MINUS) for k in (cell, cell + 1)))
    count, half, spread = (float(array[place]) for array in (view.count, view.half, view.error))
    unit = max(1.0, unit_for(spread))
    return *ends, number(count, unit), interval(count - half, count + half, unit), error(spread)


def files(view: View) -> Table:
    """Return the list of Parquet files of a map."""
    row = (view.file, view.name, number(view.count.size))
    return Table(names=("file", "columns", "cells"), labels=2, rows=(row,), note="")


def _asked(release: MapRelease) -> Table | None:
    chosen = release.planned.chosen
    if not isinstance(chosen.mechanism, Collection) or not map_parts.how(chosen.mechanism):
        return None
    rows = tuple(
        (one.level, one.squares.replace(" x ", TIMES), one.method, f"{100 * one.share:.1f} %", number(one.width))
        for one in map_parts.asked(chosen.mechanism, chosen.method)
    )
    names = ("level", "squares", "method", "share of devices", "bytes of a report")
    return Table(names=names, labels=3, rows=rows, note="")
