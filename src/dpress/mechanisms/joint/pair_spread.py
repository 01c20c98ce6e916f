"""The variance of every cell of a pair's consistent table, for the shares as estimated.

Flow: tables -> every table's weights in a cell of the pair's -> variance of that weighted sum -> their sum.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpress.core.linear import Array
from dpress.inference.consistency import Axes
from dpress.inference.joint.pair_tables import NoisyTable, Tables


@dataclass(frozen=True, slots=True)
class _Weights:
    """W = both [a = c][b = d] + row [a = c] + column [b = d] + rest: of cell (c, d) of a table in cell (a, b)."""

    both: float
    row: float
    column: float
    rest: float

    def applied(self, shares: Array) -> Array:
        """Return sum W f, for every cell."""
        rows, columns = shares.sum(axis=1, keepdims=True), shares.sum(axis=0, keepdims=True)
        return np.asarray(self.both * shares + self.row * rows + self.column * columns + self.rest * shares.sum())

    def squared(self) -> "_Weights":
        """Return W^2, which has the same form."""
        alone = self.row + self.column + self.rest
        return _Weights(
            self.both * (self.both + 2 * alone) + 2 * self.row * self.column,
            self.row * (self.row + 2 * self.rest),
            self.column * (self.column + 2 * self.rest),
            self.rest**2,
        )


def cell_variances(tables: Tables, axes: Axes) -> Array:
    """Return the variance of every cell of `tables.table(axes)` of two attributes, were the shares those estimated.

    A cell is a sum W y over the cells of all tables that hold one of the attributes, with fixed weights W; tables have
        their own users. The sampling part is exact, without replacement; the oracle's noise is taken as
    independent but for its known sum.
    Formula: sum over tables of (k / (k - 1) sum W^2 v + sum W^2 f - (sum W f)^2) / users - f (1 - f) / everybody,
    v = own f + other (1 - f), k the table's cells. Every cell counts as no rarer than one user: where nobody was seen,
    somebody may be.
    """
    users = sum(one.noise.users for one in tables.noisy)
    shares = np.maximum(tables.table(axes), 1 / users)
    shares /= shares.sum()
    holding = [one for one in tables.noisy if set(axes) & set(one.axes) and one.shares.size > 1]
    drawn = sum((_part(tables, one, axes, shares) for one in holding), np.zeros(shares.shape))
    return np.asarray(np.maximum(drawn - shares * (1 - shares) / users, 0))


def _part(tables: Tables, one: NoisyTable, axes: Axes, shares: Array) -> Array:
    """Return what one table adds to the variance, were its users drawn with replacement."""
    weights, noise, cells = _weights(tables, one, axes), one.noise, one.shares.size
    kept = [axis in one.axes for axis in axes]
    own = shares if kept[0] else shares.sum(axis=0, keepdims=True)  # of the attributes that the table holds
    own = own if kept[1] else own.sum(axis=1, keepdims=True)
    square = weights.squared()
    weighted, each = square.applied(own), square.applied(np.ones(own.shape)) * (cells / own.size)
    oracle = ((noise.own - noise.other) * weighted + noise.other * each) * (cells / (cells - 1))
    return np.asarray((oracle + weighted - weights.applied(own) ** 2) / noise.users)


def _weights(tables: Tables, one: NoisyTable, axes: Axes) -> _Weights:
    """Return a table's weights: of every component its share of the precision, spread over the other attribute."""
    first, second = axes
    rows, columns = (tables.shape[axis] for axis in axes)
    row, column = (_share(tables, one, (axis,)) for axis in axes)
    both = _share(tables, one, axes)
    cells = rows * columns
    if first not in one.axes or second not in one.axes:
        return _Weights(0.0, row / columns, column / rows, -(row + column) / cells)
    return _Weights(both, (row - both) / columns, (column - both) / rows, (both - row - column) / cells)


def _share(tables: Tables, one: NoisyTable, some: Axes) -> float:
    """Return the weight of a table in the mean of a component, 0 where it does not hold it or nothing is to know."""
    sizes = [tables.shape[axis] for axis in some]
    if not set(some) <= set(one.axes) or min(sizes) == 1:
        return 0.0
    own = one.noise.at_equal_shares(one.shares.size) * one.shares.size / math.prod(sizes)
    return tables.component(some) / own
