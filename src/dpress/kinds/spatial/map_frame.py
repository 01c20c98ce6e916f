"""The frame of a map: where a place lies in the drawing, axes in degrees, shores and borders, and the picture of cells.

Every function returns text of an SVG; what comes from a spec is escaped.
"""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.kinds.spatial import colour_scale, outlines
from dpress.kinds.spatial.colour_scale import Classes
from dpress.kinds.spatial.outlines import Box
from dpress.reporting.charts import INK, LETTER, MUTED, SOFT
from dpress.reporting.rounding import MINUS, error, number

STYLE = """
.map .dark { display: none; }
@media (prefers-color-scheme: dark) { .map .dark { display: inline; } .map .light { display: none; } }
@media print { .map .dark { display: none; } .map .light { display: inline; } }
.area { fill: transparent; stroke: var(--ink); stroke-width: 2; stroke-opacity: .8; cursor: pointer; }
.live .question { width: min(24rem, 100%); }
.live .question input { width: 100%; box-sizing: border-box; }
.area:hover { fill: var(--ink); fill-opacity: .15; }
.area.chosen { stroke: var(--less); stroke-width: 5; stroke-opacity: 1; }
"""
"""Which of the two pictures a page shows; it belongs into the page's style."""

RIGHT, TOP, BOTTOM = 20.0, 8.0, 40.0
TALLEST = 600.0
SHAPES = (0.3, 1.6)  # a map is drawn no flatter and no taller than this, whatever the units of its axes
DEGREE = 111.32  # kilometres
UP = 6  # at most so many ticks, or one more
EVERY = (1.0, 2.0, 5.0, 10.0)
EVERY_DEGREE = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0)
FINE = 2  # outlines are drawn on half pixels
COARSEST = 1.7  # and their points are no nearer to one another than about so many
STROKES = ((0.8, 0.55), (0.6, 0.45), (0.5, 0.35))  # width and opacity of each kind of outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where a box is drawn, in pixels from the top left.

    Args:
        box: its bounds, ((left, right), (bottom, top)).
        names: of the two columns, across and up.
        left: where the drawing's own area begins; what is left of it is for labels.
        width: of that area.
        height: of that area, which begins at `TOP`.
    """

    box: Box
    names: tuple[str, str]
    left: float
    width: float
    height: float

    @property
    def earth(self) -> bool:
        """Whether the box is one of longitude and latitude."""
        return outlines.on_earth(self.box, self.names)

    @property
    def right(self) -> float:
        """Where the drawing's own area ends."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Where it ends below."""
        return TOP + self.height

    @property
    def below(self) -> float:
        """Where the axis and its title end."""
        return self.bottom + BOTTOM

    def across(self, place: Array) -> Array:
        """Return where places of the first column lie from the left."""
        low, high = self.box[0]
        return self.left + (place - low) / (high - low) * self.width

    def up(self, place: Array) -> Array:
        """Return where places of the second column lie from the top."""
        low, high = self.box[1]
        return TOP + (high - place) / (high - low) * self.height


def frame(box: Box, names: tuple[str, str], width: float) -> Frame:
    """Return the frame of a drawing of this width: true to scale at the middle of the box, where it is of degrees."""
    (left, right), (bottom, top) = box
    narrowing = math.cos(math.radians((bottom + top) / 2)) if outlines.on_earth(box, names) else 1.0
    shape = min(max((top - bottom) / ((right - left) * max(narrowing, 0.1)), SHAPES[0]), SHAPES[1])
    labels = max(len(text) for _, text in _ticks(box[1], UP, names, box, 1)) * LETTER + 28
    inner = min(width - labels - RIGHT, TALLEST / shape)
    return Frame(box=box, names=names, left=labels, width=inner, height=inner * shape)


def svg(kind: str, label: str, size: tuple[float, float], content: str) -> str:
    """Return a drawing, of the class `kind`, that a screen reader reads as `label`."""
    width, height = (f"{length:.0f}" for length in size)
    head = f'<svg class="chart map {kind}" role="img" aria-label="{html.escape(label)}"'
    return f'{head} viewBox="0 0 {width} {height}" width="{width}" height="{height}">{content}</svg>'


