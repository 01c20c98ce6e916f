"""The counts of the grids of `hdg` made consistent: tables of cells, and what an answer weighs in every grid.

counts of all grids -> coarse tiles by least squares -> fine tiles, pairs' tiles -> cells by the fine tiles' shares.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.joint.fit import fit_margins
from dpress.inference.postprocess import norm_sub, top_down
from dpress.mechanisms.ranges.axis_tiles import AxisTiles
from dpress.mechanisms.ranges.grid_error import Axes, GridError, sets_of

LARGEST = 0.25  # variance of a share
LEAST = 1e-9  # share of a tile where the fit to sums begins: what is 0 could not grow


@dataclass(frozen=True, kw_only=True, eq=False)
class GridCounts:
    """Counts of all users.

    Args:
        error: of the grids, which gives the weights of least squares.
        counts: of every grid's tiles, as reported, in its shape.
        users: how many took part, which is known.
    """

    error: GridError
    counts: tuple[Array, ...]
    users: int

    @cached_property
    def _tables(self) -> tuple[Axes, ...]:
        return sets_of(len(self.error.axes))

    @cached_property
    def coarse(self) -> tuple[Array, ...]:
        """The counts of every attribute's coarse tiles, by all grids that hold it."""
        coarse = []
        for axis, tiles in enumerate(self.error.axes):
            total = np.full(tiles.coarse, self.users / tiles.coarse)
            for place, trust in self.error.trusts(axis):
                sums = tiles.families(self.counts[axis]).sum(axis=1)
                if place != axis:
                    sums = self.counts[place].sum(axis=1 - self._tables[place].index(axis))
                total += trust * (sums - sums.mean())
            coarse.append(total)
        return tuple(coarse)

    @cached_property
    def fine(self) -> tuple[Array, ...]:
        """The counts of every attribute's fine tiles, which add up to those of the coarse ones."""
        fine = []
        for tiles, reported, coarse in zip(self.error.axes, self.counts, self.coarse, strict=False):
            families = tiles.families(reported)
            differ = families - families.mean(axis=1, keepdims=True)
            fine.append((differ + coarse[:, None] / tiles.each).ravel())
        return tuple(fine)

    @cached_property
    def kept(self) -> tuple[Array, ...]:
        """The counts of every attribute's fine tiles, none below 0: split from everybody down, in halves."""
        return tuple(top_down(fine, users=self.users) for fine in self.fine)

    @cached_property
    def shares(self) -> tuple[Array, ...]:
        """The share of every fine tile in its coarse one, none below 0; as its cells where nobody was found."""
        shares = []
        for tiles, kept in zip(self.error.axes, self.kept, strict=True):
            held = tiles.families(kept)
            even = tiles.families(tiles.widths) / tiles.coarse_widths[:, None]
            sums = held.sum(axis=1, keepdims=True)
            shares.append(np.where(sums > 0, held / np.where(sums > 0, sums, 1.0), even).ravel())
        return tuple(shares)

    def tiles(self, axes: Axes) -> Array:
        """Return the counts of the coarse tiles of a pair, which add up to those of its attributes."""
        counts = self.counts[self._tables.index(axes)]
        rows, columns = (self.coarse[axis] - self.users / self.coarse[axis].size for axis in axes)
        beyond = counts - counts.mean(axis=0) - counts.mean(axis=1, keepdims=True) + counts.mean()
        return np.asarray(beyond + rows[:, None] / columns.size + columns / rows.size + self.users / counts.size)

    def table(self, axes: Axes) -> Array:
        """Return the counts of all cells of one or two attributes, flat."""
        if len(axes) == 1:
            return self._spread(axes[0], self.fine[axes[0]])
        return self._pair(axes, self.tiles(axes))

    def nonnegative(self, axes: Axes) -> Array:
        """Return a table none of whose counts is below 0, biased, such that tables agree where they overlap, flat.

        Fine tiles as `kept`; a pair's tiles the nearest shares >= 0, fitted to the sums of these.
        """
        if len(axes) == 1:
            return self._spread(axes[0], self.kept[axes[0]])
        tiles = self.tiles(axes)
        start = np.maximum(norm_sub(tiles.ravel(), users=self.users) / self.users, LEAST).reshape(tiles.shape)
        sums = [self.error.axes[axis].families(self.kept[axis]).sum(axis=1) / self.users for axis in axes]
        return self._pair(axes, fit_margins(start, {(0,): sums[0], (1,): sums[1]}).table * self.users)

    def _spread(self, axis: int, fine: Array) -> Array:
        tiles = self.error.axes[axis]
        return np.asarray((fine / tiles.widths)[tiles.fine_of])

    def _pair(self, axes: Axes, tiles: Array) -> Array:
        (first, rows), (second, columns) = (self._cells(axis) for axis in axes)
        spread = tiles[np.ix_(first.coarse_of, second.coarse_of)]
        return np.asarray(spread * np.multiply.outer(rows, columns)).ravel()

    def variances(self, axes: Axes) -> Array:
        """Return the variance of every cell of a table, flat: linear for one attribute, else that of a product.

        Formula for a pair: (X^2 + V)(p^2 + U)(q^2 + W) - X^2 p^2 q^2 for the coarse tile's count X and the shares p and
        q of the cell in it, with their variances, as if independent; those of shares by the delta method.
        """
        if len(axes) == 1:
            (axis,) = axes
            return self.error.of(axes, [self.error.axes[axis].cell_weights])
        (first, rows), (second, columns) = (self._cells(axis) for axis in axes)
        counted = [cells.tile_weights for cells in (first, second)]
        spread = self.error.of(axes, [counted[0].at(np.s_[:, None]), counted[1].at(np.s_[None])])
        squared = self.tiles(axes) ** 2
        across, up = rows**2, columns**2
        product = np.multiply.outer(across + self._share_variances(axes[0]), up + self._share_variances(axes[1]))
        where = np.ix_(first.coarse_of, second.coarse_of)
        return np.asarray((squared + spread)[where] * product - squared[where] * np.multiply.outer(across, up)).ravel()

    def weights(self, axes: Axes, query: Sequence[Array]) -> Iterator[tuple[int, Array]]:
        """Yield the grids that the answer to a query depends on, with its derivative by their counts, flat.

        Exact for one attribute, whose answer is linear. For two, f(A) is the share of the people of a coarse tile A
        that the query takes, by the fine tiles' shares, g its mean weight in a fine tile. A pair's tiles weigh f f';
        an attribute's fine tiles R (g - f), R(A) the mean of the other's f' over the people of A.

        Args:
            axes: the attributes.
            query: the weights of their cells.
        """
        weights = {place: np.zeros_like(counts) for place, counts in enumerate(self.counts)}
        tiles = [self.error.axes[axis] for axis in axes]
        means = [axis_tiles.fine_means(cells) for axis_tiles, cells in zip(tiles, query, strict=True)]
        taken = [self._taken(axis, fine) for axis, fine in zip(axes, means, strict=True)]
        for place, (axis, axis_tiles, fine) in enumerate(zip(axes, tiles, means, strict=True)):
            other = self._others(axes, place, taken)
            mean = float(taken[1 - place].mean()) if len(axes) == 2 else 1.0
            middle = axis_tiles.family_means(fine)
            weights[axis] += (other[:, None] * (axis_tiles.families(fine) - middle[:, None])).ravel()
            differ = mean * taken[place] + other * (middle - taken[place])
            self._add_coarse(weights, axis, differ - differ.mean())
        if len(axes) == 2:
            first, second = (taken_of_axis - taken_of_axis.mean() for taken_of_axis in taken)
            weights[self._tables.index(axes)] += np.multiply.outer(first, second)
        yield from ((place, grid_weights.ravel()) for place, grid_weights in weights.items() if grid_weights.any())

    def _add_coarse(self, weights: dict[int, Array], axis: int, differ: Array) -> None:
        """Add what a query weighs in the coarse tiles of an attribute to all grids that hold it."""
        for place, trust in self.error.trusts(axis):
            if place == axis:
                weights[place] += trust * np.repeat(differ, self.error.axes[axis].each)
            else:
                along = (-1, 1) if self._tables[place][0] == axis else (1, -1)
                weights[place] += trust * differ.reshape(along)

    def taken(self, axis: int, weights: Array) -> Array:
        """Return the share of the people of every coarse tile that weights of an attribute's cells take."""
        return self._taken(axis, self.error.axes[axis].fine_means(weights))

    def _taken(self, axis: int, fine: Array) -> Array:
        return np.asarray(self.error.axes[axis].families(fine * self.shares[axis]).sum(axis=1))

    def _others(self, axes: Axes, place: int, taken: Sequence[Array]) -> Array:
        """Return the mean of what is taken of the other attribute, over the people of every coarse tile of this one."""
        if len(axes) == 1:
            return np.ones(taken[0].size)
        held = np.maximum(self.tiles(axes) if place == 0 else self.tiles(axes).T, 0.0)
        sums = held.sum(axis=1)
        return np.where(sums > 0, held @ taken[1 - place] / np.where(sums > 0, sums, 1.0), taken[1 - place].mean())

    def _cells(self, axis: int) -> tuple[AxisTiles, Array]:
        """Return an attribute's tiles, and the share of every cell in its coarse tile."""
        tiles = self.error.axes[axis]
        return tiles, (self.shares[axis] / tiles.widths)[tiles.fine_of]

    def _share_variances(self, axis: int) -> Array:
        """Return the variance of the share of every cell in its coarse tile, at most that of a share."""
        tiles, share = self.error.axes[axis], self.shares[axis]
        people = np.maximum(np.repeat(self.coarse[axis], tiles.each), 1.0)
        each = self.error.variances[axis] * ((1 - share) ** 2 + (tiles.each - 1) * share**2) / people**2
        return np.asarray((np.minimum(each, LARGEST * (tiles.each > 1)) / tiles.widths**2)[tiles.fine_of])
