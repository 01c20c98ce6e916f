"""The tables of a map's page: answers to queries, the fullest places, all tiles, the files, what devices were asked.

results, tiles, levels -> rows of text.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpress.inference.maps.supported_tiles import Tiles
from dpress.kinds.spatial.area_counts import AreaCount
from dpress.kinds.spatial.outlines import Box
from dpress.kinds.spatial.text import Level
from dpress.kinds.spatial.tile_rows import places
from dpress.query.result import Result
from dpress.reporting.page_lists import List, listed
from dpress.reporting.page_tables import Table
from dpress.reporting.rounding import MINUS, TIMES, error, interval, number, unit_for
from dpress.reporting.views import View

FULLEST = 10


def answers(results: Sequence[Result], noun: str, bounds: Sequence[float] = ()) -> Table:
    """Return the answers to queries as a table.

    Args:
        results: the answers.
        noun: what is counted.
        bounds: how far each can be off, by Bernstein; empty where no theorem says.
    """
    names = ("query", noun, "95 % interval", "standard error", *(["Bernstein bound, 95 %"] if bounds else []))
    rows = [_row(result) for result in results]
    if bounds:
        pairs = zip(rows, results, bounds, strict=True)
        rows = [(*row, number(bound, max(1.0, unit_for(result.standard_error)))) for row, result, bound in pairs]
    return Table(caption="Answers to queries", names=names, labels=1, rows=tuple(rows))


def _row(result: Result) -> tuple[str, ...]:
    unit = max(1.0, unit_for(result.standard_error))
    return result.query, number(result.value, unit), interval(*result.interval, unit), error(result.standard_error)


def fullest(tiles: Tiles, box: Box, names: Sequence[str], noun: str) -> Table:
    """Return the most crowded tiles that are significantly above 0, as places that a query can name.

    Args:
        tiles: of the map. Where it is one, that is no place on the map.
        box: the ends of both columns.
        names: of these.
        noun: what is counted.
    """
    significant = np.flatnonzero(tiles.significant & (tiles.partition.rows > 1))
    crowded = (tiles.count / tiles.partition.areas)[significant]
    best = significant[np.argsort(-crowded, kind="stable")[:FULLEST]].tolist()
    left, right, bottom, top = _texts(tiles, box)
    rows = tuple((f"{left[at]} to {right[at]}", f"{bottom[at]} to {top[at]}", *_count_of(tiles, at)) for at in best)
    columns = (*names, noun, "95 % interval", "standard error")
    return Table(caption=f"Places with the most {noun} for their size", names=columns, labels=2, rows=rows)


def _count_of(tiles: Tiles, at: int) -> tuple[str, str, str]:
    count, low, high, spread = (float(of[at]) for of in (tiles.count, tiles.low, tiles.high, tiles.error))
    unit = max(1.0, unit_for(spread))
    return number(count, unit), interval(low, high, unit), error(spread)


def all_tiles(tiles: Tiles, box: Box, names: Sequence[str], noun: str) -> List:
    """Return all tiles, the most crowded first, for the script of a page."""
    order = np.argsort(-tiles.count / tiles.partition.areas, kind="stable")
    ends = [f"{name}, {end}" for name in names for end in ("from", "to")]
    labels = [(end, [of[at] for at in order]) for end, of in zip(ends, _texts(tiles, box, minus="-"), strict=True)]
    measured = {"value": tiles.count, "low": tiles.low, "high": tiles.high, "standard_error": tiles.error}
    return listed(f"{noun.capitalize()} by place", labels, {name: values[order] for name, values in measured.items()})


def _texts(tiles: Tiles, box: Box, *, minus: str = MINUS) -> list[list[str]]:
    """Return the same as texts, with as many digits as tell a cell's ends apart: left, right, bottom and top."""
    columns = []
    for (low, high), ends in zip(box, places(tiles, box), strict=True):
        digits = max(0, 1 - math.floor(math.log10((high - low) / tiles.partition.grid.side)))
        columns += [[f"{end:.{digits}f}".replace("-", minus) for end in np.round(side, digits) + 0.0] for side in ends]
    return columns


def areas(counts: Sequence[AreaCount], noun: str) -> Table:
    """Return the counts of areas, the largest first."""
    rows = tuple((each.area.name, *_texts_of(each)) for each in _largest_first(counts))
    names = ("place", noun, "95 % interval", "standard error")
    return Table(caption=f"{noun.capitalize()} in each place", names=names, labels=1, rows=rows)


def all_areas(counts: Sequence[AreaCount], noun: str) -> List:
    """Return the same for the script of a page."""
    order = _largest_first(counts)
    low, high = np.array([each.interval for each in order]).T
    value, spread = np.array([(each.value, each.error) for each in order]).T
    measured = {"value": value, "low": low, "high": high, "standard_error": spread}
    return listed(f"{noun.capitalize()} in each place", [("place", [each.area.name for each in order])], measured)


def words_of(count: AreaCount, noun: str) -> str:
    """Return the words about an area: its name and its count, with the interval."""
    size, ends, _ = _texts_of(count)
    hidden = "" if count.interval[0] > 0 else "; cannot be told from nobody"
    return f"{count.area.name}: {size} {noun} ({ends}){hidden}"


def _largest_first(counts: Sequence[AreaCount]) -> list[AreaCount]:
    return sorted(counts, key=lambda each: -each.value)


def _texts_of(count: AreaCount) -> tuple[str, str, str]:
    unit = max(1.0, unit_for(count.error))
    return number(count.value, unit), interval(*count.interval, unit), error(count.error)


def files(view: View) -> Table:
    """Return the list of Parquet files of a map."""
    row = (view.file, view.name, number(view.count.size))
    names = ("file", "columns", "cells")
    return Table(caption="Files of this release", names=names, labels=2, rows=(row,))


def levels(listed: Sequence[Level]) -> Table:
    """Return what devices are asked, level by level."""
    rows = tuple(
        (row.level, row.squares.replace(" x ", TIMES), row.method, f"{100 * row.share:.1f} %", number(row.width))
        for row in listed
    )
    names = ("level", "squares", "method", "share of devices", "bytes of a report")
    return Table(caption="What devices are asked", names=names, labels=3, rows=rows)
