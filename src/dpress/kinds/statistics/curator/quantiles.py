"""Quantiles of groups: by a tree of counts, with intervals, or by a choice, without; and what was chosen, as values.

Where intervals are not asked for, the way that is predicted to err less is taken, attribute by attribute.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dpress.attributes.domain import Schema
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import power_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.ranges import Prefixes
from dpress.inference.group_moments import Estimates
from dpress.kinds.statistics.curator.prefix_counts import mean_form_variance
from dpress.kinds.statistics.group_results import Mask, quantile_name
from dpress.kinds.statistics.kind import Shape
from dpress.kinds.statistics.level_values import bounded
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.groups import groups_in
from dpress.mechanisms.linear.hierarchy import Hierarchy, best_tree
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels

Integers = npt.NDArray[np.int64]
BETA = 0.05  # that a rank is further away than stated
MOST_CELLS = 1 << 12  # of a tree, where an integer attribute states no bins
MOST_LEVELS = 1 << 20  # of a choice, with the places within them where there are several quantiles
MOST_NODES = 1 << 24  # of all groups
MOST_FORMS = 1 << 27  # cells of all groups times quantiles: the interval of each looks at every cell
PLACES = 1 << 7  # within a level, where several quantiles are chosen: heavy levels come on both sides of them
FEWEST = 1 << 4  # that an integer attribute without `bins` has


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The quantiles of one attribute.

    Args:
        name: of the attribute.
        shares: strictly between 0 and 1, increasing.
        stated: how many cells the specification gives it; None for an integer attribute without `bins`.
    """

    name: str
    shares: tuple[Fraction, ...]
    stated: int | None


def wanted(schema: Schema, finer: Schema, name: str, shares: tuple[Fraction, ...]) -> Wanted:
    """Return the quantiles of one attribute, as the specification has it and with its finest levels."""
    axis = schema.axes([name])[0]
    attribute = schema.tabular[axis]
    stated = None if attribute.unbinned else min(attribute.ordered, finer.tabular[axis].ordered)
    return Wanted(name=name, shares=shares, stated=stated)


def tree(schema: Schema, by: tuple[int, ...], wish: Wanted, loss: Loss) -> GroupDistribution:
    """Return the tree whose branching suits prefixes best.

    Raises:
        NotSupported: it would be too large.
    """
    axis = schema.axes([wish.name])[0]
    levels = schema.tabular[axis].ordered
    cells = _affordable(schema, by, wish, wish.stated or min(levels, MOST_CELLS))
    if (forms := groups_in(schema.shape, by) * cells * len(wish.shares)) > MOST_FORMS:
        raise NotSupported(
            f"{PLACE}: {len(wish.shares):,} quantiles of {wish.name} with intervals among "
            f"{forms // len(wish.shares):,} cells are {forms:,} forms, more than 2^27; name fewer quantiles, or "
            "set fewer `bins`"
        )
    return GroupDistribution(
        shape=schema.shape, by=by, axis=axis, levels=levels, tree=_tree(cells, loss), quantiles=wish.shares
    )


def _tree(cells: int, loss: Loss) -> Hierarchy:
    branching, root = best_tree(Prefixes(cells), power_of(loss))
    return Hierarchy(cells, branching, root)