def picture(drawn: Classes, count: int, place: tuple[float, float, float, float]) -> str:
    """Return cells in their shades, for light and for dark pages.

    Args:
        drawn: the class of each cell, shape (across, up).
        count: of classes, beside the transparent one.
        place: left, top, width and height in the drawing.
    """
    left, top, width, height = (f"{length:.2f}" for length in place)
    fixed = f'x="{left}" y="{top}" width="{width}" height="{height}" preserveAspectRatio="none"'
    return "".join(
        f'<image class="{theme}"{hidden} {fixed} image-rendering="pixelated" '
        f'href="{colour_scale.png(drawn, colour_scale.ramp(colours, count))}"/>'
        for theme, hidden, colours in (
            ("light", "", colour_scale.LIGHT),
            ("dark", ' display="none"', colour_scale.DARK),
        )
    )


def cells(frame: Frame, drawn: Classes, count: int) -> str:
    """Return the cells of the box, outlines over them where it lies on Earth, and a line around."""
    place = (frame.left, TOP, frame.width, frame.height)
    around = f'<rect x="{frame.left:.1f}" y="{TOP}" width="{frame.width:.1f}" height="{frame.height:.1f}"'
    return picture(drawn, count, place) + _outlines(frame) + f'{around} fill="none" stroke="{SOFT}"/>'


def text(
    x: float, y: float, words: str, *, anchor: str = "start", size: float = 11, colour: str = MUTED, more: str = ""
) -> str:
    """Return one line of text; `y` is its base line."""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" fill="{colour}"{more}'
    return f"<text {place}>{html.escape(words)}</text>"


def _outlines(frame: Frame) -> str:
    """Return shores and borders, clipped to the box."""
    if not frame.earth:
        return ""
    paths = []
    for runs, (width, opacity) in zip(outlines.within(frame.box), STROKES, strict=True):
        if line := "".join(_path(frame, run) for run in runs):
            stroke = f'fill="none" stroke="{INK}" stroke-width="{FINE * width:g}" stroke-opacity="{opacity}"'
            paths.append(f'<path {stroke} stroke-linejoin="round" d="{line}"/>')
    return _clipped(frame, "outlines", paths)


def drawn_areas(frame: Frame, areas: Sequence[tuple[str, str, Sequence[Array]]]) -> str:
    """Return the outlines of areas, clipped to the box, each with a text that is shown over it, and names that fit.

    Args:
        frame: the frame.
        areas: names, texts, and rings in the units of the box.
    """
    paths = []
    for place, (_, words, rings) in enumerate(areas):
        if line := "".join(f"{_path(frame, np.concatenate([ring, ring[:1]]))}" for ring in rings):
            about = f'class="area" data-area="{place}" fill-rule="evenodd"'
            paths.append(f'<path {about} d="{line}"><title>{html.escape(words)}</title></path>')
    names = "".join(_name(frame, name, rings) for name, _, rings in areas)
    return _clipped(frame, "areas", paths) + names if paths else ""


def _name(frame: Frame, name: str, rings: Sequence[Array]) -> str:
    """Return the name of an area amid its largest ring, where that is wide enough for it; empty elsewhere."""
    ring = max(rings, key=lambda points: float(np.prod(np.ptp(points, axis=0))))
    x = np.clip(frame.across(ring[:, 0]), frame.left, frame.left + frame.width)
    y = np.clip(frame.up(ring[:, 1]), TOP, TOP + frame.height)
    if np.ptp(x) < LETTER * len(name) + 2 * LETTER or np.ptp(y) < 3 * LETTER:
        return ""
    halo = ' stroke="var(--paper)" stroke-width="3" stroke-linejoin="round" paint-order="stroke" pointer-events="none"'
    middle = (float(x.min() + x.max()) / 2, float(y.min() + y.max()) / 2 + LETTER / 2)
    return text(*middle, name, anchor="middle", colour="var(--ink)", more=halo)


