"""Counts of blocks and of their tiles made to agree, and the error of any rectangle.

noisy blocks + noisy tiles -> every block's best count -> its tiles shifted to add up to it -> cells.
"""

import itertools
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpress.core.maps.grid import Grid, Rectangles, running_totals, sums
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.partition import Partition

BATCH = 1 << 21  # about so many shares of tiles in rectangles at once


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockNoise:
    """Least squares over blocks, each counted once as a whole and once in m tiles, with independent noise.

    With w a rectangle's share of every tile, v_1 the noise of a block and v_2 that of a tile, summed over the blocks,

        Var = v_2 sum w^2 - v_2^2 / (v_1 + m v_2) (sum w)^2.

    That is w (A^T V^-1 A)^-1 w^T, A^T V^-1 A = I / v_2 + J / v_1 in a block, by Sherman and Morrison: exact.
    A tile that a rectangle cuts adds n^2 w (1 - w), n its people: the mean squared error of taking them for evenly
    spread, were they all at one place, anywhere in the tile; less, if they are at several. Tiles are made to hold about
    as many people everywhere, so that how unlike they are does not tell how people cluster within.
    Error: O(tiles of the blocks that it touches) a rectangle.

    Args:
        tiles: of all blocks, block by block.
        sizes: the number of tiles of every block, m, at least 1.
        block: v_1, in counts squared.
        tile: v_2.
        squares: n^2 of every tile, shape (tiles,); 0 leaves the noise alone.
    """

    tiles: Partition
    sizes: Numbers
    block: float
    tile: float
    squares: Array | float = 0.0

    def least_squares(self, blocks: Array, tiles: Array) -> Array:
        """Return the tiles' counts that agree best with both; unbiased.

        Args:
            blocks: noisy counts of the blocks.
            tiles: of their tiles, block by block.
        """
        added = np.add.reduceat(tiles, self._starts)
        shift = (blocks - added) * (self.tile / (self.block + self.sizes * self.tile))
        return np.asarray(tiles + np.repeat(shift, self.sizes))

    def spread(self, counts: Array) -> "BlockNoise":
        """Return it with the squared counts, less what noise adds to them, for tiles that a rectangle cuts."""
        return replace(self, squares=np.maximum(counts**2 - self._each, 0.0))

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the mean squared error of the sum in each rectangle."""
        touched = self._touched(rectangles)
        before = np.cumsum(touched.wide * touched.high * int(self.sizes.max()))
        cuts = np.searchsorted(before, np.arange(BATCH, before[-1] if before.size else 0, BATCH))
        bounds = np.unique([0, *cuts, before.size])
        parts = [
            self._variances(rectangles.between(start, stop), touched.between(start, stop))
            for start, stop in itertools.pairwise(bounds.tolist())
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def weighted(self, shares: Array) -> float:
        """Return that of the sum of cells of which an area has these shares, an image."""
        taken = self.tiles.between(running_totals(shares)) / self.tiles.areas
        noise = self.tile * float(taken @ taken) - float(np.add.reduceat(taken, self._starts) ** 2 @ self._explained)
        return noise + float((taken * (1 - taken) * self.squares).sum())

    def cells(self) -> Array:
        """Return that of every cell, which is a share of its tile."""
        share = 1.0 / self.tiles.areas
        return self.tiles.painted(self._each * share**2 + self.squares * share * (1 - share))

    @property
    def _starts(self) -> Numbers:
        return np.cumsum(self.sizes) - self.sizes

    @property
    def _each(self) -> Array:
        """Return the variance of every tile's count."""
        return np.asarray(self.tile - np.repeat(self._explained, self.sizes))

    @property
    def _explained(self) -> Array:
        """Return v_2^2 / (v_1 + m v_2) of every block."""
        return np.asarray(self.tile**2 / (self.block + self.sizes * self.tile))

    def _touched(self, rectangles: Rectangles) -> "_Touched":
        """Return the blocks that rectangles touch."""
        lowest = np.unique(self.tiles.left[self._starts]), np.unique(self.tiles.bottom[self._starts])
        left, bottom = (
            np.maximum(np.searchsorted(edges, low, side="right") - 1, 0)
            for edges, low in zip(lowest, (rectangles.left, rectangles.bottom), strict=True)
        )
        right, top = (
            np.searchsorted(edges, high, side="left")
            for edges, high in zip(lowest, (rectangles.right, rectangles.top), strict=True)
        )
        return _Touched(left, np.maximum(right - left, 0), bottom, np.maximum(top - bottom, 0), len(lowest[1]))

    def _variances(self, rectangles: Rectangles, touched: "_Touched") -> Array:
        """Return the variances of some rectangles by the tiles of the blocks that they touch."""
        rectangle, block = touched.pairs()
        pair, place = _runs(self.sizes[block])
        tile, of = self._starts[block][pair] + place, rectangle[pair]
        left, right, bottom, top = (end[of] for end in _ends(rectangles))
        tiles, size = self.tiles, len(rectangles.left)
        shares = _overlap(left, right, tiles.left[tile], tiles.right[tile])
        shares *= _overlap(bottom, top, tiles.bottom[tile], tiles.top[tile])
        added = np.bincount(pair, shares, minlength=len(block))
        noise = self.tile * np.bincount(of, shares**2, minlength=size)
        noise -= np.bincount(rectangle, added**2 * self._explained[block], minlength=size)
        hidden = shares * (1 - shares) * np.broadcast_to(self.squares, tiles.rows)[tile]
        return np.asarray(noise + np.bincount(of, hidden, minlength=size))