def choice(schema: Schema, by: tuple[int, ...], wish: Wanted, loss: Loss, unit: Unit) -> ChosenLevels:
    """Return the choice among as many cells as there may be.

    Raises:
        NotSupported: they would be too many.
    """
    axis, groups = schema.axes([wish.name])[0], groups_in(schema.shape, by)
    levels = schema.tabular[axis].ordered
    most, fewest = (PLACES, FEWEST) if len(wish.shares) > 1 else (1, 1)
    cells = _affordable(schema, by, wish, wish.stated or min(levels, MOST_LEVELS // fewest, MOST_NODES // groups))
    if cells > MOST_LEVELS:
        raise NotSupported(
            f"{PLACE}: quantiles of {wish.name} without intervals are chosen among at most 2^20 cells, got "
            f"{cells:,}; set fewer `bins`"
        )
    places = max(1, min(most, MOST_LEVELS // cells, MOST_NODES // (groups * cells)))
    selection = ApproximateQuantiles(loss=loss, unit=unit, quantiles=wish.shares, places=places)
    return ChosenLevels(shape=schema.shape, by=by, axis=axis, levels=levels, cells=cells, choice=selection)


def _affordable(schema: Schema, by: tuple[int, ...], wish: Wanted, cells: int) -> int:
    groups = groups_in(schema.shape, by)
    if groups * cells > MOST_NODES:
        raise NotSupported(
            f"{PLACE}: quantiles of {wish.name} in {groups:,} groups take {groups * cells:,} cells, "
            "more than 2^24; set fewer `bins`"
        )
    return cells


def errs_less(chosen: ChosenLevels, rows: float) -> bool:
    """Return whether a choice is predicted to err less than a tree of the same cells under the same loss, in rows.

    Both errors are mean squares over the quantiles: `ApproximateQuantiles.rank_variances`, and the exact variances of
    the tree's forms, in the mean over all cells.

    Args:
        chosen: the choice; its loss and unit are those of the comparison.
        rows: of a group.
    """
    selection, loss = chosen.choice, chosen.choice.loss
    counted = GroupDistribution(
        shape=chosen.shape,
        by=chosen.by,
        axis=chosen.axis,
        levels=chosen.levels,
        tree=_tree(chosen.cells, loss),
        quantiles=selection.quantiles,
    )
    return bool(np.mean(selection.rank_variances(rows)) < counted_variance(counted, loss, selection.unit))


def counted_variance(counted: GroupDistribution, loss: Loss, unit: Unit) -> float:
    """Return the variance of the forms of a tree that is measured alone, in rows squared; the mean over all cells."""
    alone = GroupStatistics(moments=(), distributions=(counted,), shares=(Fraction(1),))
    variance = MatrixMechanism(strategy=alone, loss=loss, unit=unit).noises[0].variance
    return mean_form_variance(counted.tree, variance, counted.quantiles)


def value_errors(chosen: ChosenLevels, schema: Schema, assumed: Mapping[str, Shape], *, rows: float) -> list[float]:
    """Return the predicted standard error of every quantile of a choice, in the attribute's unit.

    That of its rank (`value_error`), and the width of a cell over sqrt(12), as if values lay evenly in it: none where
    every integer is a cell.
    """
    attribute = bounded(schema, chosen.axis)
    low, high = map(float, attribute.ends)
    within = 0.0 if chosen.cells == attribute.span else (high - low) / chosen.cells / math.sqrt(12)
    shape = assumed.get(schema.names[chosen.axis])
    errors = [math.sqrt(variance) / rows for variance in chosen.choice.rank_variances(rows)]
    pairs = zip(chosen.choice.quantiles, errors, strict=True)
    return [math.hypot(value_error((low, high), shape, float(q), error), within) for q, error in pairs]


def value_error(bounds: tuple[float, float], shape: Shape | None, q: float, error: float) -> float:
    """Return half the distance of the values at q +- error, an error in shares of the rows; an approximation.

    Args:
        bounds: of the values.
        shape: what is supposed of them; None for evenly spread ones.
        q: the quantile.
        error: of its rank.
    """
    low, high = bounds

    def value(share: float) -> float:
        if not 0 < share < 1:
            return low if share <= 0 else high
        if shape is None:
            return low + share * (high - low)
        return min(max(NormalDist(shape.mean, shape.sd).inv_cdf(share), low), high)

    return (value(q + error) - value(q - error)) / 2


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


NOBODY = "or of nobody, it may be any cell"


def without_interval(chosen: ChosenLevels) -> str:
    """Return the note of a value that was chosen."""
    text = f"It was chosen among {chosen.cells:,} cells, and has no interval; of a group of few rows, {NOBODY}."
    if len(chosen.choice.quantiles) > 1:
        return text
    rows = math.ceil(chosen.choice.rank_errors(chosen.cells, BETA)[0])
    return f"{text} With a probability of at least 95 % at most {rows:,} rows lie between its cell and the rank asked."
