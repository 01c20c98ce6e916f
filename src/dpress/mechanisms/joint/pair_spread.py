"""The variance of every cell of a pair's consistent table, and of sums of cells, for the shares as estimated.

Flow: tables -> every table's weights in a cell or a sum -> variance of that weighted sum -> their sum.
"""

import math
from dataclasses import dataclass
from typing import cast

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.consistency import Axes
from dpress.inference.frequencies import SPARE
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables
from dpress.inference.postprocess import norm_sub


@dataclass(frozen=True, slots=True)
class _Weights:
    """W = both [a = c][b = d] + row [a = c] + column [b = d] + rest: of cell (c, d) of a table in cell (a, b)."""

    both: float
    row: float
    column: float
    rest: float

    def applied(self, shares: Array) -> Array:
        """Return sum W f, for every cell; of the last two axes."""
        rows, columns = shares.sum(axis=-1, keepdims=True), shares.sum(axis=-2, keepdims=True)
        total = rows.sum(axis=-2, keepdims=True)
        return np.asarray(self.both * shares + self.row * rows + self.column * columns + self.rest * total)

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
    somebody may be; and 4 (own - other)^2 / users is added to v, as in `frequencies.counts`.
    """
    users, shares = _likely(tables, axes)
    drawn = sum((_part(tables, table, axes, shares) for table in _holding(tables, axes)), np.zeros(shares.shape))
    return np.asarray(np.maximum(drawn - shares * (1 - shares) / users, 0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TablePart:
    """What one table adds to the covariance of sums of a pair's cells.

    Args:
        rows: whether it holds the pair's first attribute.
        columns: whether it holds the second.
        weights: `both`, `row`, `column` and `rest`, by which it enters a cell.
        slope: what a share adds to the oracle's variance for one user.
        level: that variance for a share of 0, of all cells that are added up.
        factor: k / (k - 1), k the table's cells.
        users: who answered about it.
    """

    rows: bool
    columns: bool
    weights: _Weights
    slope: float
    level: float
    factor: float
    users: int

    def covariance(self, shares: Array, forms: Array) -> Array:
        """Return the covariance, were its users drawn with replacement."""
        held, wanted = (self.kept(values) for values in (shares, forms))
        weights = self.weights.applied(wanted)
        rows, oracle = weights.reshape(len(forms), -1), (self.level + self.slope * held).ravel() * self.factor
        return np.asarray(((rows * oracle) @ rows.T + _sampling(held, weights)) / self.users)

    def kept(self, values: Array) -> Array:
        """Return values of a pair's cells, the last two axes, added up over the attribute that the table lacks."""
        values = values if self.rows else values.sum(axis=-2, keepdims=True)
        return values if self.columns else values.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairSum:
    """What gives the covariance of weighted sums of the cells of `tables.table(axes)`, as `cell_variances`.

    Cells of a row or a column share what is wrong with its sum, so that their errors add up.
    Formula of a variance: with U = sum over the cells of the query times W, sum over tables of
    (k / (k - 1) sum U^2 v + sum U^2 f - (sum U f)^2) / users - (sum query^2 f - (sum query f)^2) / everybody; of a
    covariance with a product of both queries' in the place of every square.

    Args:
        shares: f, of the pair's shape.
        everybody: how many took part.
        parts: of all tables that hold one of the attributes.
    """

    shares: Array
    everybody: int
    parts: tuple[TablePart, ...]

    def covariance(self, forms: Array) -> Array:
        """Return it, in shares squared, shape (forms, forms).

        Args:
            forms: the weight of every cell in every sum, shape (forms, cells of the first, cells of the second).
        """
        total = -_sampling(self.shares, forms) / self.everybody
        for part in self.parts:
            total += part.covariance(self.shares, forms)
        np.fill_diagonal(total, np.maximum(np.diag(total), 0.0))
        return total


def pair_sum(tables: Tables, axes: Axes) -> PairSum:
    """Return what gives the covariance of weighted sums of a pair's cells."""
    users, shares = _likely(tables, axes)
    parts = tuple(_table_part(tables, table, axes) for table in _holding(tables, axes))
    return PairSum(shares=shares, everybody=users, parts=parts)


