"""Two maps of a release: how many people are where, and how far each region can be trusted.

density -> round steps -> picture of cells; shores, ticks, legend and answers over it -> figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.grid import Rectangles, sums
from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.inference.maps.density import Density, ends
from dpress.inference.maps.supported_tiles import Tiles
from dpress.kinds.spatial import colour_scale
from dpress.kinds.spatial.map_frame import TOP, Frame, axes, cell_size, cells, drawn_areas, frame, picture, svg, text
from dpress.kinds.spatial.outlines import Box
from dpress.reporting.charts import INK, LESS, LETTER, ON_MARK, SOFT
from dpress.reporting.figures import NARROW, WIDE, Figure
from dpress.reporting.rounding import interval, number, unit_for

LARGEST_PICTURE = 128  # cells along a side that are drawn; smaller ones could not be seen
REGIONS = 16
CONFIDENCE = 0.95
TRUST = (("cannot be told from nobody", 1.0), ("rough", 0.3), ("within 30 %", 0.1), ("within 10 %", 0.0))
"""The trust in a region, and the half-width of its interval, as a share of its estimate, from which it holds."""

SMALLER = 460.0
SWATCH, LINE = 12.0, 20.0
Spot = tuple[float, float, float, float]  # left, top, right, bottom
SMALL_LETTER = 5.9  # mean width of a letter at 10.5 px


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    """A query that is a box, with its answer as published.

    Args:
        box: its bounds, in the units of the map.
        value: the estimated number of people in it.
        low: the lower end of its 95 % interval.
        high: the upper end.
    """

    box: Box
    value: float
    low: float
    high: float

    @property
    def words(self) -> tuple[str, str]:
        """The answer and its interval, with no more digits than the interval warrants."""
        unit = max(1.0, unit_for((self.high - self.low) / 4))
        return number(self.value, unit), interval(self.low, self.high, unit)


def density_figure(
    tiles: Tiles,
    box: Box,
    names: tuple[str, str],
    answers: tuple[QueryAnswer, ...] = (),
    *,
    noun: str = "people",
    areas: Sequence[tuple[str, str, Sequence[Array]]] = (),
) -> Figure:
    """Return the map of how crowded every tile is, with answered queries upon it.

    Args:
        tiles: what is drawn.
        box: its bounds, ((left, right), (bottom, top)).
        names: of the two columns, across and up.
        answers: drawn as boxes with their answers.
        noun: what is counted.
        areas: drawn as outlines: the name of each, the words about it, and its rings.
    """
    drawn_side = min(tiles.finest, LARGEST_PICTURE)
    blocks = _blocks(tiles.partition.grid.side, drawn_side)
    finite = np.nan_to_num(tiles.error, posinf=0.0)
    counts, errors = (sums(tiles.spread(each), blocks) for each in (tiles.count, finite))
    at = colour_scale.steps(counts, float(np.sqrt((errors**2).mean())))
    several = tiles.partition.rows > 1  # one colour all over would say nothing
    drawn = several * colour_scale.classes(counts.reshape(drawn_side, drawn_side), at)

    def draw(kind: str, width: float) -> str:
        area = frame(box, names, width)
        size = cell_size(area, drawn_side)
        legend = _scale(area, at, f"{noun} per cell of {size}" if size else f"{noun} per cell") if several else ""
        content = cells(area, drawn, len(at)) + drawn_areas(area, areas) + axes(area) + _answers(area, answers) + legend
        return svg(kind, _label(names, answers, noun), (width, area.below + 46), content)

    facts = {"drawn": drawn_side, "tiles": tiles.partition.rows, "least": at[0], "answers": len(answers)}
    facts["areas"] = len(areas)
    return Figure(drawing=draw("wide", WIDE) + draw("narrow", NARROW), facts=facts)


def _blocks(side: int, count: int) -> Rectangles:
    """Return the box in count x count blocks of whole cells, the first column first."""
    edges = np.rint(np.linspace(0, side, count + 1))
    across, up = (axis.ravel() for axis in np.indices((count, count)))
    return Rectangles(edges[across], edges[across + 1], edges[up], edges[up + 1])


def _label(names: tuple[str, str], answers: tuple[QueryAnswer, ...], noun: str) -> str:
    label = f"Map of the estimated number of {noun} by {names[0]} and {names[1]}"
    if not answers:
        return label
    texts = [f"{value} {noun}, {ends}" for answer in answers for value, ends in [answer.words]]
    return f"{label}. Queries: {'; '.join(texts)}"


def _scale(area: Frame, at: tuple[float, ...], title: str) -> str:
    """Return the legend: the shades side by side, the numbers at which they begin between them."""
    count = len(at) + 1
    width = min(58.0, (area.width - 8) / count)
    top = area.below + 16
    strip = np.arange(count, dtype=np.uint8)[:, None]
    around = f'x="{area.left:.1f}" y="{top:.1f}" width="{count * width:.1f}" height="{SWATCH}"'
    parts = [
        text(area.left, area.below + 9, title),
        picture(strip, len(at), (area.left, top, count * width, SWATCH)),
        f'<rect {around} fill="none" stroke="{SOFT}"/>',
    ]
    for place, value in enumerate(at, 1):
        words = number(value) if width >= LETTER * len(number(at[-1])) else _short(value)
        parts.append(text(area.left + place * width, top + SWATCH + 13, words, anchor="middle", size=10.5))
    return "".join(parts)


def _short(value: float) -> str:
    for unit, letter in ((1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def _answers(area: Frame, answers: tuple[QueryAnswer, ...]) -> str:
    """Return the boxes of queries, then their labels where none lies over another."""
    boxes, labels = "", ""
    taken: list[Spot] = []
    for answer in answers:
        left, right = np.clip(area.across(np.array(answer.box[0])), area.left, area.right).tolist()
        bottom, top = np.clip(area.up(np.array(answer.box[1])), TOP, area.bottom).tolist()
        place = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" fill="none"'
        boxes += f'<rect {place} stroke="{ON_MARK}" stroke-width="3.4" stroke-opacity="0.7"/>'
        boxes += f'<rect class="query" {place} stroke="{LESS}" stroke-width="1.8"/>'
        size = (max(len(line) for line in answer.words) * SMALL_LETTER, 27.0)
        taken.append(_spot(area, (left, top, right, bottom), size, taken))
        labels += _words_at(taken[-1], answer)
    return boxes + labels


def _words_at(spot: Spot, answer: QueryAnswer) -> str:
    halo = f' stroke="{ON_MARK}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
    value, ends = answer.words
    first = text(spot[0], spot[1] + 11, value, size=11.5, colour=INK, more=halo + ' font-weight="600"')
    return first + text(spot[0], spot[1] + 24, ends, size=10.5, colour=INK, more=halo)


def _spot(area: Frame, around: Spot, size: tuple[float, float], taken: list[Spot]) -> Spot:
    """Return the first place for a label, in, below, above or beside its box, that is free and within the frame."""
    (left, top, right, bottom), (width, height) = around, size
    inside = right - left >= width + 8 and bottom - top >= height + 6
    corners = [(left + 5, top + 3), (left + 5, bottom - height - 3)] if inside else []
    corners += [(x, y) for y in (bottom + 3, top - height - 3) for x in (left, right - width)]
    corners += [(x, y) for x in (right + 5, left - width - 5) for y in (top, bottom - height)]
    spots = [(x, y, x + width, y + height) for x, y in corners]
    lowest = area.bottom - height
    fitting = [spot for spot in spots if area.left <= spot[0] <= spot[2] <= area.right and TOP <= spot[1] <= lowest]
    x, y = max(area.left, min(left, area.right - width)), max(TOP, min(top, lowest))
    free = [spot for spot in fitting if not any(_overlap(spot, other) for other in taken)]
    return (free or fitting or [(x, y, x + width, y + height)])[0]


def _overlap(first: Spot, second: Spot) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def trust_figure(density: Density, box: Box, names: tuple[str, str]) -> Figure:
    """Return the map of how far the estimate of each region can be trusted: its 95 % interval as a share of it.

    Args:
        density: what was estimated.
        box: its bounds, ((left, right), (bottom, top)).
        names: of the two columns, across and up.
    """
    drawn, regions = trust(density)
    texts = [words for words, _ in TRUST]

    def draw(kind: str, width: float) -> str:
        area = frame(box, names, width)
        legend, bottom = _signs(area, texts)
        content = cells(area, drawn, len(TRUST) - 1) + axes(area) + legend
        return svg(
            kind, f"Map of how far each region can be trusted, by {' and '.join(names)}", (width, bottom), content
        )

    facts = {"regions": regions, "size": cell_size(frame(box, names, WIDE), regions)}
    return Figure(drawing=draw("wide", SMALLER) + draw("narrow", NARROW), facts=facts)


def trust(density: Density) -> tuple[colour_scale.Classes, int]:
    """Return the class of `TRUST` of the region in which each cell lies, shape (side, side), and the regions a side."""
    side = density.grid.side
    regions = min(REGIONS, side)
    blocks = _blocks(side, regions)
    values, (low, high) = density.values(blocks), ends(density, blocks, critical(CONFIDENCE, "gaussian"))
    off = (high - low) / 2
    share = np.full(len(values), np.inf)
    np.divide(off, values, out=share, where=values > 0)
    limits = [limit for _, limit in TRUST[:-1]]
    graded = (share[:, None] < limits).sum(axis=1).astype(np.uint8).reshape(regions, regions)
    widths = np.diff(np.rint(np.linspace(0, side, regions + 1))).astype(int)
    return graded.repeat(widths, axis=0).repeat(widths, axis=1), regions


def _signs(area: Frame, texts: list[str]) -> tuple[str, float]:
    """Return a legend of words, in as many lines as they take, and where it ends."""
    x, y, parts = area.left, area.below + 4, []
    for place, words in reversed(list(enumerate(texts))):
        length = 24 + SMALL_LETTER * len(words)
        if x > area.left and x + length > area.left + area.width + 14:
            x, y = area.left, y + LINE
        swatch = np.array([[place]], dtype=np.uint8)
        parts.append(picture(swatch, len(texts) - 1, (x, y, 18, SWATCH)))
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="18" height="{SWATCH}" fill="none" stroke="{SOFT}"/>')
        parts.append(text(x + 24, y + 10, words))
        x += length + 14
    return "".join(parts), y + LINE