def _clipped(frame: Frame, kind: str, paths: Sequence[str]) -> str:
    """Return lines in half pixels, clipped to the box."""
    place = f'x="{frame.left:.2f}" y="{TOP}" width="{frame.width:.2f}" height="{frame.height:.2f}"'
    view = f'viewBox="0 0 {FINE * frame.width:.1f} {FINE * frame.height:.1f}"'
    return f'<svg class="{kind}" overflow="hidden" preserveAspectRatio="none" {place} {view}>{"".join(paths)}</svg>'


def _path(frame: Frame, run: Array) -> str:
    """Return a polyline in half pixels, a point a pixel; nothing where it is smaller than three."""
    x, y = frame.across(run[:, 0]) - frame.left, frame.up(run[:, 1]) - TOP
    places = np.stack([x, y], axis=1)
    if np.ptp(places, axis=0).max() < 3:
        return ""
    pixels = np.floor(places / COARSEST)
    kept = np.r_[True, (np.diff(pixels, axis=0) != 0).any(axis=1)]
    kept[-1] = True
    points = np.rint(FINE * places[kept]).astype(np.int64)
    moves = np.diff(points, axis=0)
    steps = " ".join(f"{across} {up}" for across, up in moves[moves.any(axis=1)].tolist()).replace(" -", "-")
    return f"M{points[0, 0]} {points[0, 1]}l{steps}"


def axes(frame: Frame) -> str:
    """Return ticks, their labels and the names of both columns."""
    parts = []
    for place, words in _ticks(frame.box[0], max(2, int(frame.width // 90)), frame.names, frame.box, 0):
        x = float(frame.across(np.array(place)))
        parts.append(f'<path stroke="{SOFT}" d="M{x:.1f} {frame.bottom:.1f}v4"/>')
        parts.append(text(x, frame.bottom + 16, words, anchor="middle"))
    for place, words in _ticks(frame.box[1], UP, frame.names, frame.box, 1):
        y = float(frame.up(np.array(place)))
        parts.append(f'<path stroke="{SOFT}" d="M{frame.left:.1f} {y:.1f}h-4"/>')
        parts.append(text(frame.left - 8, y + 4, words, anchor="end"))
    centre = frame.left + frame.width / 2
    parts.append(text(centre, frame.bottom + 33, frame.names[0], anchor="middle", size=12, colour=INK))
    middle, turned = TOP + frame.height / 2, f' transform="rotate(-90 14 {TOP + frame.height / 2:.1f})"'
    parts.append(text(14, middle, frame.names[1], anchor="middle", size=12, colour=INK, more=turned))
    return "".join(parts)


def _ticks(
    ends: tuple[float, float], most: int, names: tuple[str, str], box: Box, axis: int
) -> list[tuple[float, str]]:
    """Return round places on an axis, and what they are called."""
    low, high = ends
    rough, earth = (high - low) / most, outlines.on_earth(box, names)
    power = 1.0 if earth and rough >= 1 else 10.0 ** math.floor(math.log10(rough))
    choice = EVERY_DEGREE if earth and rough >= 1 else EVERY
    step = next((every * power for every in choice if every * power >= rough), choice[-1] * power)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    places = [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    letters = ("EW", "NS")[axis] if earth else ""
    return [(place, _place(place, digits, letters)) for place in places]


def _place(place: float, digits: int, letters: str) -> str:
    amount = f"{abs(place):,.{digits}f}"
    zero = not float(amount.replace(",", ""))
    if not letters:
        return MINUS + amount if place < 0 and not zero else amount
    letter = letters[1] if place < 0 else letters[0]
    return f"{amount}°" if zero else f"{amount}°{letter}"


def cell_size(frame: Frame, side: int) -> str:
    """Return how large a cell is, in words; nothing off Earth.

    Args:
        frame: the frame.
        side: the number of cells along each axis.
    """
    if not frame.earth:
        return ""
    (left, right), (bottom, top) = frame.box
    wide = (right - left) / side * DEGREE * math.cos(math.radians((bottom + top) / 2))
    return f"{_length(wide)} by {_length((top - bottom) / side * DEGREE)}"


def _length(kilometres: float) -> str:
    return f"{error(kilometres)} km" if kilometres >= 1 else f"{number(1000 * kilometres, 10.0)} m"
