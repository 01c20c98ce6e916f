"""The sentence of a map's page on where most people are: the fullest of equal squares, as small as the noise allows.

density -> counts of squares with their errors -> `findings.largest` -> a sentence.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpress.core.maps.grid import Rectangles
from dpress.core.maps.linear import Array
from dpress.inference.interval import Tail, critical, whole_counts
from dpress.inference.maps.density import Density, ends, unbiased
from dpress.kinds.spatial.area_counts import AreaCount
from dpress.kinds.spatial.outlines import Box
from dpress.reporting.findings import CONFIDENCE, Estimate, Groups, amount, largest, largest_estimates
from dpress.reporting.rounding import MINUS, TIMES

SIDES = (8, 4, 2)
"""The squares along a side that are compared, the smallest squares first."""
HIDDEN = "the noise hides which of them is the fullest."


def where_most(density: Density, tail: Tail, box: Box, captions: Sequence[str], noun: str) -> str:
    """Return the sentence on the fullest square of the map.

    Error: it is one of 8 x 8 equal squares, else of 4 x 4, else of 2 x 2: of the first grid with a square significantly
    larger than every other one. Each has a third of 5 %, so that a square is named that is not the largest of its grid
    with a chance of at most 5 %; see `findings.largest`. The standard error of a difference is taken for the sum of
    both, the largest that it can be.

    Args:
        density: the map.
        tail: the kind of noise.
        box: the ends of both columns.
        captions: what these are called before people.
        noun: what is counted.
    """
    for side in SIDES:
        squares = _squares(density, side)
        values, errors = unbiased(density).values(squares), np.sqrt(density.variances(squares))
        place = _largest(values, errors, tail, 1 - (1 - CONFIDENCE) / len(SIDES))
        if place is not None:
            size = amount(_estimate(density, squares, tail, place, CONFIDENCE), noun)
            where = _where(box, captions, place, side)
            return f"Of {side}{TIMES}{side} equal parts of the map the fullest is {where}: {size}."
    return f"{largest_quarter(density, tail, box, captions, noun)}; {HIDDEN}"


def largest_quarter(density: Density, tail: Tail, box: Box, captions: Sequence[str], noun: str) -> str:
    """Return the quarter of the map with the largest estimate, which need not be the fullest; as `where_most`."""
    side = SIDES[-1]
    squares = _squares(density, side)
    groups = Groups(
        labels=[_where(box, captions, place, side) for place in range(side * side)],
        values=density.values(squares),
        exceeds=lambda *_: False,
    )

    def value(place: int, confidence: float) -> Estimate:
        return _estimate(density, squares, tail, place, confidence)

    return largest_estimates(f"of {side * side} equal parts of the map", groups, value, noun, most=1)


def _squares(density: Density, side: int) -> Rectangles:
    """Return the equal squares of a map, so many along a side."""
    edges = np.linspace(0, density.grid.side, side + 1)
    across, up = (places.ravel() for places in np.indices((side, side)))
    return Rectangles(edges[across], edges[across + 1], edges[up], edges[up + 1])


def _estimate(density: Density, squares: Rectangles, tail: Tail, place: int, confidence: float) -> Estimate:
    low, high = (end.item(place) for end in ends(density, squares, critical(confidence, tail)))
    return Estimate(value=density.values(squares).item(place), ends=(low, high))


def _where(box: Box, captions: Sequence[str], place: int, side: int) -> str:
    """Return where a square lies, by its place among so many along a side."""
    parts = zip(captions, box, divmod(place, side), strict=True)
    return " and ".join(_place(caption, sides, at, side) for caption, sides, at in parts)


def fullest_area(areas: Sequence[AreaCount], tail: Tail, noun: str) -> str:
    """Return the sentence on the area that is significantly fuller than every other one.

    Error: a wrong one is named with a chance of at most 5 %, as above.

    Args:
        areas: two at least.
        tail: the kind of noise.
        noun: what is counted.
    """
    values, errors = np.array([(each.centre, each.error) for each in areas]).T
    place = _largest(values, errors, tail, CONFIDENCE)
    if place is None:
        return f"The noise hides which of {len(areas)} places has the most {noun}."
    size = amount(Estimate(value=areas[place].value, ends=areas[place].interval), noun)
    return f"Of {len(areas)} places {areas[place].area.name} has the most: {size}."


def _largest(values: Array, errors: Array, tail: Tail, confidence: float) -> int | None:

    def exceeds(first: int, second: int, confidence: float) -> bool:
        off = whole_counts(float(errors[first] + errors[second]) ** 2, critical(confidence, tail))
        return bool(values[first] - values[second] > off)

    groups = Groups(labels=list(map(str, range(values.size))), values=values, exceeds=exceeds)
    return largest(groups, confidence)


def _place(caption: str, box: tuple[float, float], at: int, side: int) -> str:
    """Return the part of a column at a place, with as many digits as tell its ends apart."""
    width = (box[1] - box[0]) / side
    digits = max(0, 1 - math.floor(math.log10(width)))
    low, high = (f"{box[0] + width * k:.{digits}f}".replace("-", MINUS) for k in (at, at + 1))
    return f"{caption} {low} to {high}"
