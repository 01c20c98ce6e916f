"""Quantiles that were chosen: a value for every group, and no interval.

published levels -> values of the attribute -> estimates beside those of noisy sums.
"""

import math

import numpy as np
import numpy.typing as npt

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array, Numbers
from dpress.inference.group_moments import Estimates
from dpress.kinds.statistics.group_results import Mask, quantile_name
from dpress.kinds.statistics.level_values import bounded
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels

Integers = npt.NDArray[np.int64]
BETA = 0.05  # that a rank is further away than stated


def quantile_names(chosen: ChosenLevels, schema: Schema) -> tuple[str, ...]:
    """Return what the quantiles of an attribute are called."""
    name = schema.names[chosen.axis]
    return tuple(quantile_name(name, share) for share in chosen.choice.quantiles)


def estimates(chosen: ChosenLevels, schema: Schema, levels: Integers) -> dict[str, Estimates]:
    """Return the quantiles of every group by name.

    Args:
        chosen: the levels that were chosen.
        schema: of the attributes.
        levels: that were chosen, shape (groups, quantiles).
    """
    quantiles = values(chosen, schema, levels)
    nothing = np.full(chosen.groups, math.nan)
    return {
        name: Estimates(value=quantiles[:, place], standard_error=nothing, low=nothing, high=nothing)
        for place, name in enumerate(quantile_names(chosen, schema))
    }


def values(chosen: ChosenLevels, schema: Schema, levels: Integers) -> Array:
    """Return the values that cells stand for: their middle, of integers the middle of the lowest and the highest."""
    attribute, cells = bounded(schema, chosen.axis), levels.ravel()
    borders = [-(-(cells + side) * chosen.levels // chosen.cells) for side in (0, 1)]
    low, high = (attribute.edges_at(border).astype(np.float64) for border in borders)
    middles: Array = (low + high - attribute.whole) / 2
    return middles.reshape(levels.shape)


def true_levels(chosen: ChosenLevels, counts: Numbers) -> tuple[Integers, Mask]:
    """Return the quantiles of exact counts, the first level up to which a share of the rows lies, and who has rows.

    Args:
        chosen: how levels are chosen.
        counts: of the cells, group by group.

    Returns:
        Shape (groups, quantiles); any level of a group without rows. Shape (groups,).
    """
    below = counts.reshape(chosen.groups, -1).cumsum(axis=1)
    levels = [(below * q.denominator >= q.numerator * below[:, -1:]).argmax(axis=1) for q in chosen.choice.quantiles]
    return np.stack(levels, axis=1).astype(np.int64), below[:, -1] > 0


def without_interval(chosen: ChosenLevels) -> str:
    """Return the note of a value that was chosen."""
    text = f"It was chosen among {chosen.cells:,} cells, and has no interval."
    if len(chosen.choice.quantiles) > 1:
        return text
    rows = math.ceil(chosen.choice.rank_errors(chosen.cells, BETA)[0])
    return f"{text} With a probability of at least 95 % at most {rows:,} rows lie between its cell and the rank asked."
