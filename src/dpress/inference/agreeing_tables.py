"""Tables of a release made to agree and to be >= 0, all at once: the nearest such tables, weighed by their noise.

tables -> their parts by sets of attributes (means, then what single attributes add, then pairs, ...), averaged over the
tables that have them -> tables that agree; cut off at 0 in turn with that (Dykstra), until both hold.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.maps.linear import Array

Axes = tuple[int, ...]

ROUNDS = 400
NEAR = 1e-3  # of the mean count of a cell: how far below 0 agreeing counts may be before they are mixed with even ones


@dataclass(frozen=True, eq=False)
class AgreeingTables:
    """Which tables there are, and how they are weighed.

    Args:
        axes: of every table, in the order of its array's axes; each a different set.
        weights: of every table, the inverse of its cells' mean variance.
    """

    axes: tuple[Axes, ...]
    weights: tuple[float, ...]

    @cached_property
    def parts(self) -> tuple[tuple[Axes, tuple[int, ...]], ...]:
        """The total and all sets of attributes that several tables hold, small ones first, with the tables' places."""
        sets = {part for axes in self.axes for size in range(len(axes) + 1) for part in _subsets(axes, size)}
        holding = ((part, tuple(at for at, axes in enumerate(self.axes) if part <= {*axes})) for part in sets)
        shared = [(tuple(sorted(part)), places) for part, places in holding if len(places) > 1 or not part]
        return tuple(sorted(shared, key=lambda each: (len(each[0]), each[0])))

    def agreeing(self, tables: Sequence[Array], total: float | None = None) -> list[Array]:
        """Return the nearest tables, in weighted squared distance, of which any two have the same sums.

        A table is the sum over its sets of attributes of parts that are centred along each of them, and these are
        orthogonal, so that the nearest part is the mean over the tables that have it, by weight per cell beside it.

        Args:
            tables: arrays with an axis for each of a table's attributes.
            total: of every table; None for the mean of their own.
        """
        out = [np.array(table) for table in tables]
        for part, places in self.parts:
            sums = [self._summed(tables[at], at, part) for at in places]
            beside = np.array([tables[at].size / sums[0].size for at in places])
            shares = np.array([self.weights[at] for at in places]) / beside
            parts = [_centred(each) for each in sums]
            mean = np.asarray(sum(share * each for share, each in zip(shares / shares.sum(), parts, strict=True)))
            if not part and total is not None:
                mean = np.asarray(total)
            for at, before, cells in zip(places, parts, beside, strict=True):
                out[at] += self._spread((mean - before) / cells, at, part)
        return out

    def nonnegative(self, tables: Sequence[Array]) -> list[Array]:
        """Return the nearest tables, in weighted squared distance, that agree and hold no count below 0.

        Dykstra's algorithm (Boyle and Dykstra 1986), up to 400 rounds; what is left below 0 is mixed away with even
        tables of the same total, which agree and are positive, so that both hold but for rounding.

        Args:
            tables: arrays with an axis for each of a table's attributes.
        """
        current = self.agreeing(tables)
        total = float(current[0].sum())
        if total <= 0:
            return [np.zeros(table.shape) for table in tables]
        dropped = [np.zeros(table.shape) for table in tables]
        for _ in range(ROUNDS):
            if all(table.min() >= -NEAR * total / table.size for table in current):
                break
            before = [table + left for table, left in zip(current, dropped, strict=True)]
            cut = [np.maximum(table, 0.0) for table in before]
            dropped = [whole - kept for whole, kept in zip(before, cut, strict=True)]
            current = self.agreeing(cut, total)
        return _mixed(current)

    def _summed(self, table: Array, at: int, part: Axes) -> Array:
        """Return a table's sums over the attributes beside a set, with the set's in order."""
        axes = self.axes[at]
        kept = table.sum(axis=tuple(place for place, axis in enumerate(axes) if axis not in part))
        order = [axis for axis in axes if axis in part]
        return np.asarray(kept).transpose([order.index(axis) for axis in part])

    def _spread(self, sums: Array, at: int, part: Axes) -> Array:
        """Return sums over a set's cells as an array that broadcasts over a table."""
        axes = self.axes[at]
        order = [axis for axis in axes if axis in part]
        turned = sums.transpose([part.index(axis) for axis in order])
        return turned.reshape([turned.shape[order.index(axis)] if axis in part else 1 for axis in axes])


def _subsets(axes: Axes, size: int) -> list[frozenset[int]]:
    return [frozenset(part) for part in itertools.combinations(axes, size)]


def _centred(sums: Array) -> Array:
    """Return what is left of sums without the means along every axis."""
    for axis in range(sums.ndim):
        sums = sums - sums.mean(axis=axis, keepdims=True)
    return np.asarray(sums)


def _mixed(tables: list[Array]) -> list[Array]:
    """Return tables with as much of even ones as keeps every count at 0 or above."""
    share = 0.0
    for table in tables:
        even, least = table.sum() / table.size, float(table.min())
        if least < 0:
            share = max(share, -least / (even - least))
    return [np.maximum((1 - share) * table + share * table.sum() / table.size, 0.0) for table in tables]
