"""The error of rectangles where counts were estimated region by region, each with a noise of its own."""

from dataclasses import dataclass

import numpy as np

from dpress.core.grid import Grid, Rectangles
from dpress.core.linear import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionNoise:
    """Noise of one variance for all cells of a region, less what the region's known total takes away, added up.

    With w the rectangle's share of every cell and v_r the variance in region r of K_r cells,

        Var = sum over the layers and their regions r of v_r (sum of w^2 in r - (sum of w in r)^2 / K_r).

    Error: exact for independent noise of equal variance within a region.

    Args:
        grid: the cells.
        layers: for every layer the variances of its regions, equal squares, an image of shape (2^t, 2^t).
    """

    grid: Grid
    layers: tuple[Array, ...]

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the variance of the sum in each rectangle, shape (m,)."""
        own, side = rectangles, self.grid.side
        across, up = _overlaps(own.left, own.right, side), _overlaps(own.bottom, own.top, side)
        total = np.zeros(len(own.left))
        for layer in self.layers:
            parts = [axis.reshape(len(axis), len(layer), -1) for axis in (across, up)]
            squares = [(part**2).sum(axis=2) for part in parts]
            known = [part.sum(axis=2) ** 2 / part.shape[2] for part in parts]
            for (x, y), sign in ((squares, 1), (known, -1)):
                total += sign * np.einsum("mi,ij,mj->m", x, layer, y)
        return np.maximum(total, 0.0)  # but for rounding it is

    def cells(self) -> Array:
        """Return the variance of every cell, an image of shape (side, side)."""
        total = np.zeros((self.grid.side, self.grid.side))
        for layer in self.layers:
            width = self.grid.side // len(layer)
            total += np.kron(layer, np.full((width, width), 1 - 1 / width**2))
        return total


def _overlaps(low: Array, high: Array, side: int) -> Array:
    """Return the share of every strip of cells between two ends, shape (m, side)."""
    edges = np.arange(side)
    return np.asarray(np.clip(np.minimum(high[:, None], edges + 1) - np.maximum(low[:, None], edges), 0, 1))
