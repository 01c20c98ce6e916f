"""The tables of a map's page: answers to queries, the fullest cells, the files, and what devices were asked.

results, view, levels -> rows of text.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpress.kinds.spatial.outlines import Box
from dpress.kinds.spatial.text import Level
from dpress.query.result import Result
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


def fullest(box: Box, view: View, names: Sequence[str]) -> Table:
    """Return the cells with the largest counts, as places that a query can name."""
    best = np.argsort(-view.count, axis=None, kind="stable")[: min(FULLEST, view.count.size)]
    places = zip(*(axis.tolist() for axis in np.unravel_index(best, view.count.shape)), strict=True)
    columns = (*names, view.noun, "95 % interval", "standard error")
    rows = tuple(_cell(box, view, place) for place in places)
    return Table(caption=f"Cells with the most {view.noun}", names=columns, labels=2, rows=rows)


def _cell(box: Box, view: View, place: tuple[int, ...]) -> tuple[str, ...]:
    ends = []
    for (low, high), cell in zip(box, place, strict=True):
        width = (high - low) / len(view.count)
        digits = max(0, 1 - math.floor(math.log10(width)))
        ends.append(" to ".join(f"{low + width * k:.{digits}f}".replace("-", MINUS) for k in (cell, cell + 1)))
    count, low, high, spread = (float(array[place]) for array in (view.count, view.low, view.high, view.error))
    unit = max(1.0, unit_for(spread))
    return *ends, number(count, unit), interval(low, high, unit), error(spread)


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
