"""Which values the levels of an attribute stand for."""

from collections.abc import Sequence

import numpy as np

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Number
from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates


def bounded(schema: Schema, axis: int | None) -> Number:
    """Return the attribute of an axis that has levels.

    Raises:
        ValueError: it has none.
    """
    attribute = None if axis is None else schema.tabular[axis].numbers
    if attribute is None:
        raise ValueError("levels are those of an integer or numeric attribute")
    return attribute


def level_scale(attribute: Number, steps: int) -> tuple[float, float]:
    """Return the middle of the first and the last of steps + 1 levels, and how far the last is from it."""
    low, below, most, high = attribute.edges_at(np.array([0, 1, steps, steps + 1])).astype(float).tolist()
    first, last = (low + below - attribute.whole) / 2, (most + high - attribute.whole) / 2
    return (first + last) / 2, (last - first) / 2


def valued(attribute: Number, cells: int, levels: int, places: Sequence[Array]) -> list[Array]:
    """Return quantiles, the lower and the upper ends of their intervals as values, from places counted in cells.

    Args:
        attribute: the attribute.
        cells: that its levels are put together to.
        levels: of the attribute.
        places: of the three.
    """
    edges = attribute.edges_at(-(-np.arange(cells + 1) * levels // cells)).astype(np.float64)
    value, low, high = (np.interp(place, np.arange(cells + 1), edges) for place in places)
    if cells == attribute.span:
        return [np.ceil(value) - 1, low, high - 1]
    return [value, low, high]


def turned(attribute: Number, angles: Array) -> Estimates:
    """Return directions as values of an attribute whose bounds meet.

    A value lies within the bounds. The ends of its interval are at most half the circle away and may lie beyond them:
    25 is one o'clock, and the whole circle is half of it to each side.

    Args:
        attribute: the attribute.
        angles: value, standard error and ends in radians, shape (n, 4); 0 is the first level.
    """
    low, high = map(float, attribute.ends)
    around, step = high - low, (high - low) / attribute.ordered
    shift = (step - attribute.whole) / 2  # of the middle of the first level
    value, error, *ends = angles.T
    values = low + (shift + value / (2 * np.pi) * around) % around
    half = np.clip([end - value for end in ends], -np.pi, np.pi) if len(value) else np.zeros((2, 0))
    first, last = (
        np.where(np.isnan(value), edge, values + reach / (2 * np.pi) * around)
        for edge, reach in zip((low, high), half, strict=True)
    )
    return Estimates(value=values, standard_error=error / (2 * np.pi) * around, low=first, high=last)