@dataclass(frozen=True, slots=True, eq=False)
class _Touched:
    """The blocks that rectangles touch: of each the first across and up, and how many from there.

    Args:
        left: shape (m,).
        wide: how many across.
        bottom: the first up.
        high: how many up.
        along: the blocks of a column.
    """

    left: Numbers
    wide: Numbers
    bottom: Numbers
    high: Numbers
    along: int

    def between(self, start: int, stop: int) -> "_Touched":
        """Return those of some rectangles."""
        some = slice(start, stop)
        return _Touched(self.left[some], self.wide[some], self.bottom[some], self.high[some], self.along)

    def pairs(self) -> tuple[Numbers, Numbers]:
        """Return every pair of a rectangle and a block that it touches, in the rectangles' order."""
        rectangle, place = _runs(self.wide * self.high)
        high = self.high[rectangle]
        across, up = self.left[rectangle] + place // high, self.bottom[rectangle] + place % high
        return rectangle, across * self.along + up


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TileDensity:
    """Counts of tiles: people are taken to be spread evenly within a tile, so that a cut one counts by its area.

    Error: that of `noise`, which knows the tiles.

    Args:
        noise: of sums over rectangles.
        tiles: the estimated counts, shape (tiles,).
    """

    noise: BlockNoise
    tiles: Array
    reach: ClassVar[None] = None
    beside: ClassVar[None] = None
    clustered: ClassVar[float] = 0.0

    @property
    def grid(self) -> Grid:
        """The cells that tiles are made of."""
        return self.noise.tiles.grid

    @property
    def counts(self) -> Array:
        """The counts of the cells, an image of shape (side, side)."""
        return self.noise.tiles.painted(self.tiles / self.noise.tiles.areas)

    def values(self, rectangles: Rectangles) -> Array:
        """Return the sum over the tiles in each rectangle, shape (m,)."""
        return sums(self.counts, rectangles)

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the mean squared error of these sums."""
        return self.noise.variances(rectangles)

    def weighted(self, shares: Array) -> tuple[float, float]:
        """Return the sum of the cells of which an area has these shares, and its mean squared error."""
        return float((self.counts * shares).sum()), self.noise.weighted(shares)

    def cell_variances(self) -> Array:
        """Return that of every cell."""
        return self.noise.cells()


def _ends(rectangles: Rectangles) -> tuple[Array, Array, Array, Array]:
    return rectangles.left, rectangles.right, rectangles.bottom, rectangles.top


def _runs(sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Return for every member of groups of these sizes its group, and its place within."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return group, np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _overlap(low: Array, high: Array, start: Numbers, end: Numbers) -> Array:
    """Return the share of each [start, end] that lies in each [low, high]."""
    return np.asarray(np.maximum(np.minimum(high, end) - np.maximum(low, start), 0.0) / (end - start))
