"""How far records are from the rows in tables of two attributes, predicted from the noise and one-way tables alone.

one-way tables with groups, noise of all tables -> error of each attribute's shares, of what two have to do with each
other -> mean total variation distance; and how the loss is best shared. It sees no record.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.linear import Array
from dpress.mechanisms.microdata.grouped_tables import mean_absolute, variances
from dpress.mechanisms.microdata.one_way_tables import OneWayTables

DEPENDENCE = 0.1
"""Of two attributes, as a distance from the product of their shares: about the mean of real tables."""
LEFT = 0.4
"""Of the noise in a table of a pair, what all tables together leave in the model."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Noise:
    """What is measured of each attribute and of all pairs.

    Args:
        cells: of every attribute.
        ways: of every attribute, in how many parts its error is compared: its cells, or BINS of a number.
        groups: of every attribute in tables of pairs.
        one_way: the variance of a cell of every attribute, in counts squared.
        pairs: the variance of a cell of every pair, shape (attributes, attributes), infinite where none is measured.
        absolute: E|z| of noise with standard deviation 1.
        size: of the table, in rows.
    """

    cells: Array
    ways: Array
    groups: Array
    one_way: Array
    pairs: Array
    absolute: float
    size: int

    @property
    def of_attributes(self) -> Array:
        """The error of every attribute's shares: half the sum of E|z| over its parts, pooled with tables of pairs."""
        of_group = self.one_way * self.cells / np.maximum(self.groups, 1)
        precision = 1 / of_group + (1 / (self.pairs * self.groups)).sum(axis=1)
        within = np.maximum(self.ways - self.groups, 0) * np.sqrt(self.one_way * self.cells / self.ways)
        sums = self.groups / np.sqrt(precision) + within
        return np.asarray(self.absolute * sums * np.sqrt(1 - 1 / self.ways) / (2 * self.size))

    @property
    def error(self) -> float:
        """The mean over pairs of the error of a pair's table.

        Formula: sqrt(m^2 + i^2). m = e / (1 + e), e the root of the sum of both attributes' squared errors: shares
        cannot be off by more than 1. i = d x / sqrt(1 + x^2), x = LEFT n / d, d = DEPENDENCE and n the noise of the
        pair's table, half the sum of E|z|: what noise hides is left out, and costs d at most.
        """
        of_attributes = self.of_attributes
        margins = np.sqrt(of_attributes[:, None] ** 2 + of_attributes[None, :] ** 2)
        tables = np.outer(self.groups, self.groups) * self.absolute * np.sqrt(self.pairs) / (2 * self.size)
        hidden = np.isinf(tables) | (np.minimum(self.groups[:, None], self.groups[None, :]) < 2)
        over = LEFT * np.where(hidden, 0.0, tables) / DEPENDENCE
        left = DEPENDENCE * np.where(hidden, 1.0, over / np.sqrt(1 + over**2))
        errors = np.sqrt((margins / (1 + margins)) ** 2 + left**2)
        return float(np.mean(errors[~np.eye(self.cells.size, dtype=np.bool_)]))


def noise(one_way: OneWayTables, rest: Loss, again: Fraction, unit: Unit) -> Noise:
    """Return the noise of all tables where one-way tables are measured again with a share of what is left.

    Args:
        one_way: as measured first, with groups.
        rest: the loss that is left.
        again: the share of it for the one-way tables; all pairs get what remains.
        unit: whom the promise protects.
    """
    cells, one_way_variances = np.array(one_way.shape), np.array(one_way.variances)
    if again:
        one_way_variances = 1 / (1 / one_way_variances + 1 / variances(cells, part_of(rest, again), unit))
    groups = np.array([places.max() + 1 for places in one_way.groups])
    pairs = np.full((cells.size, cells.size), math.inf)
    if again < 1:
        places = np.triu_indices(cells.size, 1)
        pairs[places] = variances(np.outer(groups, groups)[places], part_of(rest, 1 - again), unit)
        pairs = np.minimum(pairs, pairs.T)
    return Noise(
        cells=cells.astype(np.float64),
        ways=np.array(one_way.ways, dtype=np.float64),
        groups=groups.astype(np.float64),
        one_way=one_way_variances,
        pairs=pairs,
        absolute=mean_absolute(rest.tail),
        size=max(one_way.size, 1),
    )


def best_share(one_way: OneWayTables, rest: Loss, shares: Sequence[Fraction], unit: Unit) -> Fraction:
    """Return which share of what is left had best measure the one-way tables again, by the predicted error.

    Args:
        one_way: as measured first: public.
        rest: the loss that is left.
        shares: to choose from; none where nothing is measured again.
        unit: whom the promise protects.
    """
    return min(shares, key=lambda share: noise(one_way, rest, share, unit).error, default=Fraction(0))
