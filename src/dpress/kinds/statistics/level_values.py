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


def valued(attribute: Number, cells: int, levels: int, places: Sequence[Array], z: float) -> Estimates:
    """Return quantiles as values, from places counted in cells; the standard error is Woodruff's (1952).

    Args:
        attribute: the attribute.
        cells: that its levels are put together to.
        levels: of the attribute.
        places: of the quantiles, and of the lower and the upper ends of their intervals.
        z: standard errors to each side of an interval.
    """
    edges = attribute.edges_at(-(-np.arange(cells + 1) * levels // cells)).astype(np.float64)
    value, low, high = (np.interp(place, np.arange(cells + 1), edges) for place in places)
    if cells == attribute.span:
        value, high = np.ceil(value) - 1, high - 1
    error = np.where(np.isnan(value), np.nan, (high - low) / (2 * z))
    return Estimates(value=value, standard_error=error, low=low, high=high)