def _table_part(tables: Tables, table: NoisyTable, axes: Axes) -> TablePart:
    noise, cells = _reported(table), table.shares.size
    rows, columns = (axis in table.axes for axis in axes)
    added = math.prod(tables.shape[axis] for axis in axes if axis in table.axes)
    return TablePart(
        rows=rows,
        columns=columns,
        weights=_weights(tables, table, axes),
        slope=noise.held - noise.other,
        level=(noise.other + _spare(noise)) * cells / added,
        factor=cells / (cells - 1),
        users=noise.users,
    )


def _likely(tables: Tables, axes: Axes) -> tuple[int, Array]:
    """Return how many users there are, and the nearest shares of which none is rarer than one user.

    Cut off below that alone they would add up to more than 1 where the noise is large, and frequent cells would look
    rarer than they are.
    """
    users, estimated = sum(_reported(table).users for table in tables.noisy), tables.table(axes)
    shares = np.maximum(norm_sub(estimated.ravel(), users=1).reshape(estimated.shape), 1 / users)
    return users, shares / shares.sum()


def _holding(tables: Tables, axes: Axes) -> list[NoisyTable]:
    return [table for table in tables.noisy if set(axes) & set(table.axes) and table.shares.size > 1]


def _kept(values: Array, table: NoisyTable, axes: Axes) -> Array:
    """Return values of a pair's cells, added up over the attribute that a table does not hold."""
    values = values if axes[0] in table.axes else values.sum(axis=0, keepdims=True)
    return values if axes[1] in table.axes else values.sum(axis=1, keepdims=True)


def _reported(table: NoisyTable) -> Noise:
    """Return the noise of a table that devices reported."""
    return cast("Noise", table.noise)


def _spare(noise: Noise) -> float:
    """Return what is added to a cell's variance, times the users, as in `frequencies.counts`."""
    return SPARE * (noise.held - noise.other) ** 2 / noise.users


def _sampling(shares: Array, forms: Array) -> Array:
    """Return the covariance of weighted sums of one user's cell, shape (forms, forms)."""
    rows, flat = forms.reshape(len(forms), -1), shares.ravel()
    means = rows @ flat
    return np.asarray((rows * flat) @ rows.T - np.outer(means, means))


def _part(tables: Tables, table: NoisyTable, axes: Axes, shares: Array) -> Array:
    """Return what one table adds to the variance, were its users drawn with replacement."""
    weights, noise, cells = _weights(tables, table, axes), _reported(table), table.shares.size
    held = _kept(shares, table, axes)
    square = weights.squared()
    weighted, each = square.applied(held), square.applied(np.ones(held.shape)) * (cells / held.size)
    oracle = ((noise.held - noise.other) * weighted + (noise.other + _spare(noise)) * each) * (cells / (cells - 1))
    return np.asarray((oracle + weighted - weights.applied(held) ** 2) / noise.users)


def _weights(tables: Tables, table: NoisyTable, axes: Axes) -> _Weights:
    """Return a table's weights: of every component its share of the precision, spread over the other attribute."""
    first, second = axes
    rows, columns = (tables.shape[axis] for axis in axes)
    row, column = (_share(tables, table, (axis,)) for axis in axes)
    both = _share(tables, table, axes)
    cells = rows * columns
    if first not in table.axes or second not in table.axes:
        return _Weights(0.0, row / columns, column / rows, -(row + column) / cells)
    return _Weights(both, (row - both) / columns, (column - both) / rows, (both - row - column) / cells)


def _share(tables: Tables, table: NoisyTable, some: Axes) -> float:
    """Return the weight of a table in the mean of a component, 0 where it does not hold it or nothing is to know."""
    sizes = [tables.shape[axis] for axis in some]
    if not set(some) <= set(table.axes) or min(sizes) == 1:
        return 0.0
    variance = table.noise.at_equal_shares(table.shares.size) * table.shares.size / math.prod(sizes)
    return tables.component(some) / variance
