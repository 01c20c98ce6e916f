"""The shades of a map: round steps that make a skewed density readable, and a small picture in them.

values -> steps -> class of every cell -> PNG with a palette for light pages and one for dark ones.
"""

import base64
import math
import struct
import zlib

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array

Classes = npt.NDArray[np.uint8]

LIGHT = ("#d5eef3", "#a3dbe8", "#66bfdc", "#2f9ccb", "#1b74b0", "#254a86", "#232a54")
DARK = ("#253161", "#05538a", "#007ca2", "#00a49f", "#4ec38d", "#b5d888", "#fdebaa")
"""From few to many, even in lightness: darker on light paper, lighter on dark."""

MOST = len(LIGHT)
DIGITS: tuple[tuple[float, ...], ...] = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))
FEW = 0.05  # this share of the values may lie below the even steps
NEAR = 10.0
HEAD = b"\x89PNG\r\n\x1a\n"


def steps(values: Array, least: float) -> tuple[float, ...]:
    """Return the round values at which a new shade begins: at most seven, ascending, the last within the values.

    Even ones where nearly all values lie within a factor of ten, else the finest of 1-2-5, 1-3-10 and powers of ten
    that reaches from the largest value down to `least`.

    Args:
        values: to be shaded, of any shape.
        least: the smallest difference that gets a shade, e.g. the standard error of a value; 1 at least is taken.

    >>> steps(np.array([0.0, 300.0, 52_000.0]), 20.0)
    (30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0, 30000.0)
    >>> steps(np.array([81.0, 190.0]), 5.0), steps(np.zeros(4), 1.0)
    ((80.0, 100.0, 120.0, 140.0, 160.0, 180.0), (1.0,))
    """
    least = max(1.0, least)
    low, top = max(least, float(np.quantile(values, FEW))), float(values.max())
    if top < 2 * least:
        return (_round_up(least),)
    if top <= NEAR * low:
        step = _round_up(max(least, (top - low) / (MOST - 1)))
        return tuple(step * k for k in range(max(1, int(low // step)), int(top // step) + 1)) or (step,)
    scales = [_round(digits, least, top) for digits in DIGITS]
    return next((scale for scale in scales if len(scale) <= MOST), scales[-1][-MOST:])


def _round(digits: tuple[float, ...], least: float, top: float) -> tuple[float, ...]:
    powers = range(math.floor(math.log10(least)), math.floor(math.log10(top)) + 1)
    every = (digit * 10.0**power for power in powers for digit in digits)
    return tuple(value for value in every if least <= value <= top)


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return next(digit * power for digit in (1.0, 2.0, 5.0, 10.0) if digit * power >= value)


def classes(values: Array, at: tuple[float, ...]) -> Classes:
    """Return the number of steps that each value has reached: 0 is below them all."""
    return np.searchsorted(at, values, side="right").astype(np.uint8)


def ramp(colours: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Return `count` of the colours, spread evenly; the last one alone if one is asked for."""
    places = np.linspace(0, len(colours) - 1, count) if count > 1 else np.array([len(colours) - 1])
    return tuple(colours[round(place)] for place in places.tolist())


def png(drawn: Classes, colours: tuple[str, ...]) -> str:
    """Return a picture as a data URI: class 0 is transparent, class k has colour k - 1.

    Args:
        drawn: shape (across, up), the first axis from west to east, the second from south to north.
        colours: of the classes from 1.
    """
    rows = drawn.T[::-1]  # a picture runs from the top
    lines = np.pad(rows, ((0, 0), (1, 0))).tobytes()  # each line begins with its filter: none
    palette = b"\0\0\0" + b"".join(bytes.fromhex(colour[1:]) for colour in colours)
    size = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 3, 0, 0, 0)
    parts = ((b"IHDR", size), (b"PLTE", palette), (b"tRNS", b"\0"), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(HEAD + b"".join(_chunk(*part) for part in parts)).decode()


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
