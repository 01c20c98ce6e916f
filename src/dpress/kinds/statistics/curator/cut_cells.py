"""Quantiles of an attribute by cells that are cut near them: whether that errs less than a tree, and what is chosen."""

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.loss import Loss
from dpress.kinds.statistics.curator.cells_near import CellsNear, CutCells
from dpress.kinds.statistics.curator.quantiles import MOST_LEVELS, Wanted, choice, counted_variance, tree
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.level_values import bounded
from dpress.mechanisms.choice.approximate_quantiles import FILLED
from dpress.mechanisms.discovery.quantile_cells import flat
from dpress.mechanisms.linear.group_distribution import GroupDistribution

MOST_PARTS = 1 << 16  # of the bounds, that cells are cut between


def cut_cells(schema: Schema, by: tuple[int, ...], wish: Wanted, users: int) -> CutCells:
    """Return the cells of an attribute, the same ones in all groups.

    Args:
        schema: of the attributes, whose levels are fine enough; see `with_parts`.
        by: the axes of the groups.
        wish: the quantiles.
        users: the rows that are expected, of all groups.
    """
    axis = schema.axes([wish.name])[0]
    levels = schema.tabular[axis].ordered
    parts, cells = min(levels, MOST_PARTS), min(levels, CellsNear.cells_for(wish.shares))
    distribution = GroupDistribution(
        shape=schema.shape, by=by, axis=axis, levels=levels, tree=flat(cells), quantiles=wish.shares
    )
    return CutCells(distribution=distribution, candidates=parts, places=MOST_LEVELS // parts, rows=users)


def better_cut(schema: Schema, wish: Wanted, loss: Loss, unit: Unit, terms: Statistics) -> bool:
    """Return whether cells near the quantiles are predicted to err less than any other way, in rows.

    Rows are supposed to lie evenly in a 64th of the bounds, so that a quantile within a cell is off by the rows there
    over sqrt(12), unless every integer is a cell. See `CellsNear.rank_variance`, `counted_variance`, and, where no
    intervals are needed, `ApproximateQuantiles.rank_variances`.

    Args:
        schema: of the attributes.
        wish: the quantiles, in one group of all rows.
        loss: of the comparison.
        unit: whom it protects.
        terms: say how many rows are expected, and whether intervals are needed.
    """
    attribute, rows = bounded(schema, schema.axes([wish.name])[0]), terms.users
    if not attribute.even:
        return False

    def within(cells: int) -> float:
        return 0.0 if cells == attribute.span else (rows * min(1.0, 1 / (FILLED * cells))) ** 2 / 12

    counted = tree(schema, (), wish, loss)
    others = [counted_variance(counted, loss, unit) + within(counted.tree.cells)]
    if not terms.intervals:
        chosen = choice(schema, (), wish, loss, unit)
        others.append(float(np.mean(chosen.choice.rank_variances(rows))) + within(chosen.cells))
    exact = counted.tree.cells == attribute.span
    near = CellsNear(quantiles=wish.shares, loss=loss, unit=unit, rows=rows)
    return not exact and near.rank_variance < min(others)


def with_parts(attribute: Tabular) -> Tabular:
    """Return an attribute with levels so fine that cells are cut between them; as it is where it has as many."""
    numbers = attribute.numbers
    if numbers is None or not numbers.even or numbers.ordered >= MOST_PARTS:
        return attribute
    finer: Tabular = numbers.with_levels(numbers.levels(MOST_PARTS))
    return finer
