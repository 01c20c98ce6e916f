"""Which values the levels of an attribute stand for."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Number
from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates
from dpress.mechanisms.linear.groups import first_levels
from dpress.mechanisms.linear.moment_sums import MomentSums

Places = npt.NDArray[np.int64]


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


def scale_of(schema: Schema, part: MomentSums) -> tuple[float, float]:
    """Return the value at t = 0, and how far that at t = 1 is from it: a level stands for the middle of its cell."""
    return level_scale(bounded(schema, part.axis), part.steps)


def valued(attribute: Number, cells: int, levels: int, places: Sequence[Array], z: float) -> Estimates:
    """Return quantiles as values, from places counted in cells; the standard error is Woodruff's (1952).

    Args:
        attribute: the attribute.
        cells: that its levels are put together to.
        levels: of the attribute.
        places: of the quantiles, and of the lower and the upper ends of their intervals.
        z: standard errors to each side of an interval.
    """
    edges = attribute.edges_at(first_levels(levels, cells)).astype(np.float64)
    value, low, high = (np.interp(place, np.arange(cells + 1), edges) for place in places)
    if cells == attribute.span:
        value, high = np.ceil(value) - 1, high - 1
    error = np.where(np.isnan(value), np.nan, (high - low) / (2 * z))
    return Estimates(value=value, standard_error=error, low=low, high=high)


def valued_between(attribute: Number, edges: Places, places: Sequence[Array], z: float) -> Estimates:
    """Return quantiles as values where cells are of several sizes; see `valued`.

    The outermost cells may be a hundred times as wide as the rest, with all of their rows beside the next cell: a
    quantile in one of them is taken for the level there.

    Args:
        attribute: the attribute.
        edges: the first level of every cell, and one more than the last level.
        places: of the quantiles, and of the lower and the upper ends of their intervals, in cells.
        z: standard errors to each side of an interval.
    """
    value, low, high = (np.interp(place, np.arange(edges.size), edges) for place in places)
    value = np.clip(value, edges[1] - 0.5, edges[-2] + 0.5)
    unknown = np.isnan(value)
    level = np.ceil(np.where(unknown, 0.5, value)).astype(np.int64) - 1
    below, above = (attribute.edges_at(level + side).astype(np.float64) for side in (0, 1))
    whole = attribute.span == edges[-1]
    exact = below if whole else below + (value - level) * (above - below)
    ends = [attribute.edges_at(np.rint(end).astype(np.int64)).astype(np.float64) for end in (low, high)]
    error = np.where(unknown, np.nan, (ends[1] - whole - ends[0]) / (2 * z))
    return Estimates(value=np.where(unknown, np.nan, exact), standard_error=error, low=ends[0], high=ends[1] - whole)
