"""Counts of blocks and of their tiles made to agree, and the error of any rectangle.

noisy blocks + noisy tiles -> every block's best count -> its tiles shifted to add up to it -> cells.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.partition import Partition

BATCH = 1 << 21  # shares of tiles in rectangles at once


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockNoise:
    """Least squares over blocks, each counted once as a whole and once in m tiles, with independent noise.

    With w a rectangle's share of every tile, v_1 the noise of a block and v_2 that of a tile, summed over the blocks,

        Var = v_2 sum w^2 - v_2^2 / (v_1 + m v_2) (sum w)^2.

    That is w (A^T V^-1 A)^-1 w^T, A^T V^-1 A = I / v_2 + J / v_1 in a block, by Sherman and Morrison: exact.
    A tile that a rectangle cuts adds n^2 w (1 - w), n its people: the mean squared error of taking them for evenly
    spread, were they all at one place, anywhere in the tile; less, if they are at several. Tiles are made to hold about
    as many people everywhere, so that how unlike they are does not tell how people cluster within.
    Error: O(tiles) a rectangle.

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
        batch = max(1, BATCH // self.tiles.rows)
        parts = [
            self._variances(*(end[start : start + batch, None] for end in _ends(rectangles)))
            for start in range(0, len(rectangles.left), batch)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

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

    def _variances(self, left: Array, right: Array, bottom: Array, top: Array) -> Array:
        tiles = self.tiles
        shares = _overlap(left, right, tiles.left, tiles.right)
        shares *= _overlap(bottom, top, tiles.bottom, tiles.top)
        added = np.add.reduceat(shares, self._starts, axis=1)
        noise = self.tile * np.einsum("ij,ij->i", shares, shares) - added**2 @ self._explained
        shares *= 1 - shares
        return np.asarray(noise + shares @ np.broadcast_to(self.squares, tiles.rows))


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

    def cell_variances(self) -> Array:
        """Return that of every cell."""
        return self.noise.cells()


def _ends(rectangles: Rectangles) -> tuple[Array, Array, Array, Array]:
    return rectangles.left, rectangles.right, rectangles.bottom, rectangles.top


def _overlap(low: Array, high: Array, start: Numbers, end: Numbers) -> Array:
    """Return the share of each [start, end] that lies in each [low, high]."""
    return np.asarray(np.maximum(np.minimum(high, end) - np.maximum(low, start), 0.0) / (end - start))
