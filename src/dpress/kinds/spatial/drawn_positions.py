"""Positions drawn from a map: a cell by its count, and a place in it, evenly.

map, rectangles -> the share of every cell that lies in them -> cells -> positions in the columns' own units.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dpress.attributes.domain import Schema
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.inference.joint.factors import dense
from dpress.inference.normal import uniform
from dpress.kinds.spatial.outlines import Box
from dpress.kinds.spatial.strips import Ends
from dpress.query.record_source import NOTHING, RecordSource

Area = tuple[Ends, Ends]


def drawn_positions(schema: Schema, counts: Array, box: Box, areas: Sequence[Area], where: str) -> RecordSource:
    """Return what draws positions in some rectangles: of each cell by its count and its share within, evenly there.

    Args:
        schema: of both columns.
        counts: of the cells, an image of shape (side, side); those below 0 count as 0.
        box: the ends of both columns.
        areas: disjoint rectangles, in cells.
        where: what they were asked for by; empty for the whole map.

    Raises:
        ValueError: nobody is in the rectangles.
    """
    people, side = np.maximum(counts, 0), len(counts)
    inside = [[_share(ends, side) for ends in area] for area in areas]
    sums = np.array([float(across @ people @ up) for across, up in inside])
    if not sums.sum() > 0:
        raise ValueError(f"{where or 'this release'!r} {NOTHING}")

    def draw(size: int, rng: Generator) -> pa.RecordBatch:
        (chosen,) = dense(sums / sums.sum()).sample(size, rng=rng)
        places = np.empty((2, size))
        for number, (area, (across, up)) in enumerate(zip(areas, inside, strict=True)):
            here = np.flatnonzero(chosen == number)
            if here.size:
                cells = dense(people * across[:, None] * up / sums[number]).sample(here.size, rng=rng)
                places[:, here] = [_within(ends, along, rng) for ends, along in zip(area, cells, strict=True)]
        columns = {
            name: _in_units(along / side, *ends) for name, along, ends in zip(schema.names, places, box, strict=True)
        }
        return pa.record_batch(columns)

    return RecordSource(axes=schema.tabular, draw=draw)


def _share(ends: Ends, side: int) -> Array:
    """Return of every cell along an axis how much of it lies between two ends."""
    cells, (low, high) = np.arange(side), ends
    return np.asarray(np.clip(np.minimum(high, cells + 1) - np.maximum(low, cells), 0.0, 1.0))


def _within(ends: Ends, cells: Array, rng: Generator) -> Array:
    """Return a place in each cell, evenly in what of it lies between two ends."""
    low, high = np.maximum(ends[0], cells), np.minimum(ends[1], cells + 1)
    return np.asarray(low + (high - low) * uniform(cells.size, rng=rng))


def _in_units(shares: Array, low: float, high: float) -> Array:
    return np.asarray(np.clip(low + (high - low) * shares, low, np.nextafter(high, low)))
