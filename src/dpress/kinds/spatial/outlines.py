"""Shores and borders, for orientation on a map.

`outlines.bin` holds polylines in whole steps of 0.002 degrees. Shores and country borders are from Natural Earth 1:10m
(version 4.1), simplified to 0.03 degrees, and to 0.003 in the United States; state and county borders, and the shores
of the Great Lakes, from the Census Bureau's cartographic boundaries of 2017, simplified to 0.003 and 0.005 degrees.
Both are in the public domain; they were read from the npm packages world-atlas 2.0.2 and us-atlas 3.0.1 (ISC).

The file is a zlib stream of whole numbers, each in bytes of seven bits, the lowest first, a bit of 128 on all but the
last byte, and twice its size less one where it is negative: the number of lines, the number of each of the three kinds,
the length of every line, then the longitudes and the latitudes of all points, each as the step from the point before.
"""

import functools
import importlib.resources
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array

FILE = "outlines.bin"
STEP = 0.002
KINDS = ("shores and countries", "states", "counties")
WIDEST = (360.0, 120.0, 6.0)
"""The widest box, in degrees of longitude, on which lines of a kind are drawn."""

Box = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Polylines: points in degrees, shape (p, 2), the line that each belongs to, and the kind of every line."""

    points: Array
    line: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int64]


def on_earth(box: Box, names: tuple[str, str]) -> bool:
    """Return whether a box is one of degrees of longitude and latitude: by its bounds, and by what the columns say.

    >>> on_earth(((-74.0, -73.0), (40.0, 41.0)), ("lon", "lat")), on_earth(((0.0, 50.0), (0.0, 30.0)), ("x", "y"))
    (True, False)
    """
    (left, right), (bottom, top) = box
    across, up = (name.lower() for name in names)
    named = ("lon" in across or "lng" in across) and "lat" in up
    return named and -180 <= left < right <= 180 and -90 <= bottom < top <= 90


def within(box: Box) -> list[list[Array]]:
    """Return for each kind of `KINDS` the parts of its lines that touch a box, in degrees, each of shape (p, 2)."""
    lines = _lines()
    (left, right), (bottom, top) = box
    start, end = lines.points[:-1], lines.points[1:]
    low, high = np.minimum(start, end), np.maximum(start, end)
    touches = (high >= (left, bottom)).all(axis=1) & (low <= (right, top)).all(axis=1)
    touches &= lines.line[1:] == lines.line[:-1]
    kind = lines.kind[lines.line[:-1]]
    return [
        _runs(lines, np.flatnonzero(touches & (kind == k))) if right - left <= widest else []
        for k, widest in enumerate(WIDEST)
    ]


def _runs(lines: Lines, segments: npt.NDArray[np.int64]) -> list[Array]:
    """Return segments as polylines: those that follow one another on a line in one piece."""
    if not segments.size:
        return []
    breaks = np.flatnonzero((np.diff(segments) > 1) | (np.diff(lines.line[segments]) != 0)) + 1
    return [lines.points[run[0] : run[-1] + 2] for run in np.split(segments, breaks)]


@functools.lru_cache(maxsize=1)
def _lines() -> Lines:
    packed = (importlib.resources.files("dpress.kinds.spatial") / FILE).read_bytes()
    numbers = _numbers(np.frombuffer(zlib.decompress(packed), dtype=np.uint8))
    count, head = int(numbers[0]), 1 + len(KINDS)
    kind, line = (np.repeat(np.arange(len(sizes)), sizes) for sizes in (numbers[1:head], numbers[head : head + count]))
    points = numbers[head + count :].reshape(2, -1).cumsum(axis=1).T * STEP
    return Lines(points, line, kind)


def _numbers(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return the whole numbers of a stream: seven bits a byte, zigzag."""
    starts = np.flatnonzero(np.r_[True, data[:-1] < 128])
    place = np.arange(len(data)) - np.repeat(starts, np.diff(np.r_[starts, len(data)]))
    values = np.add.reduceat((data & 127).astype(np.int64) << (7 * place), starts)
    return np.asarray((values >> 1) ^ -(values & 1))
